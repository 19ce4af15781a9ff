import { assert, jsonValue, nat, property } from "fast-check";
import { describe, expect, it } from "vitest";

import { jsonHead } from "./json-head.ts";

describe("jsonHead", () => {
  it("is the JSON of a short value, and begins as that of a long one does", () => {
    assert(
      property(jsonValue(), nat(60), (value, minChars) => {
        const whole = JSON.stringify(value);
        const head = jsonHead(value, minChars);
        const shown = Math.min(minChars, whole.length);
        expect(head.slice(0, shown)).toBe(whole.slice(0, shown));
        if (whole.length <= minChars) expect(head).toBe(whole);
      }),
      { numRuns: 1_000 },
    );
  });

  it("L6: does not write what is not shown", () => {
    expect(jsonHead("x".repeat(9_000_000), 10)).toBe(`"${"x".repeat(10)}"`);
    expect(
      jsonHead(
        Array.from({ length: 100_000 }, () => "xxxx"),
        10,
      ),
    ).toHaveLength(14);
    expect(jsonHead({ a: undefined, b: [undefined] }, 99)).toBe('{"b":[null]}');
  });
});
