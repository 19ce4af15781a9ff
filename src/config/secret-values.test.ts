import { describe, expect, it } from "vitest";

import { looksSecret } from "./secret-values.ts";

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
