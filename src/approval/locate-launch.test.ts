import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { describe, expect, it } from "vitest";

import { parseServerEntry } from "../config/parse/parse-config.ts";
import { identifyFile } from "../isolation/process/checked-launch.ts";
import { commandFileOf, locateLaunch, type Machine, thisMachine } from "./locate-launch.ts";

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

  it("PRM-21: follows links, and keeps the name of a folder that does not exist", () => {
    const root = realpathSync(mkdtempSync(path.join(tmpdir(), "locate-")));
    mkdirSync(path.join(root, "real"));
    symlinkSync(path.join(root, "real"), path.join(root, "link"));
    const cwd = path.join(root, "link");
    const ground = { ...linux.ground, workspaceFolder: cwd };
    const machine = { ...linux, ground };
    expect(locate({ command: "node", cwd }, machine)).toMatchObject({
      folder: path.join(root, "real"),
    });
    expect(locate({ command: "node", args: ["${workspaceFolder}/x"] }, machine)).toMatchObject({
      workspaceFolder: path.join(root, "real"),
    });
    expect(locate({ command: "node" }, machine)).not.toHaveProperty("workspaceFolder");
    const gone = path.join(root, "gone");
    expect(locate({ command: node, cwd: gone })).toMatchObject({
      folder: gone,
      checked: { folder: "none" },
    });
    rmSync(root, { recursive: true });
  });

  it("PRM-21: says which file and folder were looked at", () => {
    expect(locate({ command: "node" }).checked).toEqual({
      file: identifyFile(node),
      folder: identifyFile("/"),
    });
    expect(locate({ command: "nowhere-to-be-found" }).checked?.file).toBe("none");
    expect(locate({ command: "node", env: { PATH: "${OWN_PATH}" } }).checked?.file).toBe("unknown");
    const remote = locate({ command: "\\\\evil.example\\run.exe" }, windows);
    expect(remote.checked).toEqual({ file: "unknown", folder: "none" });
  });

  it("a variable is the search path by its exact name, and in any case on Windows", () => {
    const entry = { command: "node", env: { Path: "${OWN_PATH}" } };
    expect(locate(entry).commandPath).toBe(node);
    expect(locate(entry, windows).commandPath).toBe("not looked up");
    expect(locate({ command: "//nowhere/run" }).commandPath).toBe("not found");
    expect(locate({ command: ".\\run", env: { PATH: "${OWN_PATH}" } }, windows).commandPath).toBe(
      "not found",
    );
  });

  it("is that of this machine unless told otherwise", () => {
    const { hostEnv, ground } = linux;
    expect(thisMachine(hostEnv, ground)).toEqual({ hostEnv, ground, platform: process.platform });
    expect(commandFileOf({})).toEqual({ status: "not found" });
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
