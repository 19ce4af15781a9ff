import type { ConsentId } from "../../config/keys/server-ids.ts";
import { marksFor, plainQuery } from "../tables/plain-query.ts";
import type { StoreTables } from "../tables/store-tables.ts";
import type { StoreContext } from "./area-writes.ts";

/** The server that an attempt was made with. Two entries that start the same program under two names are two. */
export interface AttemptedServer {
  readonly consentId: ConsentId;
  readonly serverName: string;
}

/** Why the last attempt to connect a server came to nothing. */
export interface StoredFailure extends AttemptedServer {
  /** Names the entry as it was then: another one has not failed. */
  readonly entry: string;
  readonly code: string;
  /** Bounded and without anything secret. */
  readonly message: string;
  readonly failedAt: number;
}

/** A server that was connected, and when. */
export interface StoredSuccess extends AttemptedServer {
  readonly connectedAt: number;
}

/** More than one configuration file may name; the oldest are dropped beyond that. */
const maxFailures = 2_000;

/** The servers whose last attempt failed, of all processes. There is no row about a success: it ends what was known. */
export class FailureRows {
  readonly #context: StoreContext;

  constructor(context: StoreContext) {
    this.#context = context;
  }

  async list(): Promise<readonly StoredFailure[]> {
    const { database } = this.#context;
    const all = "select * from server_failures";
    const rows = await database.read(
      plainQuery<StoreTables["server_failures"]>(database.dialect, all),
    );
    return rows.map((row) => ({
      consentId: row.identity,
      serverName: row.server_name,
      entry: row.entry,
      code: row.code,
      message: row.message,
      failedAt: row.failed_at,
    }));
  }

  /** Keeps failures, each in place of the one before it. */
  async save(failures: readonly StoredFailure[]): Promise<void> {
    if (failures.length === 0) return;
    const { database } = this.#context;
    const queries = await database.queries();
    const saves = failures.map(({ consentId, serverName, entry, code, message, failedAt }) => {
      const changed = { entry, code, message, failed_at: failedAt };
      return queries
        .insertInto("server_failures")
        .values({ identity: consentId, server_name: serverName, ...changed })
        .onConflict((conflict) =>
          conflict.columns(["identity", "server_name"]).doUpdateSet(changed),
        );
    });
    const newest = queries
      .selectFrom("server_failures")
      .select("failed_at")
      .orderBy("failed_at", "desc")
      .limit(1)
      .offset(maxFailures - 1);
    const dropOldest = queries.deleteFrom("server_failures").where("failed_at", "<", newest);
    // Every attempt tells it anew, so the write need not wait for the disk.
    await database.write([...saves, dropOldest], "normal");
  }

  /**
   * Forgets the failures before these successes. Nearly always there is none: that is found out by reading, which takes
   * neither a lock nor the query builder.
   */
  async end(successes: readonly StoredSuccess[]): Promise<void> {
    if (successes.length === 0) return;
    const { database } = this.#context;
    const ids = successes.map(({ consentId }) => consentId);
    const sql = `select * from server_failures where identity in (${marksFor(ids)})`;
    const known = await database.read(
      plainQuery<StoreTables["server_failures"]>(database.dialect, sql, ids),
    );
    const ended = successes.filter(({ consentId, serverName, connectedAt }) =>
      known.some(
        (row) =>
          row.identity === consentId &&
          row.server_name === serverName &&
          row.failed_at <= connectedAt,
      ),
    );
    if (ended.length === 0) return;
    const queries = await database.queries();
    const statements = ended.map(({ consentId, serverName, connectedAt }) =>
      queries
        .deleteFrom("server_failures")
        .where("identity", "=", consentId)
        .where("server_name", "=", serverName)
        .where("failed_at", "<=", connectedAt),
    );
    await database.write(statements, "normal");
  }
}
