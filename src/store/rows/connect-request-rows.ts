import { randomUUID } from "node:crypto";

import type { ConsentId } from "../../config/keys/server-ids.ts";
import { plainQuery } from "../tables/plain-query.ts";
import type { StoreTables } from "../tables/store-tables.ts";
import { parseObjectColumn } from "../tables/stored-text.ts";
import type { StoreContext } from "./area-writes.ts";

/** A request that the hosts of a store connect a server: what was asked for is the host's own matter. */
export interface StoredConnectRequest {
  /** Another one for every request. */
  readonly id: string;
  readonly consentId: ConsentId;
  readonly serverName: string;
  readonly content: Readonly<Record<string, unknown>>;
}

export type NewConnectRequest = Omit<StoredConnectRequest, "id">;

/** The latest request of each server. A host compares the ids with those it knows, so no clock decides what is new. */
export class ConnectRequestRows {
  readonly #context: StoreContext;

  constructor(context: StoreContext) {
    this.#context = context;
  }

  async list(): Promise<readonly StoredConnectRequest[]> {
    const { database } = this.#context;
    const all = "select * from connect_requests";
    const rows = await database.read(
      plainQuery<StoreTables["connect_requests"]>(database.dialect, all),
    );
    return rows.map((row) => ({
      id: row.id,
      consentId: row.identity,
      serverName: row.server_name,
      content: parseObjectColumn(row.content) ?? {},
    }));
  }

  /** Replaces an earlier request for the same server; gives the id of the new one. */
  async put({ consentId, serverName, content }: NewConnectRequest): Promise<string> {
    const { database, areas, clock } = this.#context;
    const id = randomUUID();
    const changed = { id, content: JSON.stringify(content), requested_at: clock.now() };
    const queries = await database.queries();
    const statement = queries
      .insertInto("connect_requests")
      .values({ identity: consentId, server_name: serverName, ...changed })
      .onConflict((conflict) => conflict.columns(["identity", "server_name"]).doUpdateSet(changed));
    await areas.write("connect-requests", [statement], "normal");
    return id;
  }
}
