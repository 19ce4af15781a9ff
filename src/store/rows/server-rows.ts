import type { ServerState } from "../../events/host-event.ts";
import { parseObjectColumn } from "../tables/stored-text.ts";
import type { StoreContext } from "./area-writes.ts";

export interface ServerRow {
  readonly id: string;
  /** For display. */
  readonly name: string;
  /** The server's entry, as it was given. */
  readonly config: Readonly<Record<string, unknown>>;
  /** The last one some process saw; whoever needs the present one asks its own connection. */
  readonly status: string;
}

export type NewServerRow = Omit<ServerRow, "status"> & { readonly status?: ServerState };

/** The table `mcp_servers`: servers added on the page or by a command. */
export class ServerRows {
  readonly #context: StoreContext;

  constructor(context: StoreContext) {
    this.#context = context;
  }

  /** Ordered by name. An entry that cannot be read is left out and warned about. */
  async list(): Promise<readonly ServerRow[]> {
    const { database, logger } = this.#context;
    const rows = await database.read(
      database.queries.selectFrom("mcp_servers").selectAll().orderBy("name").orderBy("id"),
    );
    return rows.flatMap((row) => {
      const config = parseObjectColumn(row.config);
      if (config !== undefined) return [{ ...row, config }];
      logger.warn("a stored server has an entry that is no JSON object", { id: row.id });
      return [];
    });
  }

  /** Adds the row or replaces name and entry of the one with that id, whose status stays. */
  async put({ id, name, config, status }: NewServerRow): Promise<void> {
    const changed = { name, config: JSON.stringify(config), ...(status && { status }) };
    const statement = this.#context.database.queries
      .insertInto("mcp_servers")
      .values({ id, status: "idle", ...changed })
      .onConflict((conflict) => conflict.column("id").doUpdateSet(changed));
    await this.#context.areas.write("servers", [statement]);
  }

  /** By name. Says nothing to other processes: a status is each one's own. */
  async setStatuses(statuses: ReadonlyMap<string, ServerState>): Promise<void> {
    const { database } = this.#context;
    const statements = [...statuses].map(([name, status]) =>
      database.queries
        .updateTable("mcp_servers")
        .set({ status })
        .where("name", "=", name)
        .where("status", "!=", status),
    );
    if (statements.length > 0) await database.write(statements, "normal");
  }

  /** Whether there was one. */
  async remove(id: string): Promise<boolean> {
    const statement = this.#context.database.queries.deleteFrom("mcp_servers").where("id", "=", id);
    const [removed] = await this.#context.areas.write("servers", [statement]);
    return removed === 1;
  }
}
