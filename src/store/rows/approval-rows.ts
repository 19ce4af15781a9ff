import type { LaunchId } from "../../config/keys/server-ids.ts";
import { plainQuery } from "../tables/plain-query.ts";
import type { StoreTables } from "../tables/store-tables.ts";
import { parseObjectColumn } from "../tables/stored-text.ts";
import type { StoreContext } from "./area-writes.ts";

export interface Approval {
  readonly launchId: LaunchId;
  readonly serverName: string;
  /** The readable parts behind the hash, for showing later changes. */
  readonly facts: Readonly<Record<string, string>>;
  readonly approvedAt: number;
  /** The person and the surface that approved: `cli`, `page`, … */
  readonly approvedBy: string;
}

export type NewApproval = Omit<Approval, "approvedAt">;

/** The rows of launches that a person has approved. */
export class ApprovalRows {
  readonly #context: StoreContext;

  constructor(context: StoreContext) {
    this.#context = context;
  }

  async find(launchId: LaunchId): Promise<Approval | undefined> {
    const [found] = await this.#read("where identity = ?", [launchId]);
    return found;
  }

  /** Lists the approvals, newest first. A changed entry is compared with the first one of its name. */
  list(serverName?: string): Promise<readonly Approval[]> {
    const newestFirst = "order by approved_at desc, identity";
    return serverName === undefined
      ? this.#read(newestFirst)
      : this.#read(`where server_name = ? ${newestFirst}`, [serverName]);
  }

  async approve(approval: NewApproval): Promise<void> {
    const { database, areas, clock } = this.#context;
    const changed = {
      server_name: approval.serverName,
      facts: JSON.stringify(approval.facts),
      approved_at: clock.now(),
      approved_by: approval.approvedBy,
    };
    const queries = await database.queries();
    const statement = queries
      .insertInto("approvals")
      .values({ identity: approval.launchId, ...changed })
      .onConflict((conflict) => conflict.column("identity").doUpdateSet(changed));
    await areas.write("approvals", [statement]);
  }

  /** Ends every approval that fits the filter; returns their number. */
  async revoke(
    which: { readonly launchId: LaunchId } | { readonly serverName: string },
  ): Promise<number> {
    const all = (await this.#context.database.queries()).deleteFrom("approvals");
    const statement =
      "launchId" in which
        ? all.where("identity", "=", which.launchId)
        : all.where("server_name", "=", which.serverName);
    const [revoked = 0] = await this.#context.areas.write("approvals", [statement]);
    return revoked;
  }

  /** Reads the rows that this end of a query leaves. */
  async #read(which: string, parameters: readonly string[] = []): Promise<readonly Approval[]> {
    const { database } = this.#context;
    const sql = `select * from approvals ${which}`;
    const rows = await database.read(
      plainQuery<StoreTables["approvals"]>(database.dialect, sql, parameters),
    );
    return rows.map((row) => ({
      launchId: row.identity,
      serverName: row.server_name,
      // The hash alone decides, so unreadable parts only leave less to show.
      facts: (parseObjectColumn(row.facts) ?? {}) as Approval["facts"],
      approvedAt: row.approved_at,
      approvedBy: row.approved_by,
    }));
  }
}
