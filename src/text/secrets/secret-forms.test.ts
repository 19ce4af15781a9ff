import { describe, expect, it } from "vitest";

import { redact } from "./redact.ts";
import { secretForms } from "./secret-forms.ts";

describe("secretForms", () => {
  it("ENV-12: finds a secret without its scheme, in an address and in JSON", () => {
    const known = secretForms('Bearer a"b c/d=e');
    for (const said of ['got a"b c/d=e', 'x {"k":"a\\"b c/d=e"}', "?t=a%22b%20c%2Fd%3De"])
      expect(redact(said, known)).toContain("[redacted]");
  });

  it("ENV-12: finds each line of a private key", () => {
    const lines = ["-----BEGIN PRIVATE KEY-----", "MIIEvQIBADANBgkqhki", "  G9w0BAQEFAASC  "];
    const known = secretForms(`${lines.join("\r\n")}\r\n-----END PRIVATE KEY-----\r\n`);
    for (const line of lines) expect(redact(`bad: ${line.trim()}`, known)).toBe("bad: [redacted]");
  });

  it("ENV-12: gives exactly the forms in which a secret is repeated", () => {
    expect(secretForms('Bearer  a"b c')).toEqual([
      'Bearer  a"b c',
      'a"b c',
      "a%22b%20c",
      String.raw`a\"b c`,
    ]);
    expect(secretForms("my Token abc")).toEqual(["my Token abc", "my%20Token%20abc"]);
    expect(secretForms("Basic ")).toEqual(["Basic "]);
    expect(secretForms("")).toEqual([]);
  });

  it("ENV-12: finds a line of eight characters, whatever ends it", () => {
    for (const end of ["\n", "\r", "\r\n"]) {
      const forms = secretForms(["12345678", "1234567", "abcdefgh"].join(end));
      expect(forms).toEqual(expect.arrayContaining(["12345678", "abcdefgh"]));
      expect(forms).not.toContain("1234567");
    }
  });

  it("ENV-12: finds a secret without the spaces around it", () => {
    expect(secretForms(" padded-secret\t")).toContain("padded-secret");
  });

  it("does not take a short line for a secret of its own", () => {
    const known = secretForms("MIIEvQIBADANBgkqhki\nerror\nfor you\n\n==");
    expect(redact("error: nothing for you ==", known)).toBe("error: nothing for you ==");
  });
});
