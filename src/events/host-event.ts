import type { ErrorCode } from "../errors/error-codes.ts";

/** One vocabulary for API, command line, page and store. */
export type ServerState =
  | "idle"
  | "connecting"
  | "connected"
  | "reconnecting"
  | "needs_auth"
  | "pending"
  | "disconnected"
  | "error"
  | "disabled";

export interface ServerStateEvent {
  readonly type: "server-state";
  readonly serverName: string;
  /** The agent whose own connection it is; null for everybody's. */
  readonly owner: string | null;
  readonly state: ServerState;
  readonly previous: ServerState;
  readonly error?: { readonly code: ErrorCode; readonly message: string };
  readonly at: number;
}

export interface ToolsChangedEvent {
  readonly type: "tools-changed";
  readonly serverName: string;
  readonly toolCount: number;
  /** Original names, compared with what was known of the server before. */
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly string[];
  readonly at: number;
}

/** The configuration changed while the host was running; the others keep their connections. */
export interface ServersChangedEvent {
  readonly type: "servers-changed";
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly string[];
  readonly at: number;
}

/** Events of one call: `session.on` delivers those of its own session only. */
interface CallEvent {
  readonly sessionId: string;
  readonly callId: string;
  readonly at: number;
}

export interface CallStartEvent extends CallEvent {
  readonly type: "call-start";
  readonly agent: string;
  /** Null for a native tool. */
  readonly serverName: string | null;
  /** The tool's own name. */
  readonly toolName: string;
  readonly publicName: string;
}

export interface CallEndEvent extends CallEvent {
  readonly type: "call-end";
  readonly agent: string;
  readonly serverName: string | null;
  /** The tool's own name; null when the called name belongs to no tool. */
  readonly toolName: string | null;
  /** Where no tool was found: the name that was called. */
  readonly publicName: string;
  readonly ok: boolean;
  /** Null when the call succeeded. */
  readonly code: ErrorCode | null;
  readonly durationMs: number;
}

export interface CallProgressEvent extends CallEvent {
  readonly type: "call-progress";
  readonly serverName: string | null;
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

export interface ConsentEvent extends CallEvent {
  readonly type: "consent-asked" | "consent-granted" | "consent-denied";
  readonly agent: string;
  /** Null for a tool of the program itself. */
  readonly serverName: string | null;
  readonly toolName: string;
  /**
   * How far a `yes` goes, or who said no; `outdated` when what was asked about is gone. Absent while the
   * question is open.
   */
  readonly answer?: string;
}

/** Somebody decided how often the tools of a server are asked about. */
export interface ConsentModeEvent {
  readonly type: "consent-mode-set";
  /** Null: for everybody who has no mode of their own. */
  readonly agent: string | null;
  readonly serverName: string;
  readonly mode: "ask-per-server" | "ask-per-tool" | "allow-all";
  readonly at: number;
}

/** A server was disconnected on purpose: what sessions were allowed of it, and its modes, no longer count. */
export interface ConsentEndedEvent {
  readonly type: "consent-ended";
  /** Null: for everybody. */
  readonly agent: string | null;
  readonly serverName: string;
  readonly at: number;
}

/** A lasting right was given or taken back. */
export interface GrantEvent {
  readonly type: "grant-added" | "grant-revoked";
  readonly agent: string | null;
  readonly serverName: string | null;
  /** Original names; empty: all that there were. */
  readonly toolNames: readonly string[];
  readonly at: number;
}

/** A person is asked whether a server may start, has said yes or no, or has taken a yes back. */
export interface ApprovalEvent {
  readonly type: "launch-asked" | "launch-approved" | "launch-denied" | "launch-revoked";
  readonly serverName: string;
  readonly launchId: string;
  readonly at: number;
}

/** Somebody has signed in to a server, or has signed out. */
export interface SignInEvent {
  readonly type: "signed-in" | "signed-out";
  readonly serverName: string;
  /** The host of whoever issued the token. */
  readonly issuer: string;
  readonly at: number;
}

/** A tool is not offered until a person accepts its definition, or has been accepted. */
export interface PinEvent {
  readonly type: "tool-quarantined" | "tool-accepted";
  readonly serverName: string;
  readonly toolName: string;
  /** `changed`: not what it was. `suspect`: new, and it reads like an attack. */
  readonly reason: "changed" | "suspect";
  readonly at: number;
}

/** What a server asks of its host: of a person, of the program's model, of the host itself. */
export type RequestKind = "elicitation" | "sampling" | "roots";

/** Events of one question; what was asked and answered is in neither. */
interface RequestEvent {
  readonly serverName: string;
  /** The agent over whose own connection it came; null for everybody's. */
  readonly owner: string | null;
  readonly kind: RequestKind;
  /** Pairs question and answer. */
  readonly requestId: string;
  /** The call it belongs to, when that is certain. */
  readonly sessionId?: string;
  readonly callId?: string;
  readonly at: number;
}

export interface RequestAskedEvent extends RequestEvent {
  readonly type: "request-asked";
}

export interface RequestAnsweredEvent extends RequestEvent {
  readonly type: "request-answered";
  /**
   * `declined`: somebody said no, or nobody could be asked. `cancelled`: put away, out of time or no
   * longer wanted. `refused`: it was no proper question, and nobody was asked. `failed`: whoever had to
   * answer could not.
   */
  readonly outcome: "answered" | "declined" | "cancelled" | "refused" | "failed";
  readonly durationMs: number;
}

export interface ServerLogEvent {
  readonly type: "server-log";
  readonly serverName: string;
  /** The agent over whose own connection it came; null for everybody's. */
  readonly owner: string | null;
  readonly level: string;
  /** Neutralized and cut. */
  readonly text: string;
  readonly at: number;
}

/** Something the host noticed and worked around: a bad entry, a refused tool, a failed handler. */
export interface WarningEvent {
  readonly type: "warning";
  /** Absent when it is about none, or about several. */
  readonly serverName?: string;
  /** The session it is about: no other one hears it. */
  readonly sessionId?: string;
  readonly text: string;
  readonly at: number;
}

/** The session's state is another one; what it holds is for the session to tell. */
export interface StateChangedEvent {
  readonly type: "state-changed";
  readonly sessionId: string;
  readonly keys: readonly string[];
  readonly at: number;
}

/** A transaction is over. */
export interface TransactionEndEvent {
  readonly type: "transaction-end";
  readonly sessionId: string;
  readonly committed: boolean;
  /** Calls made in it, in order. */
  readonly callIds: readonly string[];
  /** `possible`: servers were asked to do something, which a rollback does not undo. */
  readonly sideEffects: "none" | "possible";
  readonly at: number;
}

/**
 * What a finished call looks like to a session's observer, native tools included. Arguments and result
 * are the program's own, as they are: whoever writes them down has to leave out what is secret.
 */
export interface ToolInvoked extends CallEvent {
  readonly type: "tool-invoked";
  /** The tool's own name; null when the called name belongs to no tool. */
  readonly toolName: string | null;
  /** Where no tool was found: the name that was called. */
  readonly publicName: string;
  readonly params: Readonly<Record<string, unknown>> | null;
  readonly result: { readonly message: string; readonly value: unknown; readonly success: boolean };
  readonly source: "native" | "mcp";
  readonly mcpServer: string | null;
  readonly durationMs: number;
}

/** Everything an outsider can observe. */
export type HostEvent =
  | ServerStateEvent
  | ToolsChangedEvent
  | ServersChangedEvent
  | CallStartEvent
  | CallProgressEvent
  | CallEndEvent
  | ConsentEvent
  | ConsentModeEvent
  | ConsentEndedEvent
  | GrantEvent
  | ApprovalEvent
  | SignInEvent
  | PinEvent
  | RequestAskedEvent
  | RequestAnsweredEvent
  | ServerLogEvent
  | WarningEvent
  | StateChangedEvent
  | TransactionEndEvent
  | ToolInvoked;

export type HostEventType = HostEvent["type"];
export type HostEventOf<T extends HostEventType> = EventOf<HostEvent, T>;

/** Unlike `Extract`, finds an event whose interface stands for several types. */
type EventOf<Event, T> = Event extends { readonly type: infer Types }
  ? T extends Types
    ? Event
    : never
  : never;
