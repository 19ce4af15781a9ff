import type { McpServerConfig } from "../config/keys/config-keys.ts";
import type { McpTool, Session } from "./session.ts";

/** Values for the variables that a section declares; they are inserted as they are. */
export type PromptParams = Readonly<Record<string, string | number | boolean>>;

export interface RenderOptions {
  /** Replaces the section's own template; refused unless the section accepts overrides. */
  readonly template?: string | undefined;
}

/** One part of a prompt. */
export interface PromptSection {
  /** Unique within a prompt. */
  readonly key: string;
  readonly acceptsOverrides: boolean;
  /** Variables that `render` takes besides those the section fills in itself. */
  readonly params: readonly string[];
  render(params?: PromptParams, options?: RenderOptions): string;
  /** The tools that the text speaks of. */
  tools?(): readonly McpTool[];
  /** The same after whatever has to be waited for. */
  loadTools?(): Promise<readonly McpTool[]>;
}

export interface SectionTextOptions {
  /** Small letters, digits, `.`, `_` and `-`; at most 64. */
  readonly key: string;
  /** The heading; an empty one leaves it out. */
  readonly title?: string | undefined;
  /** Dedented and trimmed; `${name}` stands for a variable, `$$` for `$`. */
  readonly template: string;
  /** Variables of the template that `render` is given. */
  readonly params?: readonly string[] | undefined;
  readonly acceptsOverrides?: boolean | undefined;
}

export interface SectionOptions {
  /**
   * In the order in which they are rendered; every server the agent may use by default. An object is a
   * server of its own: it joins the host's servers as if it had been given to `createHost`.
   */
  readonly servers?: readonly (string | McpServerConfig)[] | undefined;
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
  /** The same after the connecting that `connectOnInit` began; rejects with how that failed. */
  loadTools(): Promise<readonly McpTool[]>;
  /** `McpConnectionError` before `connect`. */
  render(params?: PromptParams, options?: RenderOptions): string;
  /**
   * The same section for another session of this host, to be connected on its own. It shares the
   * connections; tools, consent and events are those of its session.
   */
  clone(session: Session): Section;
}
