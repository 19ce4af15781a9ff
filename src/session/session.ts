import type { CallOptions, ToolArguments } from "../call/call-path.ts";
import type { Outcome } from "../call/outcome.ts";
import type { Unsubscribe } from "../events/event-bus.ts";
import type { HostEventOf, HostEventType, HostEvent } from "../events/host-event.ts";
import type { SessionContent } from "./session-content.ts";
import type { CallStreamItem } from "./stream-call.ts";

/** A tool as an agent sees it: a snapshot whose `execute` takes the guarded path like any call. */
export interface McpTool {
  /** The public name: unique in the session and valid for every model provider. */
  readonly name: string;
  readonly originalName: string;
  readonly serverName: string;
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

export interface ReadyOptions {
  /** Only these servers; all approved ones by default. */
  readonly servers?: readonly string[] | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A call in the envelope that agent frameworks use. */
export interface CallEnvelope {
  readonly name: string;
  readonly input?: ToolArguments;
  readonly arguments?: ToolArguments;
  readonly callId?: string;
}

/** One agent's view of the host: what it may see and call, on whose behalf a person is asked. */
export interface Session {
  readonly agent: string;
  /** Resources and prompts. */
  readonly content: SessionContent;
  /** The tools this agent may use right now, in server order. Never throws, starts nothing. */
  tools(): readonly McpTool[];
  /** Connects the servers whose tools are not known yet; says for each whether it is ready. Never throws for one. */
  ready(options?: ReadyOptions): Promise<Readonly<Record<string, boolean>>>;
  /** Names of the servers this agent can see. */
  servers(): readonly string[];
  /** The tool of that public name among `tools()`. */
  find(name: string): McpTool | undefined;
  /** Calls a tool by its public name. Resolves for everything that can happen to a call. */
  call(name: string, args?: ToolArguments, options?: CallOptions): Promise<Outcome>;
  /** The same as text. Throws typed errors, except that a tool's own error comes back as its text. */
  execute(name: string, args?: ToolArguments, options?: CallOptions): Promise<string>;
  /** The same as it happens: progress, what the server logs, and the outcome last. Leaving the loop cancels the call. */
  stream(
    name: string,
    args?: ToolArguments,
    options?: CallOptions,
  ): AsyncGenerator<CallStreamItem, void>;
  dispatch(envelope: CallEnvelope, options?: CallOptions): Promise<Outcome>;
  on<T extends HostEventType>(type: T, handler: (event: HostEventOf<T>) => void): Unsubscribe;
  on(type: "*", handler: (event: HostEvent) => void): Unsubscribe;
}
