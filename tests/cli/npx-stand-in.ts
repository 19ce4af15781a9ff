import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

import type { CliSandbox } from "./run-cli.ts";

const packages = path.resolve(import.meta.dirname, "../../node_modules");

/**
 * Puts an `npx` into a sandbox that runs the servers in `node_modules` of this repository, without a registry. Gives
 * the `PATH` that finds it first.
 */
export function withNpx({ root, environment }: CliSandbox): string {
  const folder = path.join(root, "stand-ins");
  mkdirSync(folder);
  const programs = ["filesystem", "memory", "everything"].map((server) => {
    const name = `@modelcontextprotocol/server-${server}`;
    return `${name}) exec "${process.execPath}" "${programOf(name)}" "$@" ;;`;
  });
  const script = [
    "#!/bin/sh",
    '[ "$1" = -y ] && shift',
    'package="$1"; shift',
    'case "$package" in',
    ...programs,
    '*) echo "no package $package here" >&2; exit 1 ;;',
    "esac",
    "",
  ];
  writeFileSync(path.join(folder, "npx"), script.join("\n"), { mode: 0o755 });
  return [folder, environment["PATH"]].join(path.delimiter);
}

/** The file that a package of this repository runs as its program. */
function programOf(name: string): string {
  const folder = path.join(packages, name);
  const manifest = readFileSync(path.join(folder, "package.json"), "utf8");
  const { bin } = JSON.parse(manifest) as { bin: Readonly<Record<string, string>> };
  return path.join(folder, Object.values(bin)[0] ?? "");
}
