import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { afterEach, describe, expect, it, vi } from "vitest";

import { ownCommand, ownCommandsIn, ownProgram } from "./own-command.ts";

function folderWithProgram(...names: readonly string[]): string {
  const folder = path.join(mkdtempSync(path.join(tmpdir(), "path-")), ...names);
  mkdirSync(folder, { recursive: true });
  const file = path.join(folder, process.platform === "win32" ? "plugboard.cmd" : "plugboard");
  writeFileSync(file, "");
  chmodSync(file, 0o755);
  return folder;
}

afterEach(() => {
  vi.unstubAllEnvs();
});

describe("a command to copy", () => {
  it.each([
    ["files", "plugboard approve files --identity abc"],
    ["my files", "plugboard approve 'my files' --identity abc"],
    ["x; touch owned #", "plugboard approve 'x; touch owned #' --identity abc"],
    ["-rf", "plugboard approve --identity abc -- -rf"],
  ])("names the server %j", (name, text) => {
    vi.stubEnv("PATH", folderWithProgram());
    expect(ownCommand("approve", name, ["--identity", "abc"])).toBe(text);
  });

  it("begins with npx where a shell would not find the program", () => {
    vi.stubEnv("PATH", [tmpdir(), ""].join(path.delimiter));
    expect(ownCommand("approve", "files")).toBe("npx plugboard approve files");
    vi.stubEnv("PATH", [tmpdir(), folderWithProgram()].join(path.delimiter));
    expect(ownProgram()).toBe("plugboard");
  });

  it("folders that npm adds to the PATH of what it starts are not those of a shell", () => {
    vi.stubEnv("PATH", folderWithProgram("node_modules", ".bin"));
    expect(ownProgram()).toBe("npx plugboard");
  });
});

describe("commands in a text", () => {
  const program = "npx plugboard --config a.json";

  it.each([
    ["fix it, then: plugboard test files", `fix it, then: ${program} test files`],
    ["npx plugboard approve x (plugboard tools)", `${program} approve x (${program} tools)`],
    ["plugboard --help lists them", `${program} --help lists them`],
    ["plugboard test plugboard --timeout 60s", `${program} test plugboard --timeout 60s`],
    ["~/plugboard test, the plugboard store, plugboard testing", undefined],
  ])("%j", (text, expected = text) => {
    expect(ownCommandsIn(text, program)).toBe(expected);
  });
});
