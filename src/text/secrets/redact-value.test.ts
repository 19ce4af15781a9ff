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

  it("ENV-12: secrets by their key are named, also those that there was no room for", () => {
    const filler = Array.from({ length: 50 }, () => "x".repeat(1_000));
    const value = { token: ["one", { deep: "two" }], filler, later: { password: "three" } };
    const { value: copy, secrets } = redactValue(value, { maxText: 1_000 });
    expect(secrets).toEqual(["one", "two", "three"]);
    expect(copy).not.toHaveProperty("later");
    expect(copy.token).toBe("[redacted]");
  });
});
