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

/** Checks within a budget of steps; the reasons of a failure are looked up in a second run. */
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

/** A recursive schema on a very deep value ends the stack before the budget: the same answer. */
function isTooMuch(error: unknown): boolean {
  return error instanceof BudgetExceeded || error instanceof RangeError;
}
