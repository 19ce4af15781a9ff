import { isBuiltin } from "node:module";

import { createError } from "../../errors/families.ts";
import type { McpError } from "../../errors/mcp-error.ts";
import { findOptionalPackage } from "../../ports/optional-package.ts";
import { parseStoreLocation } from "../tables/store-location.ts";
import { builtInSqlite } from "./sqlite-driver.mjs";

/** The same interface as native code, for a Node that has no SQLite of its own. */
const sqlitePackage = "@photostructure/sqlite";

export const noSqlite = `Node ${process.versions.node} has no SQLite`;
export const howToGetSqlite = `npm install ${sqlitePackage}, or use Node 22.13 or newer`;

/** What `loadSqlite` loads here; undefined where this Node has no SQLite and the package is missing. */
function findSqlite(): string | undefined {
  return isBuiltin(builtInSqlite) ? builtInSqlite : findOptionalPackage(sqlitePackage);
}

/** Like `findSqlite`, for those who cannot do without. */
export function requireSqlite(place: string): string {
  const driver = findSqlite();
  if (driver === undefined) throw sqliteMissing(place);
  return driver;
}

/** Whether a store at this location needs a SQLite that is not there. Loads none. */
export function lacksSqlite(location: string): boolean {
  return parseStoreLocation(location).kind !== "postgres" && findSqlite() === undefined;
}

function sqliteMissing(place: string): McpError {
  return createError("store_failed", `the store ${place} cannot be opened: ${noSqlite}`, {
    hint: howToGetSqlite,
    details: { place, problem: "no-driver" },
  });
}
