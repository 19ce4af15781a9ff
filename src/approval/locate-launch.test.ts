import { realpathSync } from "node:fs";
import path from "node:path";

import { describe, expect, it } from "vitest";

import { parseServerEntry } from "../config/parse/parse-config.ts";
import { commandFileOf, locateLaunch, type Machine } from "./locate-launch.ts";

const node = realpathSync(process.execPath);
const linux: Machine = {
  hostEnv: { PATH: path.dirname(node), SECRET: "canary", OWN_PATH: path.dirname(node) },
  platform: "linux",
  ground: { workspaceFolder: "/", home: "/home/ada", userFolder: "/home/ada/.plugboard" },
};
const windows: Machine = { ...linux, platform: "win32" };

const locate = (entry: object, machine = linux) =>
  locateLaunch(parseServerEntry("s", entry), machine);

describe("where a launch takes place", () => {
  it.each([
    [{ command: "node" }, { commandPath: node, folder: "/" }],
    [
      { command: node, cwd: "/tmp" },
      { commandPath: node, folder: "/tmp" },
    ],
    [
      { command: "node", env: { PATH: "/nowhere" } },
      { commandPath: "not found", folder: "/" },
    ],
    [
      { command: "node", inheritEnv: "none", env: { PATH: path.dirname(node) } },
      { commandPath: node },
    ],
    // Expanding it would be the first step of telling somebody.
    [{ command: "node", env: { PATH: "${OWN_PATH}" } }, { commandPath: "not looked up" }],
    [{ command: node, env: { PATH: "${OWN_PATH}" } }, { commandPath: node }],
  ])("PRM-21: of %j", (entry, expected) => {
    expect(locate(entry)).toMatchObject(expected);
  });

  it("has no place for an address", () => {
    expect(locate({ url: "https://h.example" })).toEqual({});
  });

  it.each([
    { command: "\\\\evil.example\\share\\run.exe" },
    { command: "//evil.example/share/run.exe" },
    { command: "run", cwd: "\\\\evil.example\\share" },
    { command: "run", env: { Path: "C:\\x;\\\\evil.example\\share" } },
  ])("I1: on Windows nobody signs in at another machine to look at %j", (entry) => {
    expect(locate(entry, windows)).toMatchObject({ commandPath: "not looked up" });
  });

  it.each(["/usr/bin/node", "not found", "not looked up"])("the facts tell: %s", (commandPath) => {
    const file = commandFileOf({ commandPath });
    expect(file.status === "found" ? file.path : file.status).toBe(commandPath);
  });
});
