import type { CompiledSchema } from "../compile/compile-schema.ts";
import { BudgetExceeded } from "../compile/meter.ts";
import {
  invalid,
  Trace,
  type ValidationProblem,
  type Verdict,
} from "../compile/validation-failure.ts";

export type CheckResult = { readonly verdict: Verdict } | "too-costly";

const valid: CheckResult = { verdict: undefined };
const unexplained: ValidationProblem = {
  path: "",
  keyword: "",
  message: "the value does not match the schema",
};

/** Checks a value within a budget of steps. A failed check runs a second time to collect the reasons. */
export function runCheck(
  { check, meter }: CompiledSchema,
  value: unknown,
  budget: number,
): CheckResult {
  try {
    meter.start(budget);
    if (check(value, undefined)) return valid;
  } catch (error) {
    if (isTooMuch(error)) return "too-costly";
    throw error;
  }
  const problems: ValidationProblem[] = [];
  try {
    meter.start(budget);
    check(value, Trace.into(problems));
  } catch (error) {
    if (!isTooMuch(error)) throw error;
  }
  return { verdict: invalid(problems.length === 0 ? [unexplained] : problems) };
}

/** Whether the check ran out of budget or of stack; a recursive schema on a very deep value does the latter. */
function isTooMuch(error: unknown): boolean {
  return error instanceof BudgetExceeded || error instanceof RangeError;
}
