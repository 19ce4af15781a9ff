import { defaultLimits } from "../../config/keys/limits.ts";
import { type CompiledSchema, compileSchema } from "../compile/compile-schema.ts";
import { loadedPatternEngine, loadPatternEngine } from "../compile/linear-pattern.ts";
import { unusableSchema, unchecked, type Verdict } from "../compile/validation-failure.ts";
import {
  examineSchema,
  type Examination,
  isForWorker,
  largeReport,
  measureSchema,
  type SchemaLimits,
  type SchemaMeasure,
  type SchemaReport,
} from "../guard/schema-guard.ts";
import { type CheckResult, runCheck } from "./run-check.ts";

/** Checks values against one schema. */
export interface Validator {
  readonly report: SchemaReport;
  /**
   * Checks a value, which must be plain JSON. A plain schema answers at once; a promise is returned when
   * the worker runs the check, or when the pattern engine has to be loaded first. Never throws.
   */
  validate(value: unknown): Verdict | Promise<Verdict>;
}

/** Runs checks in another thread, so that they cannot block this one. */
export interface Offload {
  /**
   * Resolves to `too-costly` for a check that its deadline ended, to `unavailable` when no thread can run
   * it.
   */
  validate(schemaText: string, value: unknown): Promise<CheckResult | "unavailable">;
}

export interface ValidatorOptions {
  readonly limits?: SchemaLimits | undefined;
  /** The thread for complex schemas; without one they are checked in place within the budget. */
  readonly offload?: Offload | undefined;
}

/**
 * The budget of a check on this thread, about ten milliseconds. A check that exceeds it, on a very large
 * value, moves to the worker; checks against complex schemas start there.
 */
const stepBudget = 200_000;
/**
 * The number of missed deadlines in a row after which a schema sits out: its next few checks are refused
 * without being run, twice as many after each further deadline. A hostile schema would otherwise keep the
 * worker from the others.
 */
const patience = 3;
const maxSittingOut = 1_024;

export function createValidator(schema: unknown, options: ValidatorOptions = {}): Validator {
  const measure = measureSchema(schema, options.limits ?? defaultLimits);
  if ("problem" in measure) return createRefusingValidator(measure.problem);
  return createMeasuredValidator(JSON.stringify(schema), measure, options);
}

/** Creates the validator of a schema that was measured. It takes text, which nobody can change afterwards. */
export function createMeasuredValidator(
  schemaText: string,
  measure: SchemaMeasure,
  options: ValidatorOptions,
): Validator {
  if (isForWorker(measure))
    return new SchemaValidator({ schemaText, report: largeReport }, options);
  const examination = examineSchema(JSON.parse(schemaText));
  const { report } = examination;
  if (report.kind === "refused") return createRefusingValidator(report.reason);
  return new SchemaValidator({ schemaText, report, examination }, options);
}

export function createRefusingValidator(reason: string): Validator {
  const verdict = unusableSchema(reason);
  return { report: { kind: "refused", reason }, validate: () => verdict };
}

interface Subject {
  readonly schemaText: string;
  readonly report: SchemaReport;
  /** Absent for a schema that only the worker examines. */
  readonly examination?: Examination;
}

class SchemaValidator implements Validator {
  readonly report: SchemaReport;
  readonly #schemaText: string;
  readonly #options: ValidatorOptions;
  #examination: Examination | undefined;
  #compiled: CompiledSchema | undefined;
  #deadlines = 0;
  #sittingOut = 0;

  constructor({ schemaText, report, examination }: Subject, options: ValidatorOptions) {
    this.report = report;
    this.#schemaText = schemaText;
    this.#examination = examination;
    this.#options = options;
  }

  validate(value: unknown): Verdict | Promise<Verdict> {
    if (this.report.kind === "complex" && this.#options.offload !== undefined)
      return this.#validateElsewhere(value);
    return this.#validateHere(value);
  }

  #validateHere(value: unknown): Verdict | Promise<Verdict> {
    this.#examination ??= examineSchema(JSON.parse(this.#schemaText));
    const { report, graph } = this.#examination;
    if (graph === undefined) return unusableSchema(report.reason);
    const engine = loadedPatternEngine();
    if (engine === undefined && graph.patterns.size > 0)
      return loadPatternEngine().then(() => this.#validateHere(value));
    this.#compiled ??= compileSchema(graph, engine);
    const result = runCheck(this.#compiled, value, stepBudget);
    if (result !== "too-costly") return result.verdict;
    if (this.report.kind === "plain" && this.#options.offload !== undefined)
      return this.#validateElsewhere(value);
    return unchecked("checking it against the schema takes too long");
  }

  async #validateElsewhere(value: unknown): Promise<Verdict> {
    const { limits = defaultLimits, offload } = this.#options;
    const tooLong = `checking it against the schema takes longer than ${limits.schemaTimeoutMs} ms`;
    if (this.#sittingOut > 0) {
      this.#sittingOut -= 1;
      return unchecked(tooLong);
    }
    const result = await offload?.validate(this.#schemaText, value);
    if (typeof result === "object") {
      this.#deadlines = 0;
      return result.verdict;
    }
    if (result === "too-costly") {
      this.#deadlines += 1;
      if (this.#deadlines >= patience)
        this.#sittingOut = Math.min(2 ** (this.#deadlines - 1), maxSittingOut);
      return unchecked(tooLong);
    }
    return this.report.kind === "complex"
      ? this.#validateHere(value)
      : unchecked("checking it against the schema takes too long");
  }
}
