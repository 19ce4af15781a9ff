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
   * At once for a plain schema; a promise when the check goes to the worker, or must load the
   * pattern engine first. Never throws. Values are expected to be plain JSON.
   */
  validate(value: unknown): Verdict | Promise<Verdict>;
}

/** Runs checks elsewhere, so that they cannot hold up this thread. */
export interface Offload {
  /** `too-costly`: ended at its deadline. `unavailable`: there is nowhere to run it. */
  validate(schemaText: string, value: unknown): Promise<CheckResult | "unavailable">;
}

export interface ValidatorOptions {
  readonly limits?: SchemaLimits | undefined;
  /** Without one, complex schemas are checked in place within the budget. */
  readonly offload?: Offload | undefined;
}

/**
 * About ten milliseconds of work. What a plain schema cannot do within it (a very large value) and
 * what a complex one asks for goes to the worker.
 */
const stepBudget = 200_000;
/**
 * A hostile schema must not keep the worker busy for the others: after this many deadlines in a row
 * the next few checks are refused unseen, with each further deadline twice as many.
 */
const patience = 3;
const maxSittingOut = 1_024;

export function createValidator(schema: unknown, options: ValidatorOptions = {}): Validator {
  const measure = measureSchema(schema, options.limits ?? defaultLimits);
  if ("problem" in measure) return createRefusingValidator(measure.problem);
  return createMeasuredValidator(JSON.stringify(schema), measure, options);
}

/** For a schema that was measured, as text: nobody can change it afterwards. */
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
  /** Absent for a schema that is left to the worker as a whole. */
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
