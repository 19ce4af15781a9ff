import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { cachedPackageVersion } from "./cached-package.ts";

describe("the release that npx has run last", () => {
  let cache = "";
  const put = (folder: string, name: string, manifest: string, at: number): void => {
    const file = path.join(cache, "_npx", folder, "node_modules", name, "package.json");
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, manifest);
    utimesSync(file, at, at);
  };
  beforeAll(() => {
    cache = mkdtempSync(path.join(tmpdir(), "npx-cache-"));
    put("a", "@scope/server", '{ "version": "1.0.0" }', 1_000);
    put("b", "@scope/server", '{ "version": "2.0.0" }', 3_000);
    put("c", "@scope/server", '{ "version": "1.5.0" }', 2_000);
    put("a", "broken", "{", 1_000);
    put("a", "odd", '{ "version": "1.0.0; rm -rf /" }', 1_000);
    put("a", "none", "{}", 1_000);
    put("a", "huge", `{ "version": "1.0.0", "x": "${"x".repeat(1_100_000)}" }`, 1_000);
    writeFileSync(path.join(cache, "package.json"), '{ "version": "6.6.6" }');
  });
  afterAll(() => rmSync(cache, { recursive: true }));

  const find = (name: string) => cachedPackageVersion(name, { npm_config_cache: cache });

  it("I4: is the newest of several", async () => {
    expect(await find("@scope/server")).toBe("2.0.0");
  });

  it.each(["absent", "broken", "odd", "none", "huge", "../../..", "..", "a/../../..", "/etc", ""])(
    "I4: %j has none",
    async (name) => {
      expect(await find(name)).toBeUndefined();
    },
  );

  it("I4: nothing is known without a cache", async () => {
    expect(await cachedPackageVersion("a", {})).toBeUndefined();
    expect(await cachedPackageVersion("a", { npm_config_cache: "/nowhere" })).toBeUndefined();
  });
});
