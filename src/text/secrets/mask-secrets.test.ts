import { describe, expect, it } from "vitest";

import { maskSecrets } from "./mask-secrets.ts";

const secrets = ["hunter2", "hunter2-and-more"];

describe("maskSecrets", () => {
  it("masks values and keys at any depth, the longest secret first", () => {
    const data = { "a hunter2": [{ text: "x hunter2-and-more y hunter2" }], n: 1, none: null };
    expect(maskSecrets(data, secrets)).toEqual({
      "a [redacted]": [{ text: "x [redacted] y [redacted]" }],
      n: 1,
      none: null,
    });
    expect(maskSecrets("hunter2", secrets)).toBe("[redacted]");
  });

  it("gives back what holds no secret, and keeps members such as __proto__ members", () => {
    const data = JSON.parse('{"a":[1,"b"],"__proto__":{"c":"d"}}') as object;
    expect(maskSecrets(data, secrets)).toBe(data);
    const poisoned = JSON.parse('{"__proto__":{"c":"hunter2"}}') as object;
    expect(JSON.stringify(maskSecrets(poisoned, secrets))).toBe('{"__proto__":{"c":"[redacted]"}}');
  });

  it("ENV-12: masks a list of which only one item holds a secret, and keeps members without a value", () => {
    expect(maskSecrets(["plain", "hunter2", 1], secrets)).toEqual(["plain", "[redacted]", 1]);
    expect(maskSecrets({ gone: undefined, a: "hunter2" }, secrets)).toEqual({ a: "[redacted]" });
  });

  it("does not take every short word for a secret", () => {
    expect(maskSecrets("1 of 12", ["1", "of"])).toBe("1 of 12");
  });
});
