import { isBuiltin } from "node:module";

import { createError } from "../../errors/families.ts";
import type { McpError } from "../../errors/mcp-error.ts";
import { findOptionalPackage, hasOptionalPackage } from "../../ports/optional-package.ts";
import { parseStoreLocation } from "../tables/store-location.ts";
import { builtInSqlite } from "./sqlite-driver.mjs";

/** The same interface as native code, for a Node that has no SQLite of its own. */
const sqlitePackage = "@photostructure/sqlite";

export const noSqlite = `Node ${process.versions.node} has no SQLite`;
export const howToGetSqlite = `npm install ${sqlitePackage}, or use Node 22.13 or newer`;

let found: string | undefined;

/** What `loadSqlite` loads here. Throws where this Node has no SQLite and the package is missing. */
export function requireSqlite(place: string): string {
  found ??= isBuiltin(builtInSqlite) ? builtInSqlite : findOptionalPackage(sqlitePackage);
  if (found === undefined) throw sqliteMissing(place);
  return found;
}

/** Whether a store at this location needs a SQLite that is not there. Loads none. */
export function lacksSqlite(location: string): boolean {
  if (parseStoreLocation(location).kind === "postgres" || isBuiltin(builtInSqlite)) return false;
  return !hasOptionalPackage(sqlitePackage);
}

function sqliteMissing(place: string): McpError {
  return createError("store_failed", `the store ${place} cannot be opened: ${noSqlite}`, {
    hint: howToGetSqlite,
    details: { place, problem: "no-driver" },
  });
}
