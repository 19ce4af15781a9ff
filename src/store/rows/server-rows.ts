import type { ServerState } from "../../events/host-event.ts";
import { plainQuery } from "../tables/plain-query.ts";
import type { StoreTables } from "../tables/store-tables.ts";
import { parseObjectColumn } from "../tables/stored-text.ts";
import type { StoreContext } from "./area-writes.ts";

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
