import { describe, expect, it } from "vitest";

import { evaluateExpression } from "./evaluate-expression.ts";

describe("evaluateExpression", () => {
  it.each([
    ["1", 1],
    [" 2 + 3 * 4 ", 14],
    ["(2 + 3) * 4", 20],
    ["10 - 4 - 3", 3],
    ["2 * 3 % 4 / 2", 1],
    ["-(1.5 - 4) * --2", 5],
    ["+1 - -1", 2],
    ["1 / 0", Number.POSITIVE_INFINITY],
  ])("TST-05: %s is %d", (expression, value) => {
    expect(evaluateExpression(expression)).toBe(value);
  });

  it.each([
    ["", "The expression ends too early"],
    ["1 +", "The expression ends too early"],
    ["(1", "A parenthesis is not closed"],
    ["1)", "Unexpected )"],
    ["1 2", "Unexpected 2"],
    ["* 2", "Unexpected *"],
    ["process.exit()", "Unexpected p"],
    ["1 + globalThis", "Unexpected g"],
    ["(".repeat(1_001), "The expression is too long"],
    ["(".repeat(1_000), "The expression ends too early"],
  ])("TST-05 LIM-18: %s is refused", (expression, message) => {
    expect(() => evaluateExpression(expression)).toThrow(message);
  });
});
