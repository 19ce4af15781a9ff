import type { CallOptions, ToolArguments } from "../call/call-contract.ts";
import type { Outcome } from "../call/outcome.ts";
import type { ToolReference } from "../catalog/tool-origin.ts";
import type { McpError } from "../errors/mcp-error.ts";
import type { Unsubscribe } from "../events/event-bus.ts";
import type {
  HostEvent,
  HostEventOf,
  HostEventType,
  ServerState,
  ToolInvoked,
} from "../events/host-event.ts";
import type { Human } from "../human/human.ts";
import type { ChildRights } from "./child-rights.ts";
import type { AccessReport } from "./explain-access.ts";
import type { McpPromptTemplate } from "./mcp-prompt-template.ts";
import type { NativeTool } from "./native-tools.ts";
import type { Section, SectionOptions } from "./section.ts";
import type { ContentOptions, SessionContent } from "./session-content.ts";
import type { SessionState } from "./session-state.ts";
import type { CallStreamItem } from "./stream-call.ts";
import type { Transaction, TransactionResult } from "./transaction.ts";

/** A tool as an agent sees it: a snapshot whose `execute` takes the guarded path like any call. */
export interface McpTool {
  /** The public name: unique in the session and valid for every model provider. */
  readonly name: string;
  readonly originalName: string;
  readonly source: "native" | "mcp";
  /** Undefined for a native tool. */
  readonly serverName: string | undefined;
  readonly title: string | undefined;
  readonly description: string;
  /** As the server sent it; `toProviderSchema` makes it acceptable to model providers. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly outputSchema: Readonly<Record<string, unknown>> | undefined;
  readonly annotations: Readonly<Record<string, unknown>>;
  /** A call would ask a person first. */
  readonly needsConsent: boolean;
  /** Why calls of this tool are refused, when its schema cannot be used. */
  readonly unusable: string | undefined;
  execute(args?: ToolArguments, options?: CallOptions): Promise<Outcome>;
}

/** How far one server is for this agent, as `ready` found it. */
export interface ServerReadiness {
  /** Its tools are known. It runs, or starts with the first call. */
  readonly ready: boolean;
  readonly state: ServerState;
  /** Why it is not ready: what failed, or why this agent may not use it. */
  readonly error: McpError | undefined;
}

export interface ReadyOptions {
  /** Only these servers; all that the agent can see by default. */
  readonly servers?: readonly string[] | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface LoadToolsOptions {
  readonly signal?: AbortSignal | undefined;
}

/** A call in the envelope that agent frameworks use. */
export interface CallEnvelope {
  readonly name: ToolReference;
  readonly input?: ToolArguments;
  readonly arguments?: ToolArguments;
  readonly callId?: string;
}

export interface ChildOptions extends ChildRights {
  /** Who is asked on the child's behalf; the same as here by default. */
  readonly human?: Human | undefined;
  /** Names of native tools of this session that the child has, too; none by default. */
  readonly tools?: readonly string[] | undefined;
}

/** One agent's view of the host: what it may see and call, on whose behalf a person is asked. */
export interface Session {
  readonly agent: string;
  /** Resources and prompts. */
  readonly content: SessionContent;
  /** What the program and its native tools remember in this session. */
  readonly state: SessionState;
  /**
   * The tools this agent may use: native ones, then those of servers in their order. Waits for servers
   * whose tools are not known yet, so that the first run of a program offers what the second does. One that
   * has failed before is not waited for again; `ready` tries it anew.
   */
  loadTools(options?: LoadToolsOptions): Promise<readonly McpTool[]>;
  /** The same as far as it is known right now. Never throws, starts nothing. */
  tools(): readonly McpTool[];
  /**
   * Connects the servers whose tools are not known yet. Says for each server that the agent can see how far
   * it is and why, also for one that waits for approval or is switched off. Never throws for one.
   */
  ready(options?: ReadyOptions): Promise<Readonly<Record<string, ServerReadiness>>>;
  /** Names of the servers this agent can see. */
  servers(): readonly string[];
  /** That tool among `tools()`. */
  find(tool: ToolReference): McpTool | undefined;
  /** Why this agent may or may not call a tool, step by step. */
  why(tool: ToolReference): AccessReport;
  /**
   * Calls a tool by its public name, as `server.tool` or by its origin `{ server, tool }`. A public name
   * wins over the spelling `server.tool`. Resolves for everything that can happen to a call.
   */
  call(tool: ToolReference, args?: ToolArguments, options?: CallOptions): Promise<Outcome>;
  /**
   * The same as text for a model, quoted where it carries signs of instructions. What the model should
   * read and react to comes back as text, too: `tool_error`, `rpc_error`, `invalid_arguments` and
   * `invalid_result`. Every other failure throws the error of its code, as `errorOfOutcome` gives it:
   * `McpPermissionError` for what is refused or not consented to, `McpToolError` (`tool_unknown`),
   * `McpStateError` (`not_connected`, `closed`), `McpTimeoutError`, `McpConnectionError`,
   * `McpCancelledError` and so on.
   */
  execute(tool: ToolReference, args?: ToolArguments, options?: CallOptions): Promise<string>;
  /** The same as it happens: progress, what the server logs, and the outcome last. Leaving the loop cancels the call. */
  stream(
    tool: ToolReference,
    args?: ToolArguments,
    options?: CallOptions,
  ): AsyncGenerator<CallStreamItem, void>;
  dispatch(envelope: CallEnvelope, options?: CallOptions): Promise<Outcome>;
  /**
   * Adds a tool of the program itself, which is listed and called like any other. Throws `config_invalid`
   * for one that could not be called, or whose name is taken; no tool of a server takes it later.
   */
  defineTool<Params = ToolArguments>(tool: NativeTool<Params>): McpTool;
  /**
   * Runs `work` and makes what it wrote to the state true when it and all calls made through the
   * transaction succeeded. What it throws is thrown again, after the rollback.
   */
  transaction<T>(work: (transaction: Transaction) => T | Promise<T>): Promise<TransactionResult<T>>;
  /** The last 1,000 calls, failed ones included, the oldest first; empty unless the session was made with `history`. */
  history(): readonly ToolInvoked[];
  /** A session for a part of the work, with at most the rights of this one, and a state and consent of its own. */
  child(options?: ChildOptions): Session;
  /** Servers as a part of a prompt. Throws `config_invalid` for a template that cannot be rendered. */
  section(options?: SectionOptions): Section;
  /** A prompt that a server offers, with its arguments. Throws `config_invalid` when there is none of that name. */
  promptTemplate(
    server: string,
    name: string,
    options?: ContentOptions,
  ): Promise<McpPromptTemplate>;
  on<T extends HostEventType>(type: T, handler: (event: HostEventOf<T>) => void): Unsubscribe;
  on(type: "*", handler: (event: HostEvent) => void): Unsubscribe;
}
