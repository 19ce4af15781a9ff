import { chmodSync, mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { describe, expect, it } from "vitest";

import type { Machine } from "../../approval/locate-launch.ts";
import { parseServerEntry } from "../../config/parse/parse-config.ts";
import { isStdio, nodeVersionOf, packageOf, type StdioServer } from "./server-package.ts";

function stdio(command: string, ...args: readonly string[]): StdioServer {
  const config = parseServerEntry("it", { command, args });
  if (!isStdio(config)) throw new Error("no process");
  return config;
}

function write(file: string, text: string): string {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}

/** A folder, and a machine whose PATH and npm cache are below it. */
function makeMachine(): { readonly root: string; readonly machine: Machine } {
  const root = mkdtempSync(path.join(tmpdir(), "packages-"));
  const ground = { workspaceFolder: root, home: root, userFolder: path.join(root, ".plugboard") };
  const hostEnv = { PATH: path.join(root, "bin"), npm_config_cache: path.join(root, "cache") };
  return { root, machine: { hostEnv, platform: process.platform, ground } };
}

const manifest = JSON.stringify({ name: "it", version: "1.2.3", engines: { node: ">=99" } });

describe("the package of a server", () => {
  it("is the one that npx ran last", async () => {
    const { root, machine } = makeMachine();
    write(path.join(root, "cache/_npx/1/node_modules/it/package.json"), manifest);
    expect(await packageOf(stdio("npx", "-y", "it"), machine)).toMatchObject({
      version: "1.2.3",
      nodeRange: ">=99",
    });
    expect(await packageOf(stdio("npx", "-y", "other"), machine)).toBeUndefined();
  });

  it("is the one around the script that Node runs, or that the command is a link to", async () => {
    const { root, machine } = makeMachine();
    write(path.join(root, "lib/package.json"), manifest);
    const script = write(path.join(root, "lib/dist/index.js"), "#!/usr/bin/env node\n");
    chmodSync(script, 0o755);
    mkdirSync(path.join(root, "bin"));
    symlinkSync(script, path.join(root, "bin", "serve"));
    const expected = { nodeRange: ">=99" };
    expect(await packageOf(stdio("node", "--no-warnings", script), machine)).toMatchObject(
      expected,
    );
    expect(await packageOf(stdio("serve"), machine)).toMatchObject(expected);
    expect(await packageOf(stdio("node", "-e", "1"), machine)).toBeUndefined();
  });
});

describe("the Node of a server", () => {
  it("is told without starting it: this one, or by the header files beside it", async () => {
    const { root, machine } = makeMachine();
    const other = write(path.join(root, "other/bin/node"), "");
    chmodSync(other, 0o755);
    expect(await nodeVersionOf(stdio(other, "x.js"), machine)).toBeUndefined();
    write(
      path.join(root, "other/include/node/node_version.h"),
      "#define NODE_MAJOR_VERSION 18\n#define NODE_MINOR_VERSION 4\n#define NODE_PATCH_VERSION 1\n",
    );
    expect(await nodeVersionOf(stdio(other, "x.js"), machine)).toBe("18.4.1");
    expect(await nodeVersionOf(stdio(process.execPath, "x.js"), machine)).toBe(
      process.versions.node,
    );
    mkdirSync(path.join(root, "bin"));
    symlinkSync(other, path.join(root, "bin", "node"));
    expect(await nodeVersionOf(stdio("npx", "-y", "it"), machine)).toBe("18.4.1");
  });
});
