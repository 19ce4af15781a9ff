import { boundedLine } from "../../text/untrusted/bounded-text.ts";

/** One problem of a value. It names the expectation and never quotes the value, which may be secret. */
export interface ValidationProblem {
  /** JSON pointer to the offending part, `""` for the value as a whole. */
  readonly path: string;
  readonly keyword: string;
  /** A sentence for people and models: `"b" is required (number)`. */
  readonly message: string;
  readonly expected?: string;
}

/**
 * The reason why a value was not accepted.
 * `invalid`: the value breaks the schema; `problems` holds the first few reasons.
 * `unchecked`: there is no verdict, because the schema is refused or the check ran out of time.
 */
export interface ValidationFailure {
  readonly kind: "invalid" | "unchecked";
  readonly message: string;
  readonly problems: readonly ValidationProblem[];
}

/** The result of a check; undefined means that the value is valid. */
export type Verdict = ValidationFailure | undefined;

const maxProblems = 8;
const maxInMessage = 3;

export function invalid(problems: readonly ValidationProblem[]): ValidationFailure {
  const shown = problems.slice(0, maxInMessage).map(({ message }) => message);
  const more = problems.length - shown.length;
  const message = `${shown.join("; ")}${more > 0 ? `; and ${more} more` : ""}`;
  return { kind: "invalid", message, problems };
}

export function unchecked(reason: string): ValidationFailure {
  return { kind: "unchecked", message: reason, problems: [] };
}

export function unusableSchema(reason: string): ValidationFailure {
  return unchecked(`the schema cannot be used: ${reason}`);
}

/** Collects the problems of one check together with their place in the value. */
export class Trace {
  readonly #problems: ValidationProblem[];
  readonly #parent: Trace | undefined;
  readonly #key: string | number;

  private constructor(problems: ValidationProblem[], key: string | number, parent?: Trace) {
    this.#problems = problems;
    this.#key = key;
    this.#parent = parent;
  }

  static into(problems: ValidationProblem[]): Trace {
    return new Trace(problems, "");
  }

  at(key: string | number): Trace {
    return new Trace(this.#problems, key, this);
  }

  /** True when no further problem will be kept, so the check may stop. */
  get isFull(): boolean {
    return this.#problems.length >= maxProblems;
  }

  /** `what` continues a sentence that begins with the name of the offending part. */
  report(keyword: string, what: string, expected?: string): void {
    if (this.isFull) return;
    const keys = this.#keys();
    const path = keys
      .map((key) => `/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`)
      .join("");
    const message = `${label(keys)} ${what}`;
    this.#problems.push({
      path,
      keyword,
      message,
      ...(expected === undefined ? {} : { expected }),
    });
  }

  #keys(): readonly (string | number)[] {
    return this.#parent === undefined ? [] : [...this.#parent.#keys(), this.#key];
  }
}

function label(keys: readonly (string | number)[]): string {
  if (keys.length === 0) return "the value";
  const dotted = keys
    .map((key, index) => (typeof key === "number" ? `[${key}]` : `${index > 0 ? "." : ""}${key}`))
    .join("");
  return `"${boundedLine(dotted, 120)}"`;
}
