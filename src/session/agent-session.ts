import type {
  CallOptions,
  CallPath,
  CallTarget,
  Caller,
  ConsentCall,
  ToolArguments,
} from "../call/call-path.ts";
import { type Outcome, errorOfOutcome } from "../call/outcome.ts";
import type { ToolSchemas } from "../call/tool-schemas.ts";
import { type CatalogTool, claims } from "../catalog/catalog-tool.ts";
import type { NamedCatalog, NamedTool, ToolCatalog } from "../catalog/tool-catalog.ts";
import { type Naming, mayOwnName } from "../catalog/tool-names.ts";
import type { Limits } from "../config/limits.ts";
import { definitionOf } from "../config/server-config.ts";
import { createError } from "../errors/families.ts";
import type { McpError } from "../errors/mcp-error.ts";
import type { EventBus, Unsubscribe } from "../events/event-bus.ts";
import type { HostEvent, HostEventOf, HostEventType } from "../events/host-event.ts";
import { errorOfDenial } from "../policy/decide-access.ts";
import type { PermissionLevel } from "../policy/permission-level.ts";
import type { Clock } from "../ports/clock.ts";
import type { ConfirmAnswer, Human } from "../ports/human.ts";
import type { ServerRegistry } from "../registry/server-registry.ts";
import { closest } from "../text/closest.ts";
import { AgentContent, type SessionContent } from "./session-content.ts";
import type { CallEnvelope, McpTool, ReadyOptions, Session } from "./session.ts";
import { type CallStreamItem, streamCall } from "./stream-call.ts";
import { ToolJudge } from "./tool-judge.ts";

export interface AgentSessionOptions {
  readonly agent: string;
  readonly level: PermissionLevel | undefined;
  readonly human: Human | undefined;
  readonly naming: Naming;
  /** Tools that would ask first: listed, or left out. */
  readonly pending: "list" | "omit";
}

/** The parts of the host a session works with. */
export interface SessionParts {
  readonly registry: ServerRegistry;
  readonly catalog: ToolCatalog;
  readonly calls: CallPath;
  readonly schemas: ToolSchemas;
  readonly events: EventBus;
  readonly clock: Clock;
  readonly limits: Limits;
  readonly createId: () => string;
}

/** Outcomes an agent is expected to read and react to; `execute` hands them back as text. */
const readableFailures: ReadonlySet<string> = new Set([
  "tool_error",
  "rpc_error",
  "invalid_arguments",
  "invalid_result",
]);

export class AgentSession implements Session, Caller {
  readonly agent: string;
  readonly sessionId: string;
  readonly content: SessionContent;
  readonly #options: AgentSessionOptions;
  readonly #parts: SessionParts;
  readonly #judge: ToolJudge;

  constructor(options: AgentSessionOptions, parts: SessionParts) {
    this.agent = options.agent;
    this.sessionId = parts.createId();
    this.#options = options;
    this.#parts = parts;
    this.#judge = new ToolJudge(options.agent, options.level, parts.registry);
    this.content = new AgentContent({ ...parts, caller: this, judge: this.#judge });
  }

  get human(): Human | undefined {
    return this.#options.human;
  }

  tools(): readonly McpTool[] {
    return this.#named()
      .tools.filter(({ tool }) => this.#isListed(tool))
      .map((named) => this.#mcpTool(named));
  }

  find(name: string): McpTool | undefined {
    const named = this.#named().byName.get(name);
    return named !== undefined && this.#isListed(named.tool) ? this.#mcpTool(named) : undefined;
  }

  servers(): readonly string[] {
    return this.#parts.registry
      .all()
      .filter(({ users }) => users.isVisibleTo(this.agent))
      .map(({ config }) => config.name);
  }

  async ready(options: ReadyOptions = {}): Promise<Readonly<Record<string, boolean>>> {
    const { registry, catalog } = this.#parts;
    const { signal } = options;
    const wanted =
      options.servers?.map((name) => registry.get(name)) ??
      registry.all().filter((server) => this.#judge.serverDenial(server) === undefined);
    const states = await Promise.all(
      wanted.map(async (server): Promise<[string, boolean]> => {
        const connection = server.users.connectionOf(this.agent);
        if (connection === undefined || this.#judge.serverDenial(server) !== undefined)
          return [server.config.name, false];
        // Known from before: it starts when one of its tools is called.
        if (connection.openClient === undefined && catalog.isKnown(server.config.name))
          return [server.config.name, true];
        const isReady = await connection.client({ signal }).then(
          () => true,
          // The reason stays with the server as its `lastError`.
          () => false,
        );
        return [server.config.name, isReady];
      }),
    );
    if (signal?.aborted === true) throw createError("cancelled", "cancelled by the caller");
    return Object.fromEntries(states);
  }

  call(name: string, args: ToolArguments = {}, options: CallOptions = {}): Promise<Outcome> {
    return this.#parts.calls.call(this, name, args, options);
  }

  async execute(
    name: string,
    args: ToolArguments = {},
    options: CallOptions = {},
  ): Promise<string> {
    const outcome = await this.call(name, args, options);
    if (outcome.ok) return outcome.text;
    if (readableFailures.has(outcome.error.code)) return outcome.error.message;
    throw errorOfOutcome(outcome);
  }

  stream(
    name: string,
    args: ToolArguments = {},
    options: CallOptions = {},
  ): AsyncGenerator<CallStreamItem, void> {
    return streamCall({
      serverName: () => this.#named().byName.get(name)?.tool.serverName,
      events: this.#parts.events,
      call: (streamOptions) => this.call(name, args, streamOptions),
      options,
    });
  }

  dispatch(envelope: CallEnvelope, options: CallOptions = {}): Promise<Outcome> {
    const args = envelope.arguments ?? envelope.input ?? {};
    const callId = envelope.callId ?? options.callId;
    return this.call(envelope.name, args, { ...options, callId });
  }

  on<T extends HostEventType>(type: T, handler: (event: HostEventOf<T>) => void): Unsubscribe;
  on(type: "*", handler: (event: HostEvent) => void): Unsubscribe;
  on(type: HostEventType | "*", handler: (event: never) => void): Unsubscribe {
    const deliver = handler as (event: HostEvent) => void;
    // Calls of other agents are none of this session's business.
    return this.#parts.events.on(type as "*", (event) => {
      if (!("sessionId" in event) || event.sessionId === this.sessionId) deliver(event);
    });
  }

  resolve(name: string, signal: AbortSignal | undefined): CallTarget | Promise<CallTarget> {
    const named = this.#named().byName.get(name);
    return named === undefined ? this.#discover(name, signal) : this.#judge.judge(named.tool);
  }

  judge(tool: CatalogTool): CallTarget {
    return this.#judge.judge(tool);
  }

  async askConsent({ tool }: CallTarget, args: ToolArguments, call: ConsentCall): Promise<void> {
    const { serverName, originalName: toolName } = tool;
    const isDestructive = claims(tool, "destructiveHint");
    const publish = (type: "consent-asked" | "consent-granted" | "consent-denied") => {
      const { agent, sessionId } = this;
      const { callId } = call;
      this.#parts.events.emit({
        type,
        sessionId,
        callId,
        agent,
        serverName,
        toolName,
        at: this.#parts.clock.now(),
      });
    };
    const { human } = this.#options;
    publish("consent-asked");
    const answer = await this.#answer(
      human?.confirm?.(
        {
          kind: "tool-call",
          serverName,
          toolName,
          agent: this.agent,
          arguments: args,
          isDestructive,
        },
        { signal: call.signal ?? new AbortController().signal },
      ),
    );
    if (answer === "no") {
      publish("consent-denied");
      throw createError(
        "consent_denied",
        human?.confirm === undefined
          ? `${toolName} needs a person's consent, and nobody can be asked`
          : `${toolName} was not allowed`,
        { serverName, details: { toolName, isDestructive } },
      );
    }
    publish("consent-granted");
    this.#judge.remember(answer, tool);
  }

  /** Silence, an error and an unknown word all mean no. */
  async #answer(asked: Promise<ConfirmAnswer> | undefined): Promise<ConfirmAnswer> {
    try {
      const answer = await asked;
      return answer === "once" || answer === "tool-session" || answer === "server-session"
        ? answer
        : "no";
    } catch {
      return "no";
    }
  }

  /** A name that is not in the map yet: connect the servers it may belong to and look again. */
  async #discover(name: string, signal: AbortSignal | undefined): Promise<CallTarget> {
    const { registry, catalog } = this.#parts;
    let denied: McpError | undefined;
    for (const server of registry.all()) {
      const { config, users } = server;
      if (!mayOwnName(name, config, config.naming ?? this.#options.naming)) continue;
      if (catalog.isKnown(config.name)) continue;
      const denial = this.#judge.serverDenial(server);
      if (denial === undefined) await users.connectionOf(this.agent)?.client({ signal });
      else if (denial.rule !== "visibility")
        denied ??= errorOfDenial(denial, config.name, definitionOf(config.provenance));
    }
    const found = this.#named().byName.get(name);
    if (found !== undefined) return this.#judge.judge(found.tool);
    throw denied ?? this.#unknownTool(name);
  }

  #unknownTool(name: string): McpError {
    const suggestions = closest(
      name,
      this.tools().map((tool) => tool.name),
    );
    return createError("tool_unknown", `no tool "${name.slice(0, 128)}"`, {
      details: { toolName: name.slice(0, 128), suggestions },
      hint: suggestions.length > 0 ? `closest: ${suggestions.join(", ")}` : undefined,
    });
  }

  #named(): NamedCatalog {
    return this.#parts.catalog.named(this.#options.naming);
  }

  #isListed(tool: CatalogTool): boolean {
    const { denial, mustAsk } = this.#judge.judge(tool);
    if (denial !== undefined) return false;
    return (
      !mustAsk || (this.#options.pending === "list" && this.#options.human?.confirm !== undefined)
    );
  }

  #mcpTool({ name, tool }: NamedTool): McpTool {
    const { schemas } = this.#parts;
    return Object.freeze({
      name,
      originalName: tool.originalName,
      serverName: tool.serverName,
      title: tool.title,
      description: tool.description,
      inputSchema: tool.inputSchema,
      outputSchema: tool.outputSchema,
      annotations: tool.annotations,
      needsConsent: this.#judge.judge(tool).mustAsk,
      // Looked at when it is asked for: a long list must not cost the inspection of every schema.
      get unusable() {
        return schemas.refusal(tool);
      },
      execute: (args: ToolArguments = {}, options: CallOptions = {}) =>
        this.call(name, args, options),
    });
  }
}
