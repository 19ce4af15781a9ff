import { readFileSync } from "node:fs";
import path from "node:path";

import { describe, expect, it } from "vitest";

import { openStore } from "./open-store.ts";

/** What a module and the modules it imports load at once; types and `import()` do not count. */
function staticImports(file: string, seen = new Set<string>()): ReadonlySet<string> {
  if (seen.has(file)) return seen;
  seen.add(file);
  const source = readFileSync(file, "utf8");
  const statements = source.matchAll(
    /^(?:import|export)\s(?!type\s)(?:[^;]*?\sfrom\s)?"([^"]+)"/gm,
  );
  for (const [, specifier = ""] of statements) {
    if (specifier.startsWith(".")) staticImports(path.resolve(path.dirname(file), specifier), seen);
    else seen.add(specifier);
  }
  return seen;
}

describe("openStore", () => {
  it("STO-01: nothing of a database is loaded before a store is opened", () => {
    const loaded = staticImports(path.join(import.meta.dirname, "open-store.ts"));
    expect([...loaded].some((name) => name.endsWith("grant-rows.ts"))).toBe(true);
    const packages = [...loaded].filter((name) => !/^(?:\/|[A-Z]:|node:)/.test(name));
    expect(packages).toEqual([]);
    expect([...loaded].filter((name) => name.endsWith("sqlite-driver.mjs"))).toEqual([]);
    // The check sees what it must see.
    const lazy = staticImports(path.join(import.meta.dirname, "sqlite/sqlite-query-builder.ts"));
    expect([...lazy]).toEqual(expect.arrayContaining(["kysely"]));
  });

  it.each([
    "postgres://user:hunter22@127.0.0.1:1/db",
    "postgresql://user:hunter22@localhost/db?host=/nowhere",
  ])(
    "LIM-14: %s: a database that does not answer is told, without its password",
    async (location) => {
      const error = await openStore({ location }).then(
        () => undefined,
        (reason: unknown) => reason,
      );
      expect(error).toMatchObject({
        code: "store_failed",
        retryable: true,
        details: { problem: "unreachable" },
      });
      expect(JSON.stringify(error)).not.toContain("hunter22");
      expect(String(error)).toContain("cannot be reached");
    },
  );
});
