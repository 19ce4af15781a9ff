import { existsSync, readFileSync } from "node:fs";

import { describe, expect, it } from "vitest";

import { isBuilt, ownModule, readOwnVersion } from "./package-files.ts";

describe("the package's own files", () => {
  it("are the sources where the sources run", () => {
    expect(isBuilt).toBe(false);
    const file = ownModule("ports/package-files.ts");
    expect(file.href).toBe(new URL("./package-files.ts", import.meta.url).href);
    expect(existsSync(file)).toBe(true);
  });

  it("tell the version of the manifest", () => {
    const manifest = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
    expect(readOwnVersion()).toBe((JSON.parse(manifest) as { version: string }).version);
  });
});
