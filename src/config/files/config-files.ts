import os from "node:os";
import path from "node:path";

import type { ConfigLayer } from "../keys/server-config.ts";
import { isWithin } from "./project-folders.ts";

export interface UserFolderOptions {
  /** The folder that holds `.plugboard`; the user's home by default. */
  readonly home?: string | undefined;
  /**
   * The environment in which `PLUGBOARD_HOME` is looked up; the process's by default. The variable names
   * the `.plugboard` folder itself and wins over `home`, so pass `{}` to insist on `home`.
   */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
}

export interface ConfigFileCandidate {
  readonly path: string;
  readonly layer: ConfigLayer;
}

const configFolders = [".plugboard", ".nexus3"] as const;
const projectFiles = [...configFolders.map((folder) => path.join(folder, "mcp.json")), ".mcp.json"];
const maxAncestorDepth = 10;

/** Returns the user's `.plugboard` folder. */
export function userFolder(options: UserFolderOptions = {}): string {
  const { home = os.homedir(), env = process.env } = options;
  const named = env["PLUGBOARD_HOME"] ?? "";
  return named === "" ? path.resolve(home, ".plugboard") : path.resolve(named);
}

/** Returns the folder that relative paths of a configuration file start from. */
export function baseDirOf(file: string): string {
  const folder = path.dirname(file);
  const isConfigFolder = (configFolders as readonly string[]).includes(path.basename(folder));
  return isConfigFolder || isOtherHostsFile(file) ? path.dirname(folder) : folder;
}

const otherHostsFolders: ReadonlySet<string> = new Set([".vscode", ".cursor"]);

/** Whether a file lies where VS Code or Cursor keep theirs. */
export function isOtherHostsFile(file: string): boolean {
  return otherHostsFolders.has(path.basename(path.dirname(file)));
}

/** Lists the files that may configure servers for a user who works in `cwd`, nearest first. */
export function configFileCandidates(
  options: UserFolderOptions & { readonly cwd: string; readonly ancestorDepth?: number },
): readonly ConfigFileCandidate[] {
  const folder = userFolder(options);
  const home = path.resolve(options.home ?? os.homedir());
  const userFiles = [path.join(folder, "mcp.json"), path.join(home, ".nexus3", "mcp.json")];
  const depth = Math.min(options.ancestorDepth ?? 2, maxAncestorDepth);

  const candidates: ConfigFileCandidate[] = [];
  let current = path.resolve(options.cwd);
  for (let distance = 0; distance <= depth; distance += 1) {
    // The user's home and the folders above it are no parent projects.
    if (distance > 0 && isWithin(home, current)) break;
    const layer = distance === 0 ? "project" : "ancestor";
    for (const name of projectFiles) candidates.push({ path: path.join(current, name), layer });
    const parent = path.dirname(current);
    if (parent === current) break;
    current = parent;
  }
  return [...candidates, ...userFiles.map((file) => ({ path: file, layer: "user" as const }))];
}
