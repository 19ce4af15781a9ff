import { spawnSync } from "node:child_process";
import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";

import { bundledServers } from "./bundle-programs.ts";

const root = path.resolve(import.meta.dirname, "../..");
const program = path.join(root, "bin/plugboard.js");
const kept = path.join(root, ".bootstrap", "compiled-commands");

/** Commands that load what nearly all others do. */
const commands = [
  ["list"],
  ["get", "demo"],
  ["tools", "demo"],
  ["call", "demo.echo", "message=hi"],
  ["__complete", "fish", ""],
  ["up", "--once"],
  ["connect", "demo"],
  ["repl", "--level", "yolo"],
];

/** Where the code of what is built now is kept; undefined where nothing is built. */
function keptFolder(): string | undefined {
  const first = path.join(root, "dist/cli/main.cjs");
  if (!existsSync(first)) return undefined;
  const [, build = ""] = /^\/\/ build (\w+)/.exec(readFileSync(first, "latin1")) ?? [];
  return path.join(kept, `${build.slice(0, 16)}-${statSync(first).mtimeMs}-${process.version}`);
}

/** Runs commands once, so that those of the tests find their code compiled as those of a user do. */
export function compileCommands(): void {
  const folder = keptFolder();
  if (folder === undefined || existsSync(folder)) return;
  rmSync(kept, { recursive: true, force: true });
  mkdirSync(kept, { recursive: true });
  const home = mkdtempSync(path.join(kept, "home-"));
  mkdirSync(path.join(home, ".plugboard"));
  const demo = { command: process.execPath, args: [bundledServers, "demo"] };
  writeFileSync(
    path.join(home, ".plugboard", "mcp.json"),
    JSON.stringify({ mcpServers: { demo } }),
  );
  // Whether they work is for the tests to say; one that fails keeps nothing.
  for (const words of commands)
    spawnSync(process.execPath, [program, ...words], {
      cwd: home,
      env: { PATH: process.env["PATH"], HOME: home, USERPROFILE: home },
      input: "demo.echo message=hi\n",
    });
  const cache = path.join(home, ".plugboard", "cache");
  if (existsSync(cache)) renameSync(cache, folder);
  rmSync(home, { recursive: true });
}

/** Gives a home that code, where it has a folder of ours and no code yet. */
export function lendCompiledCommands(home: string): void {
  const own = path.join(home, ".plugboard");
  const cache = path.join(own, "cache");
  const folder = keptFolder();
  if (folder === undefined || !existsSync(folder) || !existsSync(own) || existsSync(cache)) return;
  mkdirSync(cache, { mode: 0o700 });
  // A command that has more to keep puts another file in the place of the link.
  for (const name of readdirSync(folder)) linkSync(path.join(folder, name), path.join(cache, name));
}
