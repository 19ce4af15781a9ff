import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { findInexactNumber } from "./inexact-number.ts";

describe("findInexactNumber", () => {
  it.each([
    "9007199254740993",
    "-9007199254740993",
    "1e400",
    "-1e400",
    "1e-400",
    "123456789012345678901234567890",
    "3.14159265358979323846",
    "1".repeat(400),
    `1${"0".repeat(100_000)}1`,
  ])("%s does not survive as a JavaScript number", (literal) => {
    expect(findInexactNumber(`{"value":${literal}}`)).toBe(literal);
    expect(findInexactNumber(`["9007199254740993\\\\",${literal} , 1]`)).toBe(literal);
  });

  it.each([
    "0",
    "-0",
    "0.1",
    "0e400",
    "1E5",
    "5e-324",
    "9007199254740991",
    "9007199254740992",
    "100000000000000000000",
    "1.7976931348623157e308",
    "0.30000000000000004",
    "0.10000000000000001",
    "1000000000000000000000000000000e-30",
  ])("%s survives", (literal) => {
    expect(findInexactNumber(`{"value":${literal}}`)).toBeUndefined();
  });

  it("what stands in a string is text, whatever it looks like", () => {
    const text = JSON.stringify({ '9007199254740993"': 'a \\" 1e400 \\', b: ["9007199254740993"] });
    expect(findInexactNumber(text)).toBeUndefined();
  });

  it("nothing that was a JavaScript number is reported", () => {
    fc.assert(
      fc.property(
        fc.jsonValue(),
        (value) => findInexactNumber(JSON.stringify(value)) === undefined,
      ),
    );
    fc.assert(
      fc.property(fc.double(), (value) => findInexactNumber(JSON.stringify([value])) === undefined),
    );
  });

  it("an integer is reported exactly when it would be written differently", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 66n), max: 2n ** 66n }), (value) => {
        const isKept = BigInt(JSON.stringify(Number(value))) === value;
        return (findInexactNumber(`[${value}]`) === undefined) === isKept;
      }),
    );
  });

  it("a hostile run of digits takes linear time", () => {
    expect(findInexactNumber(`[${"9".repeat(5_000_000)}]`)).toHaveLength(5_000_000);
    expect(findInexactNumber(`["${"\\\\".repeat(2_000_000)}",${"9".repeat(16)}]`)).toBeDefined();
  });
});
