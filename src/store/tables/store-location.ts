import { accessSync, constants, existsSync, statfsSync, statSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

import { userFolder, type UserFolderOptions } from "../../config/files/config-files.ts";
import { createError } from "../../errors/families.ts";
import type { McpError } from "../../errors/mcp-error.ts";
import { storeError } from "./store-error.ts";

/** Where a store lives, told apart once. */
export type StoreLocation =
  | { readonly kind: "memory" }
  | { readonly kind: "file"; readonly file: string }
  | { readonly kind: "postgres"; readonly url: string };

export const memoryLocation = ":memory:";

/** The file a host uses when nobody names another. */
export function defaultStoreFile(options: UserFolderOptions = {}): string {
  return path.join(userFolder(options), "plugboard.db");
}

/** `":memory:"`, `postgres://…`, or the path or address of a file. */
export function parseStoreLocation(location: string): StoreLocation {
  if (location === memoryLocation) return { kind: "memory" };
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(location)?.[1]?.toLowerCase();
  switch (scheme) {
    case undefined:
      return { kind: "file", file: path.resolve(location) };
    case "file":
      return { kind: "file", file: pathOf(location) };
    case "postgres":
    case "postgresql":
      return { kind: "postgres", url: location };
    default:
      // Not the whole address: it may hold a password.
      throw createError("config_invalid", `a store cannot be kept in ${scheme}://`, {
        hint: "name a file, or a database as postgres://…",
      });
  }
}

function pathOf(fileUrl: string): string {
  try {
    return fileURLToPath(fileUrl);
  } catch (error) {
    throw createError("config_invalid", `a store cannot be kept in ${fileUrl}`, {
      hint: "name a file of this machine, as file:///…",
      cause: error,
    });
  }
}

/** Whether there is something to read: a command that only lists need not create a store, nor load one. */
export function storeExists(location: string): boolean {
  const parsed = parseStoreLocation(location);
  return parsed.kind === "postgres" || (parsed.kind === "file" && existsSync(parsed.file));
}

/** The file systems of Linux that show its kernel: to root their folders seem writable, and nothing can be made there. */
const kernelFileSystems: ReadonlySet<number> = new Set([0x9f_a0, 0x62_65_65_72]);

function holdsNoFiles(folder: string): boolean {
  return process.platform === "linux" && kernelFileSystems.has(statfsSync(folder).type);
}

/** Why a store that does not exist could not be created there, as far as that shows without creating anything. */
export function creationObstacle(location: string): McpError | undefined {
  const parsed = parseStoreLocation(location);
  if (parsed.kind !== "file") return undefined;
  let folder = path.dirname(parsed.file);
  while (!existsSync(folder) && folder !== path.dirname(folder)) folder = path.dirname(folder);
  try {
    if (!statSync(folder).isDirectory() || holdsNoFiles(folder))
      return storeError("cannot-open", parsed.file);
    accessSync(folder, constants.W_OK | constants.X_OK);
    return undefined;
  } catch (cause) {
    return storeError("read-only", parsed.file, { cause });
  }
}
