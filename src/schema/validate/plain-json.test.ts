import { runInNewContext } from "node:vm";

import { describe, expect, it } from "vitest";

import { checkPlainJson } from "./plain-json.ts";

describe("checkPlainJson", () => {
  it.each([
    ["nested data", { a: [1, "x", null, true, { b: -1.5e10 }] }],
    ["an object without a prototype", Object.assign(Object.create(null) as object, { a: 1 })],
    ["an object of another realm", runInNewContext("({ a: [{ b: 1 }] })")],
    ["an absent property", { a: undefined }],
    ["a property called __proto__", JSON.parse('{"__proto__":{"a":1}}')],
  ])("BRG-22: accepts %s", (_name, value) => {
    expect(checkPlainJson(value)).toBeUndefined();
  });

  const cyclic: Record<string, unknown> = {};
  cyclic["self"] = { again: cyclic };

  it.each([
    ["a function", { f: () => 1 }, '"f" is of type function, which JSON does not have'],
    ["a big integer", { n: [1n] }, '"n[0]" is of type bigint, which JSON does not have'],
    ["a symbol", { s: Symbol("x") }, '"s" is of type symbol, which JSON does not have'],
    ["NaN", { deep: { n: Number.NaN } }, '"deep.n" is not a finite number'],
    ["Infinity", [Number.POSITIVE_INFINITY], '"[0]" is not a finite number'],
    [
      "undefined in a list",
      { l: [undefined] },
      '"l[0]" is of type undefined, which JSON does not have',
    ],
    ["a date", { d: new Date(0) }, '"d" is not a plain object'],
    ["a map", { m: new Map() }, '"m" is not a plain object'],
  ])("BRG-22: refuses %s", (_name, value, message) => {
    expect(checkPlainJson(value)).toMatchObject({ kind: "invalid", message });
  });

  it("BRG-22: refuses a cycle, and shared parts that multiply", () => {
    expect(checkPlainJson(cyclic)?.message).toContain("contains itself");
    let shared: unknown = {};
    for (let level = 0; level < 100; level += 1) shared = [shared, shared];
    expect(checkPlainJson(shared)?.message).toContain("more than 1000000 parts");
  });

  it("BRG-22: refuses what is nested too deeply for the wire", () => {
    let value: unknown = 1;
    for (let level = 0; level < 200; level += 1) value = [value];
    expect(checkPlainJson(value)).toBeUndefined();
    expect(checkPlainJson([value])?.message).toContain("deeper than 200");
  });
});
