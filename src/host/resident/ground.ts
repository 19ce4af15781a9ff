import { createHash, createHmac } from "node:crypto";
import { realpathSync } from "node:fs";
import os from "node:os";
import path from "node:path";

import { configFileCandidates } from "../../config/files/config-files.ts";
import { readOwnVersion } from "../../ports/package-files.ts";
import type { HostOptions } from "../host.ts";
import { ownEnvironment, ownFolder, storeLocation } from "../own-files.ts";

type Variables = Readonly<Record<string, string | undefined>>;

/** Where a host that runs for others leaves its address. */
export interface ResidentPlace {
  /** Only the user may enter it. */
  readonly folder: string;
  /** The file with the address and the token. */
  readonly record: string;
  readonly socket: string;
}

/** The longest path of a socket that every system takes, with its end. */
const maxSocketPath = 103;

/**
 * The place of the host that reads the same files in the same folder with the same store, in this version: a
 * process that differs in one of them looks elsewhere, and finds nobody.
 */
export function residentPlace(
  options: HostOptions,
  version: string = readOwnVersion(),
): ResidentPlace {
  const cwd = realFolder(path.resolve(options.cwd ?? "."));
  const env = ownEnvironment(options);
  const files =
    options.configFiles?.map((file) => path.resolve(cwd, file)) ??
    configFileCandidates({ cwd, home: options.home, env }).map((candidate) => candidate.path);
  const ground = [version, cwd, files, storeLocation(options) ?? null];
  const key = createHash("sha256").update(JSON.stringify(ground)).digest("hex").slice(0, 24);
  const folder = path.join(ownFolder(options), "run");
  return { folder, record: path.join(folder, `${key}.json`), socket: socketPath(folder, key) };
}

function socketPath(folder: string, key: string): string {
  if (process.platform === "win32") return `\\\\.\\pipe\\plugboard-${key}`;
  const beside = path.join(folder, `${key}.sock`);
  if (Buffer.byteLength(beside) <= maxSocketPath) return beside;
  // A deep home: the folder for temporary files holds a folder that only the user may enter, too.
  return path.join(os.tmpdir(), `plugboard-${process.geteuid?.() ?? 0}`, `${key}.sock`);
}

function realFolder(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return folder;
  }
}

/**
 * Stands for the values of variables without telling them: equal for equal values, and of no use to whoever does
 * not know the token.
 */
export function environmentMark(names: readonly string[], env: Variables, token: string): string {
  const values = names.toSorted().map((name) => [name, env[name] ?? null]);
  return createHmac("sha256", token).update(JSON.stringify(values)).digest("hex");
}
