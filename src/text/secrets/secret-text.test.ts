import { format, inspect } from "node:util";

import { describe, expect, it, vi } from "vitest";

import { reveal, revealAll, SecretText } from "./secret-text.ts";

const text = "canary-7f3a";

describe("SecretText", () => {
  it("ENV-12: shows a mask however it is printed, copied or serialized", () => {
    const secret = new SecretText(text);
    const holder = { token: secret, list: [secret] };
    const shown = [
      String(secret),
      `a ${secret as unknown as string}`,
      "".concat(secret as unknown as string),
      JSON.stringify(holder),
      inspect(holder, { depth: 9, showHidden: true, getters: true }),
      format("%s %o %O %j", secret, holder, holder, holder),
      JSON.stringify(Object.assign({}, secret)),
      JSON.stringify({ ...holder }),
      inspect(structuredClone(holder)),
      Object.getOwnPropertyNames(secret).join(),
    ].join("\n");
    expect(shown).not.toContain(text);
    expect(shown.match(/\[redacted\]/g)?.length).toBeGreaterThan(10);
    expect(secret.reveal()).toBe(text);
    for (const print of [String, inspect, (it: SecretText) => it.toJSON()])
      expect(print(secret)).toBe("[redacted]");
  });

  it("has a mark of the name that every version of the package looks for", () => {
    expect(Reflect.get(new SecretText(text), Symbol.for("plugboard.SecretText"))).toBe(true);
  });

  it("shows what is harmless of it", () => {
    const secret = new SecretText(
      "https://h.example/?key=abcd",
      "https://h.example/?key=[redacted]",
    );
    expect(JSON.stringify({ url: secret })).toBe('{"url":"https://h.example/?key=[redacted]"}');
  });

  it("is equal by its text", () => {
    const secret = new SecretText(text);
    expect(secret.equals(new SecretText(text))).toBe(true);
    expect(secret.equals(text)).toBe(true);
    expect(secret.equals(new SecretText("other"))).toBe(false);
  });

  it("is recognised when it comes from another copy of the package", async () => {
    vi.resetModules();
    const other = await import("./secret-text.ts");
    const foreign = new other.SecretText(text);
    expect(foreign).not.toBeInstanceOf(SecretText);
    expect(SecretText.is(foreign)).toBe(true);
    expect(reveal(foreign)).toBe(text);
    expect(SecretText.is({ reveal: () => text })).toBe(false);
    expect(SecretText.is(text)).toBe(false);
  });

  it("is revealed wherever it stands in plain data", () => {
    const secret = new SecretText(text);
    expect(revealAll({ a: [secret, 1], b: { c: secret, d: null } })).toEqual({
      a: [text, 1],
      b: { c: text, d: null },
    });
  });
});
