import type { Compilable } from "kysely";

import type { ConsentId } from "../../config/keys/server-ids.ts";
import { checkExpiry } from "../../policy/capability-set.ts";
import { plainQuery } from "../tables/plain-query.ts";
import type { StoreTables } from "../tables/store-tables.ts";
import type { StoreContext } from "./area-writes.ts";

/** A person's lasting permission: this agent may call this tool, or every tool of this server. */
export interface Grant {
  readonly agent: string;
  readonly consentId: ConsentId;
  /** The tool's original name; absent for the whole server. */
  readonly tool?: string | undefined;
  /** The fingerprint of the definition that the person saw; a changed definition is not covered. */
  readonly fingerprint: string;
  readonly grantedAt: number;
  /** The end of the grant; without one it holds until it is revoked. */
  readonly expiresAt?: number | undefined;
}

export type NewGrant = Omit<Grant, "grantedAt">;

export interface GrantFilter {
  readonly agent?: string | undefined;
  readonly consentId?: ConsentId | undefined;
  readonly tool?: string | undefined;
}

type GrantKey = keyof GrantFilter;

/** The tolerated step back of a corrected clock; a larger one ends grants of limited time. */
const clockSlackMs = 60_000;
const wholeServer = "";

/** Stored grants. A grant that expired never comes back, even when the clock is set back. */
export class GrantRows {
  readonly #context: StoreContext;

  constructor(context: StoreContext) {
    this.#context = context;
  }

  /** Lists the grants in force now. */
  async list(filter: GrantFilter = {}): Promise<readonly Grant[]> {
    const now = this.#context.clock.now();
    const rows = await this.#context.database.read(this.#select(filter));
    if (rows.some((row) => isOver(row, now))) await this.#forget(now);
    return rows.filter((row) => !isOver(row, now) && !isFromFuture(row, now)).map(toGrant);
  }

  /** Stores all of these grants or none. Throws `config_invalid` for an end that is no time. */
  async grant(grants: readonly NewGrant[]): Promise<void> {
    const { database, areas, clock } = this.#context;
    const granted_at = clock.now();
    const queries = await database.queries();
    const statements = grants.map((grant) => {
      const changed = {
        definition_hash: grant.fingerprint,
        granted_at,
        expires_at: toExpiry(grant.expiresAt),
      };
      const { agent, consentId, tool = wholeServer } = grant;
      return queries
        .insertInto("grants")
        .values({ agent, identity: consentId, tool, ...changed })
        .onConflict((conflict) =>
          conflict.columns(["agent", "identity", "tool"]).doUpdateSet(changed),
        );
    });
    await areas.write("grants", statements);
  }

  /** Ends every grant that fits the filter, all of them when it is empty; gives their number. */
  async revoke(filter: GrantFilter): Promise<number> {
    const queries = await this.#context.database.queries();
    const statement = queries.deleteFrom("grants").where((row) => row.and(definedOf(filter)));
    const [revoked = 0] = await this.#context.areas.write("grants", [statement]);
    return revoked;
  }

  #select(filter: GrantFilter): Compilable<StoreTables["grants"]> {
    const conditions = Object.entries(definedOf(filter));
    const where = conditions.map(
      ([column], index) => `${index === 0 ? "where" : "and"} ${column} = ?`,
    );
    const sql = `select * from grants ${where.join(" ")} order by granted_at, agent, identity, tool`;
    const parameters = conditions.map(([, value]) => value);
    return plainQuery(this.#context.database.dialect, sql, parameters);
  }

  /** Removes expired grants, so that no clock brings them back. */
  async #forget(now: number): Promise<void> {
    const { database, areas, logger } = this.#context;
    const queries = await database.queries();
    const statement = queries.deleteFrom("grants").where("expires_at", "<=", now);
    await areas.write("grants", [statement]).catch((error: unknown) => {
      // The grant is not in force either way; a store that cannot be written must still be readable.
      logger.warn("expired grants could not be removed", { error: String(error) });
    });
  }
}

/** The conditions of a filter; an absent part must not become one. */
function definedOf({ agent, consentId, tool }: GrantFilter): Partial<Record<GrantKey, string>> {
  return {
    ...(agent !== undefined && { agent }),
    ...(consentId !== undefined && { identity: consentId }),
    ...(tool !== undefined && { tool }),
  };
}

/** Rounds an end down to whole milliseconds, as Postgres takes them: rather early than late. */
function toExpiry(expiresAt: number | undefined): number | null {
  if (expiresAt === undefined || expiresAt === Number.POSITIVE_INFINITY) return null;
  // SQLite has no NaN and stores nothing in its place: it would be a grant for ever.
  checkExpiry(expiresAt);
  const ends = Math.max(Math.floor(expiresAt), Number.MIN_SAFE_INTEGER);
  return Math.min(ends, Number.MAX_SAFE_INTEGER);
}

function isOver({ expires_at }: StoreTables["grants"], now: number): boolean {
  return expires_at !== null && expires_at <= now;
}

/**
 * Detects a grant of limited time from before the clock was set back: given for an hour, it must not last
 * 25.
 */
function isFromFuture({ expires_at, granted_at }: StoreTables["grants"], now: number): boolean {
  return expires_at !== null && granted_at > now + clockSlackMs;
}

function toGrant(row: StoreTables["grants"]): Grant {
  return {
    agent: row.agent,
    consentId: row.identity,
    ...(row.tool !== wholeServer && { tool: row.tool }),
    fingerprint: row.definition_hash,
    grantedAt: row.granted_at,
    ...(row.expires_at !== null && { expiresAt: row.expires_at }),
  };
}
