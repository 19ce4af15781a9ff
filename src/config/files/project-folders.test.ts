import { mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { describe, expect, it } from "vitest";

import { projectFolders, projectRoot } from "./project-folders.ts";

const home = mkdtempSync(path.join(tmpdir(), "folders-"));
const at = (...names: readonly string[]): string => path.join(home, ...names);
mkdirSync(at("repo", ".git"), { recursive: true });
mkdirSync(at("repo", "vendor", "inner", ".git"), { recursive: true });

describe("the project that a folder belongs to", () => {
  it("L1: is the outermost repository around it, else the folder itself", () => {
    expect(projectRoot({ cwd: at("repo", "packages", "one"), home })).toBe(at("repo"));
    expect(projectRoot({ cwd: at("repo", "vendor", "inner"), home })).toBe(at("repo"));
    expect(projectRoot({ cwd: at("plain", "folder"), home })).toBe(at("plain", "folder"));
    expect(projectRoot({ cwd: "/srv/app", home })).toBe("/srv/app");
  });

  it("L1: is none in the user's home, above it, and at the root", () => {
    for (const cwd of [home, path.dirname(home), "/"]) {
      expect(projectRoot({ cwd, home }), cwd).toBeUndefined();
      expect(projectFolders({ cwd, home }), cwd).toEqual([]);
    }
  });

  it("L1: reaches every node_modules that npm puts into PATH, short of the home", () => {
    expect(projectFolders({ cwd: at("a", "b", "c"), home })).toEqual([
      at("a", "b", "c"),
      at("a", "b", "node_modules"),
      at("a", "node_modules"),
    ]);
    expect(projectFolders({ cwd: at("repo", "packages"), home })).toEqual([at("repo")]);
  });
});
