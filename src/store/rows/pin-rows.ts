import type { Compilable } from "kysely";

import { TimeSlice } from "../../async/time-slice.ts";
import { maxPinsPerServer } from "../../config/keys/limits.ts";
import type { ConsentId } from "../../config/keys/server-ids.ts";
import { marksFor, plainQuery } from "../tables/plain-query.ts";
import type { QueryBuilder, StoreDialect } from "../tables/store-database.ts";
import type { StoreTables } from "../tables/store-tables.ts";
import { parseJsonColumn } from "../tables/stored-text.ts";
import type { StoreContext } from "./area-writes.ts";

/** `accepted` definitions may be called. `quarantined` ones are what the server lists now, not yet reviewed. */
export type PinState = "accepted" | "quarantined";

export interface StoredDefinition {
  readonly tool: string;
  readonly fingerprint: string;
  /** The definition, for showing differences; of a large one only the fingerprint is kept. */
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
/**
 * The most accepted rows of a server: twice as many as are accepted without a person, since people accept
 * further tools.
 */
const maxAcceptedRows = 2 * maxPinsPerServer;
/**
 * The most quarantined rows of a server; nobody reviews a longer list. The host that listed the tools
 * holds all of them in memory.
 */
const maxQuarantinedRows = 500;
const maxQuarantinedBytes = 1024 * 1024;
const maxRows = maxAcceptedRows + maxQuarantinedRows;
/** The number of rows that one statement reads, which takes milliseconds. */
const rowsPerRead = 1_000;
/** The number of rows that one statement writes; building it takes milliseconds. */
const rowsPerWrite = 500;
const charsPerWrite = 1024 * 1024;
const idsPerRead = 500;

const pinColumns = [
  "identity",
  "tool",
  "state",
  "fingerprint",
  "definition",
  "pinned_at",
] as const satisfies readonly (keyof StoreTables["pins"])[];

/** The number of pins that one query gathers for several servers, which takes milliseconds. */
const maxGathered = 5_000;

/** The accepted pins of one server: JSON of pairs of a tool and its fingerprint. */
interface GatheredPins {
  readonly identity: ConsentId;
  /** PostgreSQL returns it as text. */
  readonly tools: number | string;
  readonly pairs: string;
}

interface AcceptedSize {
  readonly rows: number;
  readonly chars: number;
}

/** Stored pins: the definition that each tool of a server had when it was first seen or last accepted. */
export class PinRows {
  readonly #context: StoreContext;

  constructor(context: StoreContext) {
    this.#context = context;
  }

  /** Lists the accepted and quarantined pins of a server; a bounded number, whatever the server listed. */
  async list(consentId: ConsentId): Promise<readonly Pin[]> {
    const pins: Pin[] = [];
    const slice = new TimeSlice();
    for (;;) {
      const page = await this.#page(consentId, pins.at(-1));
      pins.push(...page);
      if (page.length < rowsPerRead || pins.length >= maxRows) return pins;
      await slice.next();
    }
  }

  async #page(consentId: ConsentId, last: Pin | undefined): Promise<readonly Pin[]> {
    const { database } = this.#context;
    const queries = await database.queries();
    const ofServer = queries
      .selectFrom("pins")
      .select(["tool", "state", "fingerprint", "pinned_at"])
      .where("identity", "=", consentId);
    const behind =
      last === undefined
        ? ofServer
        : ofServer.where((row) =>
            row.or([
              row("tool", ">", last.tool),
              row.and([row("tool", "=", last.tool), row("state", ">", last.state)]),
            ]),
          );
    const rows = await database.read(behind.orderBy("tool").orderBy("state").limit(rowsPerRead));
    return rows.map((row) => ({
      tool: row.tool,
      state: toState(row.state),
      fingerprint: row.fingerprint,
      pinnedAt: row.pinned_at,
    }));
  }

  /**
   * Reads the accepted fingerprint of each tool of these servers, of all of them with one query: every start asks for
   * them. There is an answer for each server, also for one of which nothing is accepted.
   */
  async accepted(
    consentIds: readonly ConsentId[],
  ): Promise<ReadonlyMap<ConsentId, ReadonlyMap<string, string>>> {
    const { database } = this.#context;
    if (consentIds.length === 0) return new Map();
    const some = `select identity, tool, fingerprint from pins where state = 'accepted' and identity in (${marksFor(consentIds)}) limit ${maxGathered + 1}`;
    const sql = `select identity, count(*) as tools, ${asJsonList(database.dialect)} as pairs from (${some}) as accepted group by identity`;
    const rows = await database.read(plainQuery<GatheredPins>(database.dialect, sql, consentIds));
    const read = rows.reduce((total, { tools }) => total + Number(tools), 0);
    const gathered = new Map(rows.map(({ identity, pairs }) => [identity, parsePairs(pairs)]));
    const answers = new Map<ConsentId, ReadonlyMap<string, string>>();
    for (const consentId of consentIds) {
      const isAbsent = read <= maxGathered && !gathered.has(consentId);
      const known = isAbsent ? new Map<string, string>() : gathered.get(consentId);
      const isKnown = known !== undefined && read <= maxGathered;
      answers.set(consentId, isKnown ? known : await this.#acceptedOneByOne(consentId));
    }
    return answers;
  }

  /** Reads in portions what is too much for one query, or what JSON cannot carry. */
  async #acceptedOneByOne(consentId: ConsentId): Promise<ReadonlyMap<string, string>> {
    const accepted = (await this.list(consentId)).filter(({ state }) => state === "accepted");
    return new Map(accepted.map(({ tool, fingerprint }) => [tool, fingerprint]));
  }

  /** Reads the accepted and the quarantined definition of one tool, for a person to compare. */
  async definitions(
    consentId: ConsentId,
    tool: string,
  ): Promise<Readonly<Partial<Record<PinState, StoredDefinition>>>> {
    const { database } = this.#context;
    const queries = await database.queries();
    const rows = await database.read(
      queries
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
   * tool first, one pins it. Gives the servers of which something was left alone: read the list of these to
   * know what holds. Tools of many servers share a transaction.
   */
  async acceptNew(
    definitions: ReadonlyMap<ConsentId, readonly StoredDefinition[]>,
  ): Promise<ReadonlySet<ConsentId>> {
    const leftAlone = new Set<ConsentId>();
    const added: Iterable<StoreTables["pins"]>[] = [];
    const sizes = await this.#acceptedSizes([...definitions.keys()]);
    for (const [consentId, ofServer] of definitions) {
      const { rows, chars } = sizes.get(consentId) ?? { rows: 0, chars: 0 };
      const fitting = ofServer.slice(0, Math.max(0, maxPinsPerServer - rows));
      if (fitting.length < ofServer.length) leftAlone.add(consentId);
      const budget = { bytesLeft: maxDefinitionBytesPerServer - chars };
      added.push(this.#rows(consentId, "accepted", fitting, budget));
    }
    for await (const some of inParts(added)) {
      const [inserted] = await this.#add(some);
      if (inserted !== some.length) for (const { identity } of some) leftAlone.add(identity);
    }
    return leftAlone;
  }

  /**
   * Replaces the quarantined definitions of a server by these; accepted ones stay beside them. Also removes
   * accepted rows beyond `maxAcceptedRows`.
   */
  async replaceQuarantined(
    consentId: ConsentId,
    definitions: readonly StoredDefinition[],
  ): Promise<void> {
    const { database, areas } = this.#context;
    const queries = await database.queries();
    const ofServer = queries.deleteFrom("pins").where("identity", "=", consentId);
    const counted = queries
      .selectFrom("pins as counted")
      .select("counted.tool")
      .where("counted.identity", "=", consentId)
      .where("counted.state", "=", "accepted")
      .orderBy("counted.tool")
      .limit(maxAcceptedRows);
    await areas.write("pins", [
      ofServer.where("state", "=", "quarantined"),
      ofServer.where("state", "=", "accepted").where("tool", "not in", counted),
    ]);
    const budget = { bytesLeft: maxQuarantinedBytes };
    const first = definitions.slice(0, maxQuarantinedRows);
    for await (const some of inParts([this.#rows(consentId, "quarantined", first, budget)]))
      await this.#add(some);
  }

  /** Records the definition a tool has changed to; the accepted one stays beside it. */
  async quarantine(consentId: ConsentId, definition: StoredDefinition): Promise<void> {
    const queries = await this.#context.database.queries();
    await this.#context.areas.write("pins", [this.#quarantining(queries, consentId, definition)]);
  }

  /** Accepts the quarantined definition with this fingerprint; false when it is another one by now. */
  async accept(consentId: ConsentId, tool: string, fingerprint: string): Promise<boolean> {
    const queries = await this.#context.database.queries();
    const statements = this.#accepting(queries, consentId, tool, fingerprint);
    return (await this.#context.areas.write("pins", statements)).at(-1) === 1;
  }

  /** Quarantines and accepts in one step: nobody else can replace what was shown in between. */
  async acceptShown(consentId: ConsentId, definition: StoredDefinition): Promise<boolean> {
    const { tool, fingerprint } = definition;
    const queries = await this.#context.database.queries();
    const statements = [
      this.#quarantining(queries, consentId, definition),
      ...this.#accepting(queries, consentId, tool, fingerprint),
    ];
    return (await this.#context.areas.write("pins", statements)).at(-1) === 1;
  }

  #quarantining(
    queries: QueryBuilder,
    consentId: ConsentId,
    definition: StoredDefinition,
  ): Compilable {
    const budget = { bytesLeft: maxDefinitionBytes };
    const row = this.#row(consentId, "quarantined", definition, budget);
    const { fingerprint, definition: text, pinned_at } = row;
    return queries
      .insertInto("pins")
      .values(row)
      .onConflict((conflict) =>
        conflict
          .columns(["identity", "tool", "state"])
          .doUpdateSet({ fingerprint, definition: text, pinned_at }),
      );
  }

  /**
   * Builds the statements of one acceptance. The last one changes one row, or none when another definition
   * is quarantined.
   */
  #accepting(
    queries: QueryBuilder,
    consentId: ConsentId,
    tool: string,
    fingerprint: string,
  ): readonly Compilable[] {
    const { clock } = this.#context;
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
    return [dropOld, promote];
  }

  /** Removes all pins of a server, so that its tools count as new; returns their number. */
  async remove(consentId: ConsentId): Promise<number> {
    const queries = await this.#context.database.queries();
    const statement = queries.deleteFrom("pins").where("identity", "=", consentId);
    const [removed = 0] = await this.#context.areas.write("pins", [statement]);
    return removed;
  }

  /** Adds rows for which there is none yet. */
  async #add(rows: readonly StoreTables["pins"][]): Promise<readonly number[]> {
    const { database, areas } = this.#context;
    const marks = rows.map(() => `(${marksFor(pinColumns)})`).join(", ");
    // Written out: the query builder makes objects of every value, which takes longer than all the rest of a write.
    const sql = `insert into pins (${pinColumns.join(", ")}) values ${marks} on conflict do nothing`;
    const values = rows.flatMap((row) => pinColumns.map((column) => row[column]));
    return await areas.write("pins", [plainQuery(database.dialect, sql, values)]);
  }

  /** Measures what is accepted of each of these servers; those of which nothing is accepted are left out. */
  async #acceptedSizes(
    consentIds: readonly ConsentId[],
  ): Promise<ReadonlyMap<ConsentId, AcceptedSize>> {
    const { database } = this.#context;
    const queries = await database.queries();
    const sizes = new Map<ConsentId, AcceptedSize>();
    for (let start = 0; start < consentIds.length; start += idsPerRead) {
      const some = consentIds.slice(start, start + idsPerRead);
      const known = await database.read(
        queries.selectFrom("pins").select("identity").distinct().where("identity", "in", some),
      );
      for (const { identity } of known) sizes.set(identity, await this.#acceptedSize(identity));
    }
    return sizes;
  }

  /** Counts the accepted tools and the bytes of their stored definitions. */
  async #acceptedSize(consentId: ConsentId): Promise<AcceptedSize> {
    const { database } = this.#context;
    const queries = await database.queries();
    const [size] = await database.read(
      queries
        .selectFrom("pins")
        .select((row) => [
          row.fn.countAll<number | string>().as("rows"),
          row.fn
            .sum<number | string | null>(
              row.fn<number>("length", [row.cast<string>("definition", "text")]),
            )
            .as("chars"),
        ])
        .where("identity", "=", consentId)
        .where("state", "=", "accepted"),
    );
    // PostgreSQL returns both as text, because they may exceed the range of a number.
    return { rows: Number(size?.rows ?? 0), chars: Number(size?.chars ?? 0) };
  }

  *#rows(
    consentId: ConsentId,
    state: PinState,
    definitions: readonly StoredDefinition[],
    budget: { bytesLeft: number },
  ): Generator<StoreTables["pins"]> {
    for (const definition of definitions) yield this.#row(consentId, state, definition, budget);
  }

  #row(
    consentId: ConsentId,
    state: PinState,
    { tool, fingerprint, definition }: StoredDefinition,
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

/**
 * Splits rows into numbers that one statement takes; other work gets its turn while definitions become
 * JSON.
 */
async function* inParts(
  lists: readonly Iterable<StoreTables["pins"]>[],
): AsyncGenerator<readonly StoreTables["pins"][]> {
  const slice = new TimeSlice();
  let part: StoreTables["pins"][] = [];
  let chars = 0;
  for (const rows of lists)
    for (const row of rows) {
      if (slice.isOver) await slice.next();
      part.push(row);
      chars += row.definition?.length ?? 0;
      if (part.length < rowsPerWrite && chars < charsPerWrite) continue;
      yield part;
      part = [];
      chars = 0;
    }
  if (part.length > 0) yield part;
}

/** A row of its own for each pin takes a driver five times as long. */
function asJsonList(dialect: StoreDialect): string {
  return dialect === "sqlite"
    ? "json_group_array(json_array(tool, fingerprint))"
    : "json_agg(json_build_array(tool, fingerprint))::text";
}

/** Undefined for what is no list of pairs: the name of a tool may hold what JSON does not take as it is. */
function parsePairs(text: string): ReadonlyMap<string, string> | undefined {
  const pairs = parseJsonColumn(text);
  return Array.isArray(pairs) ? new Map(pairs as readonly [string, string][]) : undefined;
}

/** Reads a state that is not clearly accepted as quarantined. */
function toState(state: string): PinState {
  return state === "accepted" ? "accepted" : "quarantined";
}
