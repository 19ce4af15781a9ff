import { existsSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

import { userFolder, type UserFolderOptions } from "../config/config-files.ts";
import { createError } from "../errors/families.ts";

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
