import type { AuditFilter, AuditQuery, AuditRow } from "../store/audit-entry.ts";

/** What happened: every call and every decision, without arguments, results or secrets. */
export interface Audit {
  /** Newest first, a page at a time. Empty where nothing is kept. */
  query(query?: AuditQuery): Promise<readonly AuditRow[]>;
  /** Everything that fits as JSON lines, oldest first. */
  export(filter?: AuditFilter): AsyncGenerator<string, void, undefined>;
}
