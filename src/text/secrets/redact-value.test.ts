import { describe, expect, it } from "vitest";

import { redactValue } from "./redact-value.ts";

describe("redactValue", () => {
  it("ENV-12: secrets go by their key and by their look, at any depth", () => {
    const value = {
      title: "Bug",
      apiKey: "abc",
      nested: [{ Authorization: "x", note: "token ghp_0123456789abcdefghijABCDEFGHIJ" }],
      password: null,
      count: 3,
    };
    expect(redactValue(value, { maxText: 100 }).value).toEqual({
      title: "Bug",
      apiKey: "[redacted]",
      nested: [{ Authorization: "[redacted]", note: "token [redacted]" }],
      password: null,
      count: 3,
    });
  });

  it("B-W10: long texts, lists and depths are cut", () => {
    let deep: unknown = "end";
    for (let depth = 0; depth < 20; depth += 1) deep = [deep];
    const { value: copy } = redactValue(
      { text: "x".repeat(50), list: Array.from({ length: 500 }, () => 1), deep },
      { maxText: 10 },
    );
    expect(copy.text).toBe("xxxxxxxxx…");
    expect(copy.list).toHaveLength(100);
    expect(JSON.stringify(copy.deep)).toBe('[[[[[[["…"]]]]]]]');
  });

  it("B-W10: all parts share one budget, whatever their shape", () => {
    const nest = (width: number, depth: number): unknown =>
      depth === 0 ? "abcd" : Array.from({ length: width }, () => nest(width, depth - 1));
    const long = Array.from({ length: 90 }, () => "x".repeat(1_000));
    const wide = Object.fromEntries(long.map((text, index) => [`${index}${text}`, 1]));
    for (const value of [nest(10, 5), nest(3, 7), { long }, wide, [[wide]]]) {
      const text = JSON.stringify(redactValue(value, { maxText: 1_000 }).value);
      expect(text.length).toBeGreaterThan(2_000);
      expect(text.length).toBeLessThan(15_000);
    }
  });

  it("B-W10: a value of megabytes is not walked through", () => {
    let reads = 0;
    const counting: ProxyHandler<object> = {
      get: (target, key) => {
        reads += 1;
        const item: unknown = Reflect.get(target, key);
        return typeof item === "object" && item !== null ? new Proxy(item, counting) : item;
      },
    };
    const inner = Array.from({ length: 90 }, (_, index) => index);
    let value: object = inner;
    for (let level = 0; level < 6; level += 1) value = inner.map(() => value);
    redactValue(new Proxy({ value }, counting), { maxText: 1_000 });
    expect(reads).toBeLessThan(200_000);
  });

  /** How many lists, objects and values a copy has. */
  const countParts = (value: unknown): number =>
    typeof value === "object" && value !== null
      ? Object.values(value).reduce((sum: number, item) => sum + countParts(item), 1)
      : 1;
  const repeat = <T>(times: number, item: (index: number) => T): T[] =>
    Array.from({ length: times }, (_, index) => item(index));

  it("B-W10: keeps a thousand parts, masked ones included, and no more", () => {
    const numbers = repeat(20, () => repeat(100, () => 1));
    const masked = repeat(20, () =>
      Object.fromEntries(repeat(99, (index) => [`token${index}`, 1])),
    );
    for (const value of [numbers, masked])
      expect(countParts(redactValue(value, { maxText: 100 }).value)).toBe(1_000);
  });

  it("B-W10: keeps ten thousand characters, keys included, and no more", () => {
    const texts = repeat(90, () => "x".repeat(1_000));
    const { value } = redactValue({ texts, more: 1 }, { maxText: 1_000 });
    expect(Object.keys(value)).toEqual(["texts"]);
    expect(value.texts).toHaveLength(10);
    expect(value.texts.join("")).toHaveLength(10_000 - "texts".length);
  });

  it("B-W10: keeps a hundred members of an object", () => {
    const wide = Object.fromEntries(repeat(150, (index) => [`m${index}`, index]));
    expect(Object.keys(redactValue(wide, { maxText: 100 }).value)).toHaveLength(100);
  });

  const secretsIn = (value: unknown): readonly string[] =>
    redactValue(value, { maxText: 1_000 }).secrets;

  it("B-W10: names a bounded number of secrets, of a bounded number of parts and members", () => {
    expect(secretsIn({ token: repeat(60, (a) => repeat(60, (b) => `${a}/${b}`)) })).toHaveLength(
      500,
    );
    expect(secretsIn({ token: repeat(150, String) })).toHaveLength(100);
    const wide = Object.fromEntries(repeat(150, (index) => [`m${index}`, String(index)]));
    expect(secretsIn({ token: wide })).toHaveLength(100);
    // One part is the outer list, 101 each of the lists of numbers; fifty of five thousand are left.
    const numbers = repeat(49, () => repeat(100, () => 1));
    expect(secretsIn({ token: [...numbers, ...repeat(51, String)] })).toHaveLength(50);
  });

  it("B-W10: looks for secrets as deep as values are kept", () => {
    const nest = (levels: number): unknown => (levels === 0 ? "deep" : [nest(levels - 1)]);
    expect(secretsIn({ token: nest(7) })).toEqual(["deep"]);
    expect(secretsIn({ token: nest(8) })).toEqual([]);
    expect(secretsIn({ token: [null, "after"] })).toEqual(["after"]);
    // The same depth counts in what there was no room for.
    const filler = repeat(50, () => "x".repeat(1_000));
    expect(secretsIn({ filler, later: [[[[[{ token: "six" }]]]]] })).toEqual(["six"]);
    expect(secretsIn({ filler, later: [[[[[[[{ token: "eight" }]]]]]]] })).toEqual([]);
    expect(secretsIn([...filler, [[[[[[{ token: "seven" }]]]]]]])).toEqual(["seven"]);
    expect(secretsIn([...filler, [[[[[[[{ token: "eight" }]]]]]]]])).toEqual([]);
  });

  it("ENV-12: secrets by their key are named, also those that there was no room for", () => {
    const filler = Array.from({ length: 50 }, () => "x".repeat(1_000));
    const value = {
      token: ["one", { deep: "two" }],
      filler,
      later: { name: "Ann", password: "three" },
    };
    const { value: copy, secrets } = redactValue(value, { maxText: 1_000 });
    expect(secrets).toEqual(["one", "two", "three"]);
    expect(Object.keys(copy)).toEqual(["token", "filler"]);
    expect(copy.token).toBe("[redacted]");
  });
});
