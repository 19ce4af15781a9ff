import { mkdirSync, mkdtempSync, realpathSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { describe, expect, it } from "vitest";

import { withSearchPath } from "./search-path.ts";

const root = realpathSync(mkdtempSync(path.join(tmpdir(), "path-")));
const project = path.join(root, "project");
const link = path.join(root, "link");
mkdirSync(path.join(project, "bin"), { recursive: true });
symlinkSync(path.join(project, "bin"), link);
symlinkSync(project, path.join(root, "alias"));

const search = (folders: readonly string[], without = [project], cwd = root): unknown =>
  withSearchPath({ PATH: folders.join(path.delimiter) }, { without, cwd })["PATH"];

describe("a PATH without some folders", () => {
  it("L1: keeps the others in their order", () => {
    expect(search(["/b", path.join(project, "bin"), "/a", project, `${project}-other`])).toBe(
      ["/b", "/a", `${project}-other`].join(path.delimiter),
    );
  });

  it("L1: follows links on either side", () => {
    expect(search([link, "/a"])).toBe("/a");
    expect(search([path.join(project, "bin"), "/a"], [path.join(root, "alias")])).toBe("/a");
  });

  it("L1: reads relative folders from where the server starts", () => {
    expect(search(["bin", "", ".", "/a"], [project], project)).toBe("/a");
    expect(search(["bin", "/a"])).toBe(["bin", "/a"].join(path.delimiter));
  });

  it("L1: leaves an environment alone that has none, or that nothing is to be left out of", () => {
    const none = { A: "1" };
    expect(withSearchPath(none, { without: [project], cwd: root })).toBe(none);
    const env = { PATH: project };
    expect(withSearchPath(env, { without: [], cwd: root })).toBe(env);
  });
});
