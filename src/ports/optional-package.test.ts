import { mkdtemp, mkdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { describe, expect, it } from "vitest";

import { findOptionalPackage, hasOptionalPackage, requireFile } from "./optional-package.ts";

describe("an optional package", () => {
  it("is found beside the code and loaded", () => {
    expect(hasOptionalPackage("pg")).toBe(true);
    const file = findOptionalPackage("pg");
    expect(file).toContain(path.join("node_modules", "pg"));
    expect(requireFile(file ?? "")).toHaveProperty("Pool");
  });

  it("is not taken from the working folder, which may be anybody's", async () => {
    const before = process.cwd();
    const folder = await mkdtemp(path.join(tmpdir(), "optional-"));
    await mkdir(path.join(folder, "node_modules", "planted"), { recursive: true });
    await writeFile(path.join(folder, "node_modules", "planted", "index.js"), "");
    process.chdir(folder);
    try {
      expect(findOptionalPackage("planted")).toBeUndefined();
      expect(hasOptionalPackage("planted")).toBe(false);
    } finally {
      process.chdir(before);
      await rm(folder, { recursive: true });
    }
  });
});
