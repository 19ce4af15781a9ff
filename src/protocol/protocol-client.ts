import type { Limits } from "../config/keys/limits.ts";
import type { McpError } from "../errors/mcp-error.ts";
import type { Clock } from "../ports/clock.ts";
import type { Logger } from "../ports/logger.ts";
import type { ChannelTransport } from "./wire/channel-transport.ts";
import type { InputHandlers } from "./wire/input-handlers.ts";
import type { ListKind } from "./wire/list-kind.ts";
import type { ProtocolEra } from "./wire/protocol-versions.ts";
import type { RequestOwner } from "./wire/request-owner.ts";

export interface ServerIdentity {
  readonly name: string;
  readonly version: string;
  readonly title?: string;
}

export interface Progress {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

export interface RequestOptions {
  readonly signal?: AbortSignal | undefined;
  /** Deadline for the answer; each progress report starts it anew, up to the total limit. `0` means none. */
  readonly timeoutMs?: number | undefined;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** Asks the server even where an earlier answer of it is still good. */
  readonly fresh?: boolean | undefined;
  /** Keeps the text of the response beside the result of a tool, for whoever passes it on. */
  readonly keepRaw?: boolean | undefined;
  /** On whose behalf: the handlers of questions that the server asks about this request get to see it. */
  readonly owner?: RequestOwner | undefined;
}

export interface ToolCallOptions extends RequestOptions {
  /** The JSON of the arguments, where the caller has it: it is sent as it is. */
  readonly argumentsText?: string | undefined;
}

/**
 * A tool as the server listed it. Checked: `name` is a string of 1 to 128 characters without control
 * characters, schemas are objects where they are given. What a schema says is not.
 */
export interface ListedTool {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly inputSchema?: unknown;
  readonly outputSchema?: unknown;
  readonly annotations?: Readonly<Record<string, unknown>>;
  readonly icons?: unknown;
  readonly _meta?: Readonly<Record<string, unknown>>;
  /** Why the tool cannot be used. Nothing but its name was taken from the list then. */
  readonly refusal?: string;
}

export interface ToolListing {
  readonly tools: readonly ListedTool[];
  /** Entries that were no tool at all, with the reason; they are left out of `tools`. */
  readonly rejected: readonly { readonly name: string | null; readonly reason: string }[];
  /** Set when a cap ended the listing early: what was capped and at which figure. */
  readonly truncatedBy?: string;
}

/** A tool's result with its shape checked: `content` is always there, blocks are objects with a `type`. */
export interface RawToolResult {
  readonly content: readonly ContentBlock[];
  readonly structuredContent?: unknown;
  readonly isError: boolean;
  readonly _meta?: Readonly<Record<string, unknown>>;
  /**
   * The whole response as it came. Only with `keepRaw`, from a transport that has it, and when the
   * server asked for nothing in between.
   */
  readonly raw?: string;
}

export interface ContentBlock {
  readonly type: string;
  readonly [key: string]: unknown;
}

export interface ServerNotification {
  readonly method: string;
  readonly params?: Readonly<Record<string, unknown>>;
}

/**
 * The MCP client of one server, over a transport that is already open and negotiated. It never
 * repeats a request. Requests reject with an `McpError`: `rpc_error` (the server's JSON-RPC error in
 * `details.rpc`; without it when the server never declared what the method needs, and nothing was
 * sent), `timeout`, `cancelled`, `connection_lost`, `closed`, `protocol_violation`, `invalid_result`,
 * or whatever typed error the transport raised. A request that times out or is cancelled is
 * cancelled on the wire as well.
 */
export interface ProtocolClient {
  readonly era: ProtocolEra;
  /** The era to begin with next time: `modern` also where this connection had to settle for the older one. */
  readonly provenEra: ProtocolEra;
  readonly protocolVersion: string;
  readonly serverInfo: ServerIdentity;
  readonly capabilities: Readonly<Record<string, unknown>>;
  readonly instructions: string | undefined;
  /** No request is unanswered. */
  readonly isIdle: boolean;

  /**
   * Any method; the result is only known to be an object. What a server of the modern era allows to be
   * kept (lists on one page, resources) is asked for again when it is stale or has changed.
   */
  request(
    method: string,
    params?: Readonly<Record<string, unknown>>,
    options?: RequestOptions,
  ): Promise<Readonly<Record<string, unknown>>>;
  callTool(
    name: string,
    args: Readonly<Record<string, unknown>>,
    options?: ToolCallOptions,
  ): Promise<RawToolResult>;
  /** All pages, within the caps of `limits`; empty when the server declared no tools. */
  listTools(options?: RequestOptions): Promise<ToolListing>;
  notify(method: string, params?: Readonly<Record<string, unknown>>): Promise<void>;
  /** Legacy: `ping`. Modern: `server/discover`, since the revision has no ping. */
  ping(options?: RequestOptions): Promise<void>;
  /**
   * Asks the server to report changes of a resource, as long as the connection lasts. Resolves to
   * what ends that again.
   */
  watchResource(uri: string, onUpdate: () => void): Promise<() => Promise<void>>;
  /** Idempotent; pending requests reject with the reason, else as `closed`, the transport is closed. */
  close(reason?: McpError): Promise<void>;

  /**
   * Every notification of the server but progress, as long as they do not come faster than `limits`
   * allows. The first handler also hears the first hundred that came before there was one.
   */
  onnotification: ((notification: ServerNotification) => void) | undefined;
  /**
   * A list changed, or may have: at once, then at most once a second. In the modern era the server
   * is asked to report changes as soon as there is a handler.
   */
  onlistchanged: ((kind: ListKind) => void) | undefined;
  /** Something in what the server sent could not be taken as it was; `text` is for a person. */
  onwarning: ((text: string) => void) | undefined;
  /**
   * Called once, when the connection ends for any reason; `error` is absent after `close()`. A handler
   * set after the end is called at once.
   */
  onclose: ((error: Error | undefined) => void) | undefined;
}

export interface ProtocolOptions {
  readonly serverName: string;
  readonly clientInfo: { readonly name: string; readonly version: string };
  /**
   * `auto`, or a revision: a legacy one is offered in `initialize` without a probe (the server may
   * answer with another that is spoken here), `2026-07-28` is taken or refused.
   */
  readonly protocol: string;
  readonly limits: Limits;
  /** Time for negotiation as a whole. */
  readonly connectTimeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Called when the transport is open, before the first message goes out. */
  readonly onStarted?: (() => void) | undefined;
  readonly strict: boolean;
  readonly clock: Clock;
  readonly logger: Logger;
  /** A verdict of an earlier connection to the same server: what it says is tried first, without a hedge. */
  readonly knownEra?: ProtocolEra | undefined;
  /** Answers to what the server asks of us; none by default. */
  readonly inputHandlers?: InputHandlers | undefined;
  /** Values of its configuration that are masked in what the server reports: errors, logs, progress. */
  readonly secrets?: readonly string[] | undefined;
  /** Secrets that are also masked in what the server says of itself (its tools, its name) and in errors of tools. */
  readonly credentials?: readonly string[] | undefined;
}

/**
 * Negotiates over `transport` (not yet started) and resolves to the ready client. On failure the
 * transport is closed; `details.phase` says how far it came, and `details.diedOfProbe` that a process
 * ended when asked for its era, so that one more start with `knownEra: "legacy"` may succeed.
 */
export type ConnectProtocol = (
  transport: ChannelTransport,
  options: ProtocolOptions,
) => Promise<ProtocolClient>;
