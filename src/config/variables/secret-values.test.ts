import { describe, expect, it } from "vitest";

import { isSecretValue, looksSecret } from "./secret-values.ts";

describe("isSecretValue", () => {
  it.each([
    "API_KEY",
    "TOKEN",
    "SECRET",
    "PASSWORD",
    "DB_PASS",
    "AUTH",
    "Authorization",
    "CREDENTIAL",
    "Cookie",
    "SESSION",
    "PRIVATE",
    // As harmless as the end of the name may sound.
    "KEY_FILE",
  ])("ENV-12: a short value counts when its name is %s", (name) => {
    expect(isSecretValue(name, "abcd")).toBe(true);
    expect(isSecretValue(name, "abc")).toBe(false);
  });

  it("ENV-12: any other value counts when it is long enough to be one", () => {
    expect(isSecretValue("ANYTHING", "12345678")).toBe(true);
    expect(isSecretValue("ANYTHING", "1234567")).toBe(false);
    expect(isSecretValue("ANYTHING", "https://example.com/path")).toBe(true);
  });

  it.each([
    ..."PATH DIR DIRECTORY HOME ROOT FILE FOLDER LANG LOCALE PORT HOST MODE LEVEL ENV DEBUG".split(
      " ",
    ),
    ..."REGION TZ USER SHELL TERM TIMEOUT Accept Content-Type User-Agent API-Version".split(" "),
  ])("a long value does not count when its name is %s", (name) => {
    expect(isSecretValue(name, "a long harmless value")).toBe(false);
    expect(isSecretValue(`MY_${name}`, "a long harmless value")).toBe(false);
    expect(isSecretValue(`${name}_X`, "a long harmless value")).toBe(true);
  });

  it("the address of a service does not count", () => {
    for (const address of ["https://example.com", "http://127.0.0.1:8080/"])
      expect(isSecretValue("SERVICE", address)).toBe(false);
    expect(isSecretValue("SERVICE", "https://user@example.com")).toBe(true);
  });
});

describe("a value that looks secret to a reader", () => {
  it.each([
    ["API_KEY", "short"],
    ["DB_PASSWORD", "hunter2"],
    ["DD", "0123456789abcdef0123456789abcdef"],
    ["X", "ghp_0123456789abcdef0123456789abcdef0123"],
    ["X", "postgres://ann:hunter2@db.example.com/x"],
    ["A_TOKEN", "${X:-literal}"],
    ["BLOB", "aGVsbG8gd29ybGQ0NTY3ODkwMTIz/9+a=="],
  ])("L2: %s=%s does", (name, value) => {
    expect(looksSecret(name, value)).toBe(true);
  });

  it.each([
    ["API_KEY", "${MY_KEY}"],
    ["MODE", "production"],
    ["BASE_URL", "https://api.example.com/v1/things"],
    ["DATA_DIR", "/srv/data/2026/with/a/long/path"],
    ["LIST", "one,two,three,four,five,six"],
    ["PROJECT", "my-quite-long-project-name"],
    ["EMPTY", ""],
    ["HUGE", `${"x".repeat(100_000)}!`],
  ])("L2: %s=%s does not", (name, value) => {
    expect(looksSecret(name, value)).toBe(false);
  });
});
