import type { Generated } from "kysely";

import type { ConsentId, LaunchId } from "../../config/keys/server-ids.ts";

/**
 * The tables as Kysely sees them; `migrations.ts` makes them so. Times are milliseconds since the epoch,
 * JSON columns hold text, so that both databases give back exactly what was put in.
 */
export interface StoreTables {
  /** The table of the settings store that Kuse documents: these four columns and no more. */
  readonly mcp_servers: {
    readonly id: string;
    readonly name: string;
    readonly config: string;
    readonly status: string;
  };
  readonly approvals: {
    readonly identity: LaunchId;
    readonly server_name: string;
    readonly facts: string;
    readonly approved_at: number;
    readonly approved_by: string;
  };
  readonly grants: {
    readonly agent: string;
    readonly identity: ConsentId;
    /** Empty for a grant that covers the whole server: a key column cannot be null. */
    readonly tool: string;
    readonly definition_hash: string;
    readonly granted_at: number;
    readonly expires_at: number | null;
  };
  readonly pins: {
    readonly identity: ConsentId;
    readonly tool: string;
    readonly state: string;
    readonly fingerprint: string;
    readonly definition: string | null;
    readonly pinned_at: number;
  };
  readonly catalog: {
    readonly identity: ConsentId;
    readonly content: string;
    readonly saved_at: number;
  };
  readonly secrets: {
    readonly id: string;
    readonly envelope: string;
    readonly updated_at: number;
  };
  /** The latest request of each server that running hosts connect it: see `connect-request-rows.ts`. */
  readonly connect_requests: {
    readonly identity: ConsentId;
    readonly server_name: string;
    /** Another one for every request. */
    readonly id: string;
    readonly content: string;
    readonly requested_at: number;
  };
  /** The servers whose last attempt to connect failed: see `failure-rows.ts`. */
  readonly server_failures: {
    readonly identity: ConsentId;
    readonly server_name: string;
    /** A hash of the entry as it was. */
    readonly entry: string;
    readonly code: string;
    readonly message: string;
    readonly failed_at: number;
  };
  /** What one process does on behalf of all: see `lease-rows.ts`. */
  readonly leases: {
    readonly name: string;
    readonly holder: string;
    /** Counted up by the holder as long as it is at work. */
    readonly beat: number;
  };
  /** Pages of the audit trail. People read the view `audit_entries`, which shows an entry as a row. */
  readonly audit: {
    /** Given by the database; order by it and never by time, which follows a clock that may jump. */
    readonly seq: Generated<number>;
    readonly first_at: number;
    readonly last_at: number;
    /** How many entries the page has: see `audit-page.ts`. */
    readonly entries: number;
    /** The page as version 2 wrote it: see `binary-page.ts`. Empty in pages that are JSON. */
    readonly content: Uint8Array;
    /** The length of `heads` and `lines`, which are null in a page of version 2, as this is. */
    readonly bytes: number | null;
    readonly heads: string | null;
    readonly lines: string | null;
  };
  /** One row per area, counted up by every write to it: how other processes notice. */
  readonly revisions: {
    readonly area: string;
    readonly revision: number;
  };
}

/** What `onchange` tells apart. The audit trail is no area: it changes with every call. */
export const storeAreas = [
  "servers",
  "approvals",
  "grants",
  "pins",
  "catalog",
  "secrets",
  "connect-requests",
] as const;
export type StoreArea = (typeof storeAreas)[number];
