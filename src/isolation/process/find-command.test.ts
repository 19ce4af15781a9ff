import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { commandCandidates, findCommand } from "./find-command.ts";

describe("where a command is looked for", () => {
  const linux = { cwd: "/place", platform: "linux" } as const;

  it.each([
    ["run", { PATH: "/a:/b" }, ["/a/run", "/b/run"]],
    ["run", { PATH: "bin::/b" }, ["/place/bin/run", "/place/run", "/b/run"]],
    ["run", { PATH: "/a/../b" }, ["/a/../b/run"]],
    ["run", {}, ["/bin/run", "/usr/bin/run"]],
    ["./run", { PATH: "/a" }, ["/place/run"]],
    ["sub/run", { PATH: "/a" }, ["/place/sub/run"]],
    ["/opt/run", { PATH: "/a" }, ["/opt/run"]],
    ["back\\slash", { PATH: "/a" }, ["/a/back\\slash"]],
  ])("PRM-21: %s with %j", (command, env, expected) => {
    expect(commandCandidates(command, { ...linux, env })).toEqual(expected);
  });

  it.each([
    [
      "npx",
      { Path: "C:\\node", PATHEXT: ".EXE;.CMD" },
      ["C:\\work\\npx.exe", "C:\\work\\npx.cmd", "C:\\node\\npx.exe", "C:\\node\\npx.cmd"],
    ],
    [
      "npx.cmd",
      { PATH: "C:\\node", PATHEXT: ".CMD" },
      ["C:\\work\\npx.cmd", "C:\\work\\npx.cmd.cmd", "C:\\node\\npx.cmd", "C:\\node\\npx.cmd.cmd"],
    ],
    ["D:\\x\\run.exe", { PATHEXT: ".EXE" }, ["D:\\x\\run.exe", "D:\\x\\run.exe.exe"]],
  ])("PRM-21: on Windows %s with %j", (command, env, expected) => {
    expect(commandCandidates(command, { cwd: "C:\\work", env, platform: "win32" })).toEqual(
      expected,
    );
  });
});

describe.skipIf(process.platform === "win32")("the file behind a command", () => {
  let folder = "";
  beforeAll(() => {
    folder = realpathSync(mkdtempSync(path.join(tmpdir(), "command-")));
    for (const name of ["first", "second"]) mkdirSync(path.join(folder, name));
    mkdirSync(path.join(folder, "first", "run"));
    writeFileSync(path.join(folder, "first", "plain"), "");
    for (const name of ["run", "plain"]) {
      writeFileSync(path.join(folder, "second", name), "");
      chmodSync(path.join(folder, "second", name), 0o755);
    }
    symlinkSync("second/run", path.join(folder, "link"));
    symlinkSync("link", path.join(folder, "link-to-link"));
    symlinkSync("nowhere", path.join(folder, "broken"));
    symlinkSync("circle", path.join(folder, "circle"));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const find = (command: string): string | undefined =>
    findCommand(command, {
      cwd: folder,
      env: { PATH: `${folder}/first:${folder}/second:${folder}` },
      platform: "linux",
    });

  it.each([
    ["run", "second/run", "a folder of the name is passed over"],
    ["plain", "second/plain", "a file that may not be run is passed over"],
    ["./link", "second/run", "a link is followed"],
    ["link-to-link", "second/run", "and every link after it"],
  ])("PRM-21: %s is %s: %s", (command, expected) => {
    expect(find(command)).toBe(path.join(folder, expected));
  });

  it.each(["absent", "broken", "circle", "./first", "a\0b", ""])(
    "PRM-21: %j is no program",
    (command) => {
      expect(find(command)).toBeUndefined();
    },
  );
});
