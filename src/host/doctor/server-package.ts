import { realpathSync } from "node:fs";
import { readFile } from "node:fs/promises";
import path from "node:path";

import {
  cachedPackage,
  type PackageManifest,
  readManifest,
} from "../../approval/cached-package.ts";
import { findPackages, type FoundPackage } from "../../approval/find-packages.ts";
import type { Machine } from "../../approval/locate-launch.ts";
import type { ServerConfig, StdioTransportConfig } from "../../config/keys/server-config.ts";
import { expandFolders } from "../../config/variables/variable-reference.ts";
import { findCommand } from "../../isolation/process/find-command.ts";
import { launchEnvironment } from "../../isolation/process/launch-environment.ts";
import { launchFolder } from "../../isolation/process/launch-folder.ts";
import { reveal } from "../../text/secrets/secret-text.ts";

/** A server that is a process of this machine. */
export type StdioServer = ServerConfig & { readonly transport: StdioTransportConfig };

export function isStdio(config: ServerConfig): config is StdioServer {
  return config.transport.kind === "stdio";
}

/** Lists the packages that the command fetches; none also where that is not clear. */
export function fetchedPackages({ transport }: StdioServer): readonly FoundPackage[] {
  const found = findPackages(transport.command, transport.args.map(reveal));
  return found === "unclear" ? [] : found;
}

/** Finds the file that a word stands for where the server would be started; looks at files only. */
function findWhereStarted(
  word: string,
  config: StdioServer,
  { hostEnv, platform, ground }: Machine,
): string | undefined {
  const { env, envPassthrough, inheritEnv } = config.transport;
  const values = Object.entries(env).map(([name, value]) => [name, reveal(value)] as const);
  return findCommand(expandFolders(word, ground), {
    cwd: launchFolder(config, ground),
    env: launchEnvironment(config, {
      hostEnv,
      env: Object.fromEntries(values),
      envPassthrough,
      inheritEnv,
      platform,
      ground,
    }),
    platform,
  });
}

const maxFoldersUp = 8;

/** Reads the manifest of the package that the server is a program of; undefined where none is known. */
export async function packageOf(
  config: StdioServer,
  machine: Machine,
): Promise<PackageManifest | undefined> {
  const fetched = fetchedPackages(config).find(({ kind }) => kind === "npm");
  if (fetched !== undefined) return await cachedPackage(fetched.name, machine.hostEnv);
  const script = scriptOf(config, machine);
  if (script === undefined) return undefined;
  let folder = path.dirname(script);
  for (let steps = 0; steps < maxFoldersUp; steps += 1) {
    const manifest = await readManifest(path.join(folder, "package.json"));
    const parent = path.dirname(folder);
    if (manifest !== undefined || parent === folder) return manifest;
    folder = parent;
  }
  return undefined;
}

/** Finds the JavaScript file that Node runs: the first argument of `node`, or a command that is such a file. */
function scriptOf(config: StdioServer, machine: Machine): string | undefined {
  const { command, args } = config.transport;
  const folder = launchFolder(config, machine.ground);
  const isNode = isCalledNode(command);
  const word = isNode ? args.map(reveal).find((arg) => !arg.startsWith("-")) : undefined;
  const file =
    word === undefined
      ? findWhereStarted(command, config, machine)
      : path.resolve(folder, expandFolders(word, machine.ground));
  const target = file === undefined ? undefined : realPath(file);
  return target !== undefined && /\.[cm]?[jt]s$/.test(target) ? target : undefined;
}

function isCalledNode(command: string): boolean {
  return /(?:^|[\\/])node(?:\.exe)?$/i.test(command);
}

/**
 * Tells the version of the Node that runs the server, without starting it; undefined where it cannot be told. Another
 * Node than this one tells its version by the header files that are installed with it.
 */
export async function nodeVersionOf(
  config: StdioServer,
  machine: Machine,
): Promise<string | undefined> {
  const { command } = config.transport;
  const file = findWhereStarted(isCalledNode(command) ? command : "node", config, machine);
  if (file === undefined) return undefined;
  if (file === realPath(process.execPath)) return process.versions.node;
  const header = path.join(path.dirname(file), "..", "include", "node", "node_version.h");
  const text = await readFile(header, "utf8").catch(() => "");
  const parts = ["MAJOR", "MINOR", "PATCH"].map(
    (part) => new RegExp(`^#define NODE_${part}_VERSION (\\d+)$`, "m").exec(text)?.[1],
  );
  return parts.includes(undefined) ? undefined : parts.join(".");
}

function realPath(file: string): string | undefined {
  try {
    return realpathSync.native(file);
  } catch {
    return undefined;
  }
}
