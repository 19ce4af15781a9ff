import { stripVTControlCharacters } from "node:util";

/** One thing the suite looked at. */
export interface Check {
  readonly id: string;
  readonly status: "SUCCESS" | "FAILURE" | "WARNING" | "SKIPPED" | "INFO";
  readonly description: string;
  readonly errorMessage?: string;
}

export interface SuiteResult {
  readonly exitCode: number | null;
  readonly checks: readonly Check[];
  /** All that the suite printed. */
  readonly output: string;
}

export type Verdict =
  | { readonly passed: true }
  /** `reason` is for whoever has to find out why. */
  | { readonly passed: false; readonly reason: string };

/** Belongs to no scenario: every message a client sends is held to the schema of the revision. */
const genericCheck = "wire-schema-valid";

/** The suite lets a run pass in which a scenario saw nothing to judge; here it has not passed. */
export function judge({ exitCode, checks, output }: SuiteResult): Verdict {
  const isJudged = checks.some(({ id, status }) => status === "SUCCESS" && id !== genericCheck);
  if (exitCode === 0 && isJudged) return { passed: true };
  const complaints = checks
    .filter(({ status }) => status === "FAILURE" || status === "WARNING")
    .map(({ id, status, description, errorMessage }) =>
      [status, id, errorMessage ?? description].join(" "),
    );
  if (complaints.length === 0 && exitCode === 0)
    return { passed: false, reason: "nothing was judged" };
  const ending = `the suite ended with ${exitCode ?? "a signal"}`;
  return {
    passed: false,
    reason: [ending, ...complaints, stripVTControlCharacters(output)].join("\n"),
  };
}
