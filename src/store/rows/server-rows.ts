import { isDeepStrictEqual } from "node:util";

import type { Compilable } from "kysely";

import type { ConsentId } from "../../config/keys/server-ids.ts";
import type { ServerState } from "../../events/host-event.ts";
import { plainQuery } from "../tables/plain-query.ts";
import type { StoreTables } from "../tables/store-tables.ts";
import { parseObjectColumn } from "../tables/stored-text.ts";
import type { StoreContext } from "./area-writes.ts";
import { markErasure } from "./erasure.ts";

export interface ServerRow {
  readonly id: string;
  /** The name for display. */
  readonly name: string;
  /** The server's entry as it was given. */
  readonly config: Readonly<Record<string, unknown>>;
  /** The last status that any process saw. The current one is known only to the connection itself. */
  readonly status: string;
}

export type NewServerRow = Omit<ServerRow, "status"> & { readonly status?: ServerState };

/** An entry in place of the one that a row has. */
export interface ExchangedEntry {
  readonly id: string;
  readonly before: ServerRow["config"];
  readonly config: ServerRow["config"];
  /** What the consents of the server are kept under, with the one entry and with the other. */
  readonly consentIds: { readonly before: ConsentId; readonly after: ConsentId } | undefined;
}

/** The columns of the tables that are kept under a `ConsentId`, beside that. */
const consentTables = {
  grants: "agent, tool, definition_hash, granted_at, expires_at",
  pins: "tool, state, fingerprint, definition, pinned_at",
  catalog: "content, saved_at",
} as const;

/** Copies what is kept under one id to another. It stays where it was, for servers that have the same entry. */
function copyConsents(
  { before, after }: NonNullable<ExchangedEntry["consentIds"]>,
  query: (sql: string, ...parameters: readonly unknown[]) => Compilable,
): readonly Compilable[] {
  return Object.entries(consentTables).map(([table, columns]) =>
    query(
      `insert into ${table} (identity, ${columns}) select cast(? as text), ${columns} from ${table} where identity = ? on conflict do nothing`,
      after,
      before,
    ),
  );
}

/** Stores the servers that were added on the page or by a command, in the table `mcp_servers`. */
export class ServerRows {
  readonly #context: StoreContext;

  constructor(context: StoreContext) {
    this.#context = context;
  }

  /** Lists the servers by name. An entry that cannot be read is left out with a warning. */
  async list(): Promise<readonly ServerRow[]> {
    const { database, logger } = this.#context;
    const all = "select * from mcp_servers order by name, id";
    const rows = await database.read(plainQuery<StoreTables["mcp_servers"]>(database.dialect, all));
    return rows.flatMap((row) => {
      const config = parseObjectColumn(row.config);
      if (config !== undefined) return [{ ...row, config }];
      logger.warn("a stored server has an entry that is no JSON object", { id: row.id });
      return [];
    });
  }

  /** Adds a row; false, and nothing is changed, when there is one with that id. */
  async add({ id, name, config, status = "idle" }: NewServerRow): Promise<boolean> {
    const queries = await this.#context.database.queries();
    const statement = queries
      .insertInto("mcp_servers")
      .values({ id, name, config: JSON.stringify(config), status })
      .onConflict((conflict) => conflict.column("id").doNothing());
    const [added] = await this.#context.areas.write("servers", [statement]);
    return added === 1;
  }

  /** Adds a row, or replaces name and entry of the row with that id and keeps its status. */
  async put({ id, name, config, status }: NewServerRow): Promise<void> {
    const changed = { name, config: JSON.stringify(config), ...(status && { status }) };
    const queries = await this.#context.database.queries();
    const statement = queries
      .insertInto("mcp_servers")
      .values({ id, status: "idle", ...changed })
      .onConflict((conflict) => conflict.column("id").doUpdateSet(changed));
    await this.#context.areas.write("servers", [statement]);
  }

  /**
   * Replaces the entry of a row, unless it is another one than `before` by now: then false, and nothing is changed.
   * What was accepted and allowed for the server counts for the new entry, too; that the old one is erased is due from
   * then on, see `Erasure`.
   */
  async exchange({ id, before, config, consentIds }: ExchangedEntry): Promise<boolean> {
    const { database, areas } = this.#context;
    const { dialect } = database;
    const query = <Row>(sql: string, ...parameters: readonly unknown[]): Compilable<Row> =>
      plainQuery<Row>(dialect, sql, parameters);
    const one = "select config from mcp_servers where id = ?";
    const [row] = await database.read(query<Pick<StoreTables["mcp_servers"], "config">>(one, id));
    if (row === undefined || !isDeepStrictEqual(parseObjectColumn(row.config), before))
      return false;
    const replace = query(
      "update mcp_servers set config = ? where id = ? and cast(config as text) = ?",
      JSON.stringify(config),
      id,
      row.config,
    );
    const copies = consentIds === undefined ? [] : copyConsents(consentIds, query);
    const mark = dialect === "sqlite" ? [markErasure(dialect)] : [];
    const [changed] = await areas.write("servers", [replace, ...copies, ...mark]);
    return changed === 1;
  }

  /** Sets the status of servers by name. Other processes are not notified: each has a status of its own. */
  async setStatuses(statuses: ReadonlyMap<string, ServerState>): Promise<void> {
    const { database } = this.#context;
    if (statuses.size === 0) return;
    const queries = await database.queries();
    const statements = [...statuses].map(([name, status]) =>
      queries
        .updateTable("mcp_servers")
        .set({ status })
        .where("name", "=", name)
        .where("status", "!=", status),
    );
    await database.write(statements, "normal");
  }

  /** Removes a server; returns whether there was one. */
  async remove(id: string): Promise<boolean> {
    const queries = await this.#context.database.queries();
    const statement = queries.deleteFrom("mcp_servers").where("id", "=", id);
    const [removed] = await this.#context.areas.write("servers", [statement]);
    return removed === 1;
  }
}
