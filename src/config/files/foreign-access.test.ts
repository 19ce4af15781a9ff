import { chmodSync, chownSync, mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { describe, expect, it } from "vitest";

import { describeAccess, findForeignAccess, isPrivateGroup } from "./foreign-access.ts";
import { loadConfig } from "./load-config.ts";

const isRoot = process.geteuid?.() === 0;

interface Home {
  readonly home: string;
  readonly folder: string;
  readonly file: string;
}

/** A home with one server in the user's file. */
function makeHome(): Home {
  const home = mkdtempSync(path.join(tmpdir(), "foreign-"));
  const folder = path.join(home, ".plugboard");
  const file = path.join(folder, "mcp.json");
  mkdirSync(folder, { mode: 0o700 });
  writeFileSync(file, '{ "servers": { "mine": { "command": "serve" } } }', { mode: 0o600 });
  return { home, folder, file };
}

async function load({ home }: Home) {
  const { servers, problems } = await loadConfig({ cwd: path.join(home, "work"), home, env: {} });
  return { names: servers.map(({ name }) => name), problems: problems.map((it) => it.message) };
}

describe("the user's own file", () => {
  it("L8: is used while nobody else can write it", async () => {
    const home = makeHome();
    chmodSync(home.file, 0o644);
    chmodSync(home.folder, 0o755);
    expect(await load(home)).toEqual({ names: ["mine"], problems: [] });
  });

  it.each([
    ["file", 0o666, "chmod o-w"],
    ["folder", 0o777, "chmod o-w"],
  ] as const)("L8: is refused when every user may write the %s", async (which, mode, command) => {
    const home = makeHome();
    chmodSync(home[which], mode);
    const { names, problems } = await load(home);
    expect(names).toEqual([]);
    expect(problems).toEqual([
      `is not used, because every user may write ${home[which]}: run ${command} ${home[which]} after reading it`,
    ]);
  });

  it.runIf(isRoot)("L8: is refused when another user owns file or folder", async () => {
    for (const which of ["file", "folder"] as const) {
      const home = makeHome();
      chownSync(home[which], 54_321, 0);
      const { names, problems } = await load(home);
      expect(names, which).toEqual([]);
      expect(problems[0]).toContain(`another user (uid 54321) owns ${home[which]}`);
      expect(problems[0]).toContain("sudo chown");
    }
  });

  it("L8: the file behind a link, and the folder it lies in, count as well", async () => {
    const { folder, file } = makeHome();
    const link = path.join(mkdtempSync(path.join(tmpdir(), "foreign-")), "mcp.json");
    symlinkSync(file, link);
    expect(findForeignAccess(link)).toBeUndefined();
    chmodSync(folder, 0o777);
    expect(findForeignAccess(link)).toContain(`every user may write ${folder}`);
  });

  it("CFG-01: a file that is named, and those of a project, are not the user's own", async () => {
    const home = makeHome();
    chmodSync(home.file, 0o666);
    const { servers } = await loadConfig({ cwd: home.home, files: [home.file] });
    expect(servers).toHaveLength(1);
  });
});

describe("who else can write a file", () => {
  const user = { uid: 1_000, name: "ann", privateGroup: 1_000 };
  const group = "root:x:0:\nann:x:1000:\nstaff:x:20:\ndev:x:30:ann,bob\n";

  it.each([
    [{ uid: 1_000, gid: 1_000, mode: 0o664 }, undefined],
    [{ uid: 0, gid: 0, mode: 0o644 }, undefined],
    [{ uid: 1_000, gid: 30, mode: 0o664 }, "group 30"],
    [{ uid: 0, gid: 0, mode: 0o664 }, "group 0"],
    [{ uid: 1_000, gid: 1_000, mode: 0o646 }, "every user"],
    [{ uid: 1_001, gid: 1_000, mode: 0o600 }, "uid 1001"],
  ])("L8: %j: %s", (stats, expected) => {
    const problem = describeAccess("/f", stats, user);
    if (expected === undefined) expect(problem).toBeUndefined();
    else expect(problem?.what).toContain(expected);
  });

  it.each([
    [group, 1_000, true],
    [group, 30, false],
    [group, 20, false],
    ["ann:x:1000:ann\n", 1_000, true],
    ["ann:x:1000:bob\n", 1_000, false],
    ["", 1_000, true],
    ["", 20, false],
  ])("L8: a private group is the user's alone: %j, %d: %s", (list, gid, expected) => {
    expect(isPrivateGroup(list, gid, user)).toBe(expected);
  });
});
