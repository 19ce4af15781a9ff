import type { CatalogTool } from "../catalog/catalog-tool.ts";
import type { ToolReference } from "../catalog/tool-origin.ts";
import type { ServerConnection } from "../connection/server-connection.ts";
import type { McpError } from "../errors/mcp-error.ts";
import type { ToolInvoked } from "../events/host-event.ts";
import type { Human } from "../human/human.ts";
import type { Denial } from "../policy/decide-access.ts";
import type { ConsentRule } from "../policy/decide-consent.ts";
import type { Progress, ProtocolClient, RawToolResult } from "../protocol/protocol-client.ts";
import type { RequestOwner } from "../protocol/wire/request-owner.ts";
import type { RegisteredServer } from "../registry/server-registry.ts";

export type ToolArguments = Readonly<Record<string, unknown>>;

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  /** Deadline for the answer, without the server's start; `0` means none. */
  readonly timeoutMs?: number | undefined;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** The caller's own id for this call, carried through events and outcome. */
  readonly callId?: string | undefined;
}

/** The session on whose behalf the call path works. */
export interface Caller {
  readonly agent: string;
  readonly sessionId: string;
  /** Who answers what a server asks in the middle of a call. */
  readonly human: Human | undefined;
  /** Finds the tool, connecting a server that may own it. Throws `tool_unknown` and the like. */
  resolve(called: CalledTool, signal: AbortSignal | undefined): CallTarget | Promise<CallTarget>;
  /** Sees every call of the session when it is over, whoever else does. */
  readonly onInvoked?: ((event: ToolInvoked) => void) | undefined;
  /**
   * Asks the person; rejects with `consent_denied` unless the answer is yes. `false`: the tool that the
   * person said yes to is no longer there.
   */
  askConsent(target: CallTarget, args: ToolArguments, call: ConsentCall): Promise<boolean>;
}

/** The tool that a call is about, as its caller named it. */
export interface CalledTool {
  readonly reference: ToolReference;
  /** `Caller.resolve` writes the tool's public name here when the reference is no public name. */
  publicName: string;
}

/** A tool that a call named, with the verdict on it for one agent. */
export interface CallTarget {
  readonly tool: CallableTool;
  /** Undefined for native tools, and for tools that were registered without a server. */
  readonly server: RegisteredServer | undefined;
  /** The connection that this agent uses; undefined without a server, or for one it cannot see. */
  readonly connection: ServerConnection | undefined;
  /** Why the authorization chain says no, consent aside. */
  readonly denial: Denial | undefined;
  /** Which rule of consent lets the call through; `ask` when a person has to. */
  readonly consent: ConsentRule;
}

export interface ConsentCall {
  readonly callId: string;
  /** The JSON of the arguments, letter by letter what is sent. */
  readonly argumentsText: string;
  readonly signal: AbortSignal | undefined;
}

export type CallableTool = ServerTool | NativeCallable;

/** A tool of a server. */
export interface ServerTool extends CatalogTool {
  /** Set when the tool is the host's own way to use the server. */
  readonly perform?: PerformTool | undefined;
}

/** A tool that the program itself runs. */
export interface NativeCallable extends Omit<CatalogTool, "serverName" | "listed"> {
  readonly serverName: undefined;
  readonly perform: PerformTool;
  readonly timeoutMs: number | undefined;
  /** The program wants a person to be asked before every call that was not allowed before. */
  readonly needsConsent: boolean;
}

/** Runs a tool in place of `tools/call`. Rejects with an `McpError`. */
export type PerformTool = (args: ToolArguments, call: PerformCall) => Promise<RawToolResult>;

/** The call that a `PerformTool` runs. */
export interface PerformCall {
  readonly caller: Caller;
  readonly callId: string;
  readonly signal: AbortSignal | undefined;
  /** `0` means no deadline. The `PerformTool` keeps it, and ends when `signal` aborts. */
  readonly timeoutMs: number;
  readonly onProgress: ((progress: Progress) => void) | undefined;
  /** The open connection of the tool's server; undefined for a native tool. */
  readonly client: ProtocolClient | undefined;
  /** The call, as the owner of the requests that are made for it. */
  readonly owner: RequestOwner;
  /** Must be called before anything outside can change: a call that fails before that has no side effects. */
  begin(): void;
  /** Hands over changes that are made only if the call succeeds. */
  hold(draft: CallDraft): void;
}

/** Changes a call has prepared. One of both methods is called, when the outcome is known. */
export interface CallDraft {
  readonly hasChanges: boolean;
  /** The error that kept the changes from being made fails the call. */
  commit(): McpError | undefined;
  drop(): void;
}
