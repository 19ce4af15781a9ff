export interface ServerEntry {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd?: string | undefined;
  /** It speaks HTTP: the suite runs it, and the subject gets its address. */
  readonly http?: HttpAccess | undefined;
}

/** How to talk to a server that has an address. */
export interface HttpAccess {
  readonly headers?: Readonly<Record<string, string>>;
  readonly transport: HttpKind;
  /** Another spelling of this machine, or another machine, instead of `127.0.0.1`. */
  readonly host?: string;
}

export type HttpKind = "http" | "streamable-http" | "sse" | "http-post" | "rest";

/** The servers of a row by name; `H` is the healthy one. */
export type ServerEntries = Readonly<Record<string, ServerEntry>>;

export interface RunningHttpServer {
  readonly url: string;
  readonly transport?: HttpKind;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What a subject is given: a program to start, or the address of one that runs. */
export type RunningEntry = ServerEntry | RunningHttpServer;
export type RunningEntries = Readonly<Record<string, RunningEntry>>;

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
  /** The text was longer and is marked as such. */
  readonly isCut: boolean;
  readonly structured: unknown;
  /** Empty when all went well. */
  readonly code: string;
  /** The error in words; empty likewise. */
  readonly message: string;
  /** What the server attached to its own error. */
  readonly errorData: unknown;
  /** The error in data, with whether it may be tried again. */
  readonly details: Readonly<Record<string, unknown>>;
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
  /** Messages that came too fast and were dropped. */
  readonly overRate: number;
  /** Log messages of servers that reached its user. */
  readonly serverLogs: number;
  /** Warnings about servers that reached its user. */
  readonly warnings: number;
  /** Warnings that went to its own log. */
  readonly loggedWarnings: number;
}

/** What is under attack: the product, or the stock client for comparison. */
export interface Subject extends AsyncDisposable {
  /** Resolves for everything that can happen to a call, starting its server when that is not running. */
  call(call: AttackedCall): Promise<CallEnd>;
  /** Ends the connection to a server; the next call opens a new one. */
  disconnect(server: string): Promise<void>;
  /** Its log of what the server printed, as people see it. */
  logs(server: string): readonly string[];
  /** All that people see of what a server printed: the log, the reason of its last end, the log of the subject itself. */
  texts(server: string): readonly string[];
  /** What it would tell a person about the server now. */
  view(server: string): ServerView;
  readonly counts: SubjectCounts;
}

export interface ServerView {
  /** Empty where a subject has no such thing. */
  readonly state: string;
  readonly tools: number;
  readonly pid: number | undefined;
}
