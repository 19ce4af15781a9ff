import { createError } from "../../errors/families.ts";
import { latestVersion } from "./schema-version.ts";
import type { MigrationStep, StoreDatabase } from "./store-database.ts";

export interface MigrateStoreOptions {
  /** Tests bring steps of their own. */
  readonly steps?: readonly MigrationStep[];
  readonly latest?: number;
}

/**
 * Brings the store up to date; gives the version that it had. One that is newer than this program, or another
 * program's, is refused untouched.
 */
export async function migrateStore(
  database: StoreDatabase,
  options: MigrateStoreOptions = {},
): Promise<number> {
  const { place } = database;
  const latest = options.latest ?? latestVersion;
  const { version, isEmpty } = await database.schemaState();
  if (version === latest) return version;
  if (version > latest)
    throw createError(
      "store_failed",
      `the store ${place} was written by a newer version of Plugboard (schema ${version}, this one knows ${latest}); it was left as it is`,
      { hint: "update Plugboard", details: { place, problem: "newer", version, latest } },
    );
  if (version === 0 && !isEmpty)
    throw createError(
      "store_failed",
      `${place} is a database of another program; it was left as it is`,
      { hint: "name another file for the store", details: { place, problem: "foreign" } },
    );
  await database.migrate(options.steps ?? (await allSteps(database)));
  return version;
}

/** Most stores are up to date, and need none of this. */
async function allSteps(database: StoreDatabase): Promise<readonly MigrationStep[]> {
  const { migrationSteps } = await import("./migrations.ts");
  return migrationSteps(await database.queries(), database.dialect);
}
