import type { CatalogTool } from "../catalog/catalog-tool.ts";
import type { McpError } from "../errors/mcp-error.ts";
import type { Progress, ProtocolClient, RawToolResult } from "../protocol/protocol-client.ts";
import type { QuestionOwner } from "../requests/question-owner.ts";
import type { Caller, ToolArguments } from "./call-path.ts";

/** What a tool that is not simply sent to its server needs to run. */
export interface PerformCall {
  readonly caller: Caller;
  readonly callId: string;
  readonly signal: AbortSignal | undefined;
  /** `0` means no deadline. Whoever performs keeps it, and ends when `signal` aborts. */
  readonly timeoutMs: number;
  readonly onProgress: ((progress: Progress) => void) | undefined;
  /** The open connection of the tool's server; undefined for a native tool. */
  readonly client: ProtocolClient | undefined;
  /** Who answers questions of the server about this call. */
  readonly owner: QuestionOwner;
  /** Said before anything outside can change: a call that fails before that has changed nothing. */
  begin(): void;
  /** Hands over what becomes true only if the call succeeds. */
  hold(draft: CallDraft): void;
}

/** Runs a tool in place of `tools/call`. Rejects with an `McpError`. */
export type PerformTool = (args: ToolArguments, call: PerformCall) => Promise<RawToolResult>;

/** Changes a call has prepared. One of both methods is called, when the outcome is known. */
export interface CallDraft {
  readonly hasChanges: boolean;
  /** The error that kept the changes from being made fails the call. */
  commit(): McpError | undefined;
  drop(): void;
}

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

export type CallableTool = ServerTool | NativeCallable;
