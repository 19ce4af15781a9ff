export interface ServerEntry {
  readonly command: string;
  readonly args: readonly string[];
}

/** The servers of a row by name; `H` is the healthy one. */
export type ServerEntries = Readonly<Record<string, ServerEntry>>;

/** What the product can be given besides. */
export type AnyServerEntries = Readonly<Record<string, ServerEntry | { readonly url: string }>>;

export interface Report {
  readonly progress: number;
  readonly total?: number | undefined;
  readonly message?: string | undefined;
}

export interface AttackedCall {
  readonly server: string;
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** Longest silence. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((report: Report) => void) | undefined;
}

/** How one call ended, whoever made it. */
export interface CallEnd {
  readonly ok: boolean;
  readonly text: string;
  readonly structured: unknown;
  /** Empty when all went well. */
  readonly code: string;
  /** What the server attached to its own error. */
  readonly errorData: unknown;
  readonly tookMs: number;
}

/** Counted by the subject itself. */
export interface SubjectCounts {
  /** Calls whose end was announced another number of times than once. */
  readonly doubleEnds: number;
  /** Failures inside that were caught and only logged, or ended a call as unexpected. */
  readonly internalErrors: number;
  /** Responses that it noticed and dropped. */
  readonly dropped: number;
  /** Warnings about servers that reached its user. */
  readonly warnings: number;
}

/** What is under attack: the product, or the stock client for comparison. */
export interface Subject extends AsyncDisposable {
  /** Resolves for everything that can happen to a call, starting its server when that is not running. */
  call(call: AttackedCall): Promise<CallEnd>;
  /** Ends the connection to a server; the next call opens a new one. */
  disconnect(server: string): Promise<void>;
  readonly counts: SubjectCounts;
}
