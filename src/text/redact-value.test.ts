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
    expect(redactValue(value, { maxText: 100 })).toEqual({
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
    const copy = redactValue(
      { text: "x".repeat(50), list: Array.from({ length: 500 }, () => 1), deep },
      { maxText: 10 },
    );
    expect(copy.text).toBe("xxxxxxxxx…");
    expect(copy.list).toHaveLength(100);
    expect(JSON.stringify(copy.deep)).toBe('[[[[[[["…"]]]]]]]');
  });
});
