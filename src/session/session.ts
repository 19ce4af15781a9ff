import type { CallOptions, ToolArguments } from "../call/call-contract.ts";
import type { Outcome } from "../call/outcome.ts";
import type { ToolReference } from "../catalog/tool-origin.ts";
import type { CodeEntry } from "../config/keys/config-keys.ts";
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
import type { ContentOptions, SessionContent } from "./content/session-content.ts";
import type { McpTool } from "./mcp-tool.ts";
import type { NativeTool } from "./native/native-definition.ts";
import type { Transaction, TransactionResult } from "./native/transaction.ts";
import type { McpPromptTemplate } from "./prompt/mcp-prompt-template.ts";
import type { PromptParams, PromptSection, RenderOptions } from "./prompt/prompt-section.ts";
import type { ChildRights } from "./rights/child-rights.ts";
import type { SessionState } from "./state/session-state.ts";
import type { CallStreamItem } from "./stream-call.ts";
import type { AccessReport } from "./tools/explain-access.ts";

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
  /** Lists the tools that are known right now. Never throws, starts nothing. */
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
   * Calls a tool and gives text for a model, quoted where it carries signs of instructions. What the model
   * should read and react to comes back as text, too: `tool_error`, `rpc_error`, `invalid_arguments` and
   * `invalid_result`. Every other failure throws the error of its code, as `errorOfOutcome` gives it:
   * `McpPermissionError` for what is refused or not consented to, `McpToolError` (`tool_unknown`),
   * `McpStateError` (`not_connected`, `closed`), `McpTimeoutError`, `McpConnectionError`,
   * `McpCancelledError` and so on.
   */
  execute(tool: ToolReference, args?: ToolArguments, options?: CallOptions): Promise<string>;
  /** Calls a tool and yields what happens: progress, what the server logs, and the outcome last. Leaving the loop cancels the call. */
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

export interface SectionOptions {
  /**
   * In the order in which they are rendered; every server the agent may use by default. An object is a
   * server of its own: it joins the host's servers as if it had been given to `createHost`.
   */
  readonly servers?: readonly (string | (CodeEntry & { readonly name: string }))[] | undefined;
  /** `MCP Integrations` by default. */
  readonly title?: string | undefined;
  /** `mcp.integrations` by default. */
  readonly key?: string | undefined;
  /**
   * The text in place of the inventory. Besides `params` it may use `${server_names}`, `${tool_count}`
   * and `${tools_by_server}`.
   */
  readonly template?: string | undefined;
  readonly params?: readonly string[] | undefined;
  /** Connects at once; `ready` says how that ended. */
  readonly connectOnInit?: boolean | undefined;
  readonly acceptsOverrides?: boolean | undefined;
  /** Whether the prompt speaks of servers without tools; `show` by default. */
  readonly emptyServers?: "show" | "omit" | undefined;
}

export interface SectionConnectOptions {
  readonly signal?: AbortSignal | undefined;
  /** Time for each server that has to be started. */
  readonly timeoutMs?: number | undefined;
  /**
   * `allow`: the section does without servers that cannot be connected, as long as one can. Without it
   * one that fails ends the others.
   */
  readonly partial?: "allow" | undefined;
}

/**
 * Servers of one session as a part of a prompt. It starts nothing before `connect`; what it connected is
 * open until `disconnect`, unless somebody else needs it.
 */
export interface Section extends PromptSection, AsyncDisposable {
  readonly title: string;
  /** How the connecting ended that `connectOnInit` began; resolved without it. */
  readonly ready: Promise<void>;
  /** All servers of the section are connected. */
  readonly connected: boolean;
  readonly anyConnected: boolean;
  /**
   * Connects all servers at the same time; does nothing for those that are connected. When one cannot be
   * connected, the section is disconnected and its error thrown; of several the first one's code, with
   * `details.failures` and an `AggregateError` as its cause. `partial` keeps those that can be connected.
   */
  connect(options?: SectionConnectOptions): Promise<void>;
  /** Idempotent. Nobody else's connection is ended. */
  disconnect(): Promise<void>;
  /** This section, connected: for `await using`, which disconnects it. */
  open(options?: SectionConnectOptions): Promise<Section>;
  /** The tools this agent may use, by server and then as listed; frozen. `McpConnectionError` before `connect`. */
  tools(): readonly McpTool[];
  /** Lists the tools after the connecting that `connectOnInit` began; rejects with how that failed. */
  loadTools(): Promise<readonly McpTool[]>;
  /** `McpConnectionError` before `connect`. */
  render(params?: PromptParams, options?: RenderOptions): string;
  /**
   * Makes the same section for another session of this host, to be connected on its own. It shares the
   * connections; tools, consent and events are those of its session.
   */
  clone(session: Session): Section;
}
