import { randomUUID } from "node:crypto";

import type { CallOptions, ToolArguments } from "../../call/call-contract.ts";
import type { FailedOutcome, Outcome } from "../../call/outcome.ts";
import { parseOrigin, referenceText, type ToolReference } from "../../catalog/tool-origin.ts";
import { createError } from "../../errors/families.ts";
import { McpError } from "../../errors/mcp-error.ts";
import { EventBus, type Unsubscribe } from "../../events/event-bus.ts";
import type {
  HostEvent,
  HostEventOf,
  HostEventType,
  ServerState,
} from "../../events/host-event.ts";
import type { Human } from "../../human/human.ts";
import { systemClock } from "../../ports/clock.ts";
import type { McpTool } from "../../session/mcp-tool.ts";
import type { ReadyOptions, ServerReadiness } from "../../session/session.ts";
import type { AccessReport } from "../../session/tools/explain-access.ts";
import { isJsonObject, type JsonObject } from "../../text/json-object.ts";
import type { SessionOptions } from "../host.ts";
import type { SharedContent, SharedSession } from "../shared-host.ts";
import { type ApiClient, reviveError } from "./api-client.ts";
import { createAttachedContent } from "./attached-content.ts";

export interface AttachedSessionParts {
  readonly api: ApiClient;
  /** The id of this process at the host. */
  readonly attachment: () => string;
  /** A person here may be asked by others, so others may be asked for this session as well. */
  readonly isSurface: boolean;
  /** Hears the id that the session has at the host, before anything can be asked on its behalf. */
  readonly opened: (id: string, session: AttachedSession) => void;
  /** Aborts when the host has gone. */
  readonly lost: AbortSignal;
}

/** How long a call that was cancelled may take to tell its outcome. */
const cancelPatienceMs = 1_000;

/** One agent's session at a host that runs in another process. It is opened there when it is first used. */
export class AttachedSession implements SharedSession {
  readonly agent: string;
  readonly content: SharedContent;
  readonly #options: SessionOptions;
  readonly #parts: AttachedSessionParts;
  readonly #events = new EventBus();
  #address: Promise<string> | undefined;
  #tools: readonly McpTool[] = [];
  #servers: readonly string[] = [];

  constructor(options: SessionOptions, parts: AttachedSessionParts) {
    this.#options = options;
    this.#parts = parts;
    this.agent = options.agent ?? "main";
    this.content = createAttachedContent(parts.api, () => this.#open());
  }

  /** Who answers for this session here. */
  get human(): Human | undefined {
    return this.#options.human;
  }

  emit(event: HostEvent): void {
    this.#events.emit(event);
  }

  tools(): readonly McpTool[] {
    return this.#tools;
  }

  servers(): readonly string[] {
    return this.#servers;
  }

  find(tool: ToolReference): McpTool | undefined {
    const named =
      typeof tool === "string" ? this.#tools.find(({ name }) => name === tool) : undefined;
    if (named !== undefined) return named;
    const origin =
      typeof tool === "string" ? parseOrigin(tool, (name) => this.#servers.includes(name)) : tool;
    return this.#tools.find(
      ({ serverName, originalName }) =>
        serverName === origin?.server && originalName === origin?.tool,
    );
  }

  async ready(options: ReadyOptions = {}): Promise<Readonly<Record<string, ServerReadiness>>> {
    const { servers, signal } = options;
    const answer = await this.#parts.api.post(`${await this.#open()}/ready`, { servers }, signal);
    this.#take(answer);
    const found = Object.entries(answer["servers"] as Readonly<Record<string, JsonObject>>);
    return Object.fromEntries(
      found.map(([name, { ready, state, error }]) => [
        name,
        {
          ready: ready === true,
          state: state as ServerState,
          error: error === undefined ? undefined : reviveError(error),
        },
      ]),
    );
  }

  async why(tool: ToolReference): Promise<AccessReport> {
    const { report } = await this.#parts.api.post(`${await this.#open()}/why`, { tool });
    return report as AccessReport;
  }

  async call(
    tool: ToolReference,
    args: ToolArguments = {},
    options: CallOptions = {},
  ): Promise<Outcome> {
    const startedAt = systemClock.monotonic();
    const callId = options.callId ?? randomUUID();
    let isSent = false;
    try {
      const address = `${await this.#open()}/calls/${encodeURIComponent(callId)}`;
      if (options.signal?.aborted === true)
        throw createError("cancelled", "the call was cancelled before it began");
      isSent = true;
      return await this.#call(address, { tool, arguments: args, callId }, options);
    } catch (error) {
      if (!McpError.is(error)) throw error;
      const durationMs = systemClock.monotonic() - startedAt;
      return failedOutcome(error, { tool, callId, durationMs, isSent });
    }
  }

  on<T extends HostEventType>(type: T, handler: (event: HostEventOf<T>) => void): Unsubscribe;
  on(type: "*", handler: (event: HostEvent) => void): Unsubscribe;
  on(type: HostEventType | "*", handler: (event: never) => void): Unsubscribe {
    return this.#events.on(type as "*", handler as (event: HostEvent) => void);
  }

  async #call(
    address: string,
    called: object,
    { signal, timeoutMs, onProgress }: CallOptions,
  ): Promise<Outcome> {
    const { api } = this.#parts;
    const patience = new AbortController();
    let timer: NodeJS.Timeout | undefined;
    // The host cancels the call and tells how it ended; only a host that does not is left.
    const cancel = (): void => {
      api.delete(address).catch(() => undefined);
      timer = setTimeout(() => patience.abort(), cancelPatienceMs);
    };
    signal?.addEventListener("abort", cancel, { once: true });
    try {
      const body = { ...called, timeoutMs };
      for await (const { progress, outcome } of api.lines(address, body, patience.signal)) {
        if (isJsonObject(progress))
          onProgress?.(progress as unknown as Parameters<NonNullable<typeof onProgress>>[0]);
        if (isJsonObject(outcome)) return outcome as unknown as Outcome;
      }
      throw createError("connection_lost", "the host that runs here ended during the call");
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", cancel);
    }
  }

  /** The path of the session at the host. */
  #open(): Promise<string> {
    this.#address ??= this.#create();
    // A host that could not be reached may be reached the next time.
    this.#address.catch(() => (this.#address = undefined));
    return this.#address;
  }

  async #create(): Promise<string> {
    const { api, attachment, isSurface, opened } = this.#parts;
    const { level, human, pending } = this.#options;
    const asks = isSurface ? "everybody" : human === undefined ? "nobody" : "process";
    const base = `/api/attachments/${attachment()}/sessions`;
    const body = { agent: this.agent, level, pending, asks, events: isSurface };
    const { session } = await api.post(base, body);
    opened(String(session), this);
    return `${base}/${String(session)}`;
  }

  #take({ tools, visible }: JsonObject): void {
    this.#servers = visible as readonly string[];
    this.#tools = (tools as readonly JsonObject[]).map((tool) => this.#revive(tool));
  }

  #revive(tool: JsonObject): McpTool {
    const { name } = tool as { readonly name: string };
    return {
      ...tool,
      execute: (args?: ToolArguments, options?: CallOptions) => this.call(name, args, options),
    } as unknown as McpTool;
  }
}

/** How a call ended that the host could not tell of. Whether it had an effect is not known. */
function failedOutcome(
  error: McpError,
  call: {
    readonly tool: ToolReference;
    readonly callId: string;
    readonly durationMs: number;
    readonly isSent: boolean;
  },
): FailedOutcome {
  const { code, message, retryable, hint, details, serverName } = error;
  const isRefused = code === "unreachable" || code === "not_connected";
  return {
    ok: false,
    text: "",
    content: [],
    structured: undefined,
    meta: undefined,
    durationMs: call.durationMs,
    callId: call.callId,
    toolName: typeof call.tool === "string" ? undefined : call.tool.tool,
    publicName: referenceText(call.tool),
    serverName: serverName ?? (typeof call.tool === "string" ? undefined : call.tool.server),
    truncated: false,
    sideEffects: call.isSent && !isRefused ? "possible" : "none",
    error: { code, message, retryable, ...(hint === undefined ? {} : { hint }), details },
  };
}
