import type { AuditFilter, AuditQuery, AuditRow } from "../store/audit/audit-entry.ts";

/**
 * What happened: every call and every decision, without arguments, results or secrets. Times of a query
 * that are no numbers are refused as `config_invalid`; after the host's end everything is `closed`.
 */
export interface Audit {
  /** Newest first, a page at a time. Empty where nothing is kept. */
  query(query?: AuditQuery): Promise<readonly AuditRow[]>;
  /** Everything that fits as JSON lines, oldest first, safe for a terminal. */
  export(filter?: AuditFilter): AsyncGenerator<string, void, undefined>;
}
