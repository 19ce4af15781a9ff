import type { ConsentId } from "../config/server-ids.ts";
import { parseJsonColumn } from "./json-column.ts";
import type { StoreContext } from "./store-context.ts";
import type { StoreTables } from "./store-tables.ts";

/** `accepted`: what may be called. `quarantined`: what the server says now and nobody has looked at. */
export type PinState = "accepted" | "quarantined";

export interface ToolDefinition {
  readonly tool: string;
  readonly fingerprint: string;
  /** To show the difference; large ones are not kept, their fingerprint is. */
  readonly definition?: unknown;
}

export interface Pin {
  readonly tool: string;
  readonly state: PinState;
  readonly fingerprint: string;
  readonly pinnedAt: number;
}

const maxDefinitionBytes = 64 * 1024;
const maxDefinitionBytesPerServer = 8 * 1024 * 1024;
/** Few enough that building the statement takes milliseconds. */
const rowsPerWrite = 500;

/** What each tool of a server was when it was first seen, or last accepted. */
export class PinRows {
  readonly #context: StoreContext;

  constructor(context: StoreContext) {
    this.#context = context;
  }

  /** Both states of every tool that has them. */
  async list(consentId: ConsentId): Promise<readonly Pin[]> {
    const { database } = this.#context;
    const rows = await database.read(
      database.queries
        .selectFrom("pins")
        .select(["tool", "state", "fingerprint", "pinned_at"])
        .where("identity", "=", consentId)
        .orderBy("tool")
        .orderBy("state"),
    );
    return rows.map((row) => ({
      tool: row.tool,
      state: toState(row.state),
      fingerprint: row.fingerprint,
      pinnedAt: row.pinned_at,
    }));
  }

  /** What one tool was and is said to be now, for a person to compare. */
  async definitions(
    consentId: ConsentId,
    tool: string,
  ): Promise<Readonly<Partial<Record<PinState, ToolDefinition>>>> {
    const { database } = this.#context;
    const rows = await database.read(
      database.queries
        .selectFrom("pins")
        .selectAll()
        .where("identity", "=", consentId)
        .where("tool", "=", tool),
    );
    return Object.fromEntries(
      rows.map(({ state, fingerprint, definition }) => [
        toState(state),
        {
          tool,
          fingerprint,
          ...(definition !== null && { definition: parseJsonColumn(definition) }),
        },
      ]),
    );
  }

  /**
   * Accepts tools that were never seen before and leaves all others alone: of two processes that see a
   * tool first, one pins it. Read the list afterwards to know what holds.
   */
  async acceptNew(consentId: ConsentId, definitions: readonly ToolDefinition[]): Promise<void> {
    const budget = { bytesLeft: maxDefinitionBytesPerServer };
    for (let start = 0; start < definitions.length; start += rowsPerWrite) {
      const some = definitions.slice(start, start + rowsPerWrite);
      const statement = this.#context.database.queries
        .insertInto("pins")
        .values(some.map((definition) => this.#row(consentId, "accepted", definition, budget)))
        .onConflict((conflict) => conflict.doNothing());
      await this.#context.areas.write("pins", [statement]);
    }
  }

  /** Records what a tool has changed to; what was accepted stays beside it. */
  async quarantine(consentId: ConsentId, definition: ToolDefinition): Promise<void> {
    const budget = { bytesLeft: maxDefinitionBytes };
    const row = this.#row(consentId, "quarantined", definition, budget);
    const { fingerprint, definition: text, pinned_at } = row;
    const statement = this.#context.database.queries
      .insertInto("pins")
      .values(row)
      .onConflict((conflict) =>
        conflict
          .columns(["identity", "tool", "state"])
          .doUpdateSet({ fingerprint, definition: text, pinned_at }),
      );
    await this.#context.areas.write("pins", [statement]);
  }

  /** Accepts the quarantined definition with this fingerprint; false when it is another one by now. */
  async accept(consentId: ConsentId, tool: string, fingerprint: string): Promise<boolean> {
    const { database, areas, clock } = this.#context;
    const { queries } = database;
    const shown = queries
      .selectFrom("pins as shown")
      .select("shown.tool")
      .where("shown.identity", "=", consentId)
      .where("shown.tool", "=", tool)
      .where("shown.state", "=", "quarantined")
      .where("shown.fingerprint", "=", fingerprint);
    const dropOld = queries
      .deleteFrom("pins")
      .where("identity", "=", consentId)
      .where("tool", "=", tool)
      .where("state", "=", "accepted")
      .where((row) => row.exists(shown));
    const promote = queries
      .updateTable("pins")
      .set({ state: "accepted", pinned_at: clock.now() })
      .where("identity", "=", consentId)
      .where("tool", "=", tool)
      .where("state", "=", "quarantined")
      .where("fingerprint", "=", fingerprint);
    const [, promoted] = await areas.write("pins", [dropOld, promote]);
    return promoted === 1;
  }

  /** The server went back to what was accepted. */
  async release(consentId: ConsentId, tool: string): Promise<void> {
    const statement = this.#context.database.queries
      .deleteFrom("pins")
      .where("identity", "=", consentId)
      .where("tool", "=", tool)
      .where("state", "=", "quarantined");
    await this.#context.areas.write("pins", [statement]);
  }

  /** Forgets a server's tools: all will be new again. Gives the number of pins. */
  async remove(consentId: ConsentId): Promise<number> {
    const statement = this.#context.database.queries
      .deleteFrom("pins")
      .where("identity", "=", consentId);
    const [removed = 0] = await this.#context.areas.write("pins", [statement]);
    return removed;
  }

  #row(
    consentId: ConsentId,
    state: PinState,
    { tool, fingerprint, definition }: ToolDefinition,
    budget: { bytesLeft: number },
  ): StoreTables["pins"] {
    const text = definition === undefined ? null : JSON.stringify(definition);
    const bytes = text === null ? 0 : Buffer.byteLength(text);
    const isKept = bytes <= Math.min(maxDefinitionBytes, budget.bytesLeft);
    if (isKept) budget.bytesLeft -= bytes;
    const pinned_at = this.#context.clock.now();
    return {
      identity: consentId,
      tool,
      state,
      fingerprint,
      definition: isKept ? text : null,
      pinned_at,
    };
  }
}

/** Whatever is not clearly accepted is not. */
function toState(state: string): PinState {
  return state === "accepted" ? "accepted" : "quarantined";
}
