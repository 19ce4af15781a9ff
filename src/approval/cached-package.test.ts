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
    put("a", "beta", '{ "version": "1.0.0-beta.1+x" }', 1_000);
    for (const [name, version] of Object.entries({ v: "v1.0.0", short: "1.0", tail: "1.0.0 " }))
      put("a", name, JSON.stringify({ version }), 1_000);
    for (const name of ["UPPER", ".hidden", "@Scope/server", "@scope/.server", "a b"])
      put("a", name, '{ "version": "1.0.0" }', 1_000);
    put("a", "huge", `{ "version": "1.0.0", "x": "${"x".repeat(1_100_000)}" }`, 1_000);
    writeFileSync(path.join(cache, "package.json"), '{ "version": "6.6.6" }');
  });
  afterAll(() => rmSync(cache, { recursive: true }));

  const find = (name: string) => cachedPackageVersion(name, { npm_config_cache: cache });

  it("I4: is the newest of several", async () => {
    expect(await find("@scope/server")).toBe("2.0.0");
  });

  const unreadable = ["absent", "broken", "odd", "none", "huge", "v", "short", "tail"];
  const elsewhere = ["../../..", "..", "a/../../..", "/etc", ""];
  const impossible = ["UPPER", ".hidden", "@Scope/server", "@scope/.server", "a b"];

  it.each([...unreadable, ...elsewhere, ...impossible])("I4: %j has none", async (name) => {
    expect(await find(name)).toBeUndefined();
  });

  it("I4: may be one before a release", async () => {
    expect(await find("beta")).toBe("1.0.0-beta.1+x");
  });

  it.skipIf(process.platform === "win32")("I4: is looked for in the person's home", async () => {
    const home = mkdtempSync(path.join(tmpdir(), "npx-home-"));
    const folder = path.join(home, ".npm", "_npx", "a", "node_modules", "tool");
    mkdirSync(folder, { recursive: true });
    writeFileSync(path.join(folder, "package.json"), '{ "version": "3.0.0" }');
    expect(await cachedPackageVersion("tool", { HOME: home })).toBe("3.0.0");
    // A cache that the environment names is the only one.
    expect(
      await cachedPackageVersion("tool", { HOME: home, npm_config_cache: cache }),
    ).toBeUndefined();
    rmSync(home, { recursive: true });
  });

  it("I4: nothing is known without a cache", async () => {
    expect(await cachedPackageVersion("a", {})).toBeUndefined();
    expect(await cachedPackageVersion("a", { npm_config_cache: "/nowhere" })).toBeUndefined();
  });
});
