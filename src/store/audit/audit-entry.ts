/** One thing that happened. Arguments and results do not belong here; the caller redacts what it adds. */
export interface AuditEntry {
  /** What kind of thing: the type of an event. */
  readonly type: string;
  readonly at: number;
  readonly agent?: string | undefined;
  readonly server?: string | undefined;
  readonly tool?: string | undefined;
  /** How it ended: an error code, or `ok`. */
  readonly code?: string | undefined;
  readonly detail?: Readonly<Record<string, unknown>> | undefined;
}

export interface AuditRow extends AuditEntry {
  /** Grows with every row and is never given twice. */
  readonly seq: number;
}

export interface AuditFilter {
  /** Milliseconds since the epoch, both inclusive. */
  readonly since?: number | undefined;
  readonly until?: number | undefined;
  readonly type?: string | undefined;
  readonly agent?: string | undefined;
  readonly server?: string | undefined;
  readonly tool?: string | undefined;
  readonly code?: string | undefined;
  /** Only what ended well, or only calls and uses of content that did not. */
  readonly outcome?: "ok" | "failed" | undefined;
  /** Only rows after this one: the `seq` of the last row that was seen. */
  readonly after?: number | undefined;
}

export interface AuditFollow extends AuditFilter {
  /** Ends the iteration. */
  readonly signal?: AbortSignal | undefined;
}

export interface AuditQuery extends AuditFilter {
  /** 100 by default, 1,000 at most. */
  readonly limit?: number | undefined;
  /** Only rows before this one: the `seq` of the last row of the answer before. */
  readonly before?: number | undefined;
}

/**
 * What happened: every call and every decision, without arguments, results or secrets. Times of a query
 * that are no numbers are refused as `config_invalid`; after the host's end everything is `closed`.
 */
export interface Audit {
  /** Newest first, a page at a time. Empty where nothing is kept. */
  query(query?: AuditQuery): Promise<readonly AuditRow[]>;
  /** Everything that fits as JSON lines, oldest first, safe for a terminal. */
  export(filter?: AuditFilter): AsyncGenerator<string, void, undefined>;
  /** What is recorded from now on, or after the row `after`, by any program of the store; until `signal` aborts. */
  follow(filter?: AuditFollow): AsyncGenerator<AuditRow, void, undefined>;
}
