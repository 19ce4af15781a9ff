import type {
  CallOptions,
  CallPath,
  CallTarget,
  Caller,
  ConsentCall,
  ToolArguments,
} from "../call/call-path.ts";
import type { ServerTool } from "../call/callable-tool.ts";
import { modelText } from "../call/model-text.ts";
import { type Outcome, errorOfOutcome } from "../call/outcome.ts";
import type { ToolSchemas } from "../call/tool-schemas.ts";
import type { PinLookup } from "../catalog/pin-lookup.ts";
import type { NamedCatalog, ToolCatalog } from "../catalog/tool-catalog.ts";
import { type Naming, mayOwnName } from "../catalog/tool-names.ts";
import type { Limits } from "../config/limits.ts";
import { definitionOf } from "../config/server-config.ts";
import { cancelledByCaller } from "../connection/until-aborted.ts";
import { createError } from "../errors/families.ts";
import type { McpError } from "../errors/mcp-error.ts";
import type { EventBus, Unsubscribe } from "../events/event-bus.ts";
import type { HostEvent, HostEventOf, HostEventType, ToolInvoked } from "../events/host-event.ts";
import { errorOfDenial } from "../policy/decide-access.ts";
import type { GrantLookup } from "../policy/grant-lookup.ts";
import type { Clock } from "../ports/clock.ts";
import type { Human } from "../ports/human.ts";
import type { ServerRegistry } from "../registry/server-registry.ts";
import type { RequestDesk } from "../requests/request-desk.ts";
import { closest } from "../text/closest.ts";
import { type AddServers, AgentSection } from "./agent-section.ts";
import { CallHistory } from "./call-history.ts";
import { childRights } from "./child-rights.ts";
import { ConsentDesk } from "./consent-desk.ts";
import { type AccessReport, explainAccess, explainNative } from "./explain-access.ts";
import type { HandlerRuns } from "./handler-runs.ts";
import { findPromptTemplate, type McpPromptTemplate } from "./mcp-prompt-template.ts";
import { type NativeTool, NativeTools, refused } from "./native-tools.ts";
import { ResourceReaders } from "./resource-reader.ts";
import type { Section, SectionOptions } from "./section.ts";
import { AgentContent, type ContentOptions, type SessionContent } from "./session-content.ts";
import type { SessionDirectory } from "./session-directory.ts";
import { CommittedState, type SessionState } from "./session-state.ts";
import type { CallEnvelope, ChildOptions, McpTool, ReadyOptions, Session } from "./session.ts";
import { type CallStreamItem, streamCall } from "./stream-call.ts";
import type { ToolContextParts } from "./tool-context.ts";
import { ToolDirectory } from "./tool-directory.ts";
import { type AgentRights, ToolJudge } from "./tool-judge.ts";
import { type Transaction, type TransactionResult, runTransaction } from "./transaction.ts";

export interface AgentSessionOptions extends AgentRights {
  readonly human: Human | undefined;
  readonly naming: Naming;
  /** Tools that would ask first: listed, or left out. */
  readonly pending: "list" | "omit";
  readonly resourceTools: boolean;
  readonly history: boolean;
}

/** The parts of the host a session works with. */
export interface SessionParts {
  readonly registry: ServerRegistry;
  readonly catalog: ToolCatalog;
  readonly grants: GrantLookup;
  readonly pins: PinLookup;
  readonly calls: CallPath;
  readonly schemas: ToolSchemas;
  readonly handlers: HandlerRuns;
  readonly events: EventBus;
  readonly clock: Clock;
  readonly limits: Limits;
  readonly createId: () => string;
  /** Aborted when the host closes. */
  readonly closing: AbortSignal;
  readonly requests: Pick<RequestDesk, "introduce">;
  readonly sessions: SessionDirectory;
  readonly addServers: AddServers;
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
  readonly #consent: ConsentDesk;
  readonly #state: CommittedState;
  readonly #natives: NativeTools;
  readonly #directory: ToolDirectory;
  readonly #history: CallHistory | undefined;

  constructor(options: AgentSessionOptions, parts: SessionParts) {
    this.agent = options.agent;
    this.sessionId = parts.createId();
    this.#options = options;
    this.#parts = parts;
    const { agent, level, capabilities, within, human, naming } = options;
    this.#judge = new ToolJudge({ agent, level, capabilities, within }, parts);
    const { sessionId } = this;
    this.#consent = new ConsentDesk({ ...parts, agent, sessionId, human, judge: this.#judge });
    this.content = new AgentContent({ ...parts, caller: this, judge: this.#judge });
    this.#history = options.history
      ? new CallHistory((name) => parts.registry.find(name)?.users.secrets ?? [])
      : undefined;
    this.#state = new CommittedState({
      maxBytes: parts.limits.maxStateBytes,
      onChange: (keys) => this.#publishState(keys),
    });
    const natives = new NativeTools({ ...parts, context: () => this.#contextParts() });
    this.#natives = natives;
    const readers = options.resourceTools ? new ResourceReaders(parts) : undefined;
    this.#directory = new ToolDirectory({ ...parts, naming, natives, readers });
  }

  get state(): SessionState {
    return this.#state;
  }

  get onInvoked(): ((event: ToolInvoked) => void) | undefined {
    return this.#history?.add;
  }

  get human(): Human | undefined {
    return this.#options.human;
  }

  tools(): readonly McpTool[] {
    const tools: McpTool[] = [];
    const add = (name: string, target: CallTarget): void => {
      if (this.#isListed(target)) tools.push(this.#mcpTool(name, target));
    };
    for (const tool of this.#natives.all()) add(tool.originalName, this.#judge.judgeNative(tool));
    for (const { name, tool } of this.#named().tools) add(name, this.#judge.judge(tool));
    return tools;
  }

  find(name: string): McpTool | undefined {
    const target = this.#target(name);
    return target !== undefined && this.#isListed(target) ? this.#mcpTool(name, target) : undefined;
  }

  why(name: string): AccessReport {
    const native = this.#natives.find(name);
    if (native !== undefined) return explainNative(this.agent, this.#judge.judgeNative(native));
    return explainAccess(name, { ...this.#parts, judge: this.#judge, named: this.#named() });
  }

  servers(): readonly string[] {
    return this.#parts.registry
      .all()
      .filter(({ users }) => users.isVisibleTo(this.agent))
      .map(({ config }) => config.name);
  }

  async ready(options: ReadyOptions = {}): Promise<Readonly<Record<string, boolean>>> {
    const { registry, catalog, closing } = this.#parts;
    const { signal } = options;
    const wanted =
      options.servers?.map((name) => registry.get(name)) ??
      registry.all().filter((server) => this.#judge.serverDenial(server) === undefined);
    const states = await Promise.all(
      wanted.map(async (server): Promise<[string, boolean]> => {
        const connection = server.users.connectionOf(this.agent);
        const isUsable = connection !== undefined && !closing.aborted;
        if (!isUsable || this.#judge.serverDenial(server) !== undefined)
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
    if (signal?.aborted === true) throw cancelledByCaller();
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
    if (outcome.ok || readableFailures.has(outcome.error.code)) return modelText(outcome);
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

  section(options: SectionOptions = {}): Section {
    const denialOf = this.#judge.serverDenial.bind(this.#judge);
    return new AgentSection(options, { ...this.#parts, session: this, denialOf });
  }

  promptTemplate(
    server: string,
    name: string,
    options?: ContentOptions,
  ): Promise<McpPromptTemplate> {
    return findPromptTemplate(this.content, { server, name }, options);
  }

  defineTool<Params = ToolArguments>(definition: NativeTool<Params>): McpTool {
    const { name } = definition;
    const owner = this.#named().byName.get(name)?.tool.serverName;
    if (owner !== undefined) throw refused(name, `has the name of a tool of server "${owner}"`);
    const tool = this.#natives.define(definition as NativeTool);
    return this.#mcpTool(name, this.#judge.judgeNative(tool));
  }

  transaction<T>(
    work: (transaction: Transaction) => T | Promise<T>,
  ): Promise<TransactionResult<T>> {
    return runTransaction(work, { ...this.#parts, caller: this, state: this.#state });
  }

  history(): readonly ToolInvoked[] {
    return this.#history?.list() ?? [];
  }

  child(options: ChildOptions = {}): Session {
    const { human = this.human, tools = [] } = options;
    const rights = { ...childRights(this.#judge.rights, options), within: this.#judge };
    this.#parts.requests.introduce(options.human);
    const child = new AgentSession({ ...this.#options, ...rights, human }, this.#parts);
    for (const name of tools) {
      const definition = this.#natives.definition(name);
      if (definition === undefined) throw refused(name, "is not defined in the parent session");
      child.defineTool(definition);
    }
    this.#parts.sessions.addChild(child, this);
    return child;
  }

  on<T extends HostEventType>(type: T, handler: (event: HostEventOf<T>) => void): Unsubscribe;
  on(type: "*", handler: (event: HostEvent) => void): Unsubscribe;
  on(type: HostEventType | "*", handler: (event: never) => void): Unsubscribe {
    const deliver = handler as (event: HostEvent) => void;
    // Calls of other agents are none of this session's business.
    return this.#parts.events.on(type as "*", (event) =>
      // Returned, because the bus looks after handlers that fail later.
      !("sessionId" in event) || event.sessionId === this.sessionId ? deliver(event) : undefined,
    );
  }

  resolve(name: string, signal: AbortSignal | undefined): CallTarget | Promise<CallTarget> {
    const known = this.#target(name);
    if (known === undefined) return this.#discover(name, signal);
    this.#parts.pins.noteUse();
    return known;
  }

  judge(tool: ServerTool): CallTarget {
    return this.#judge.judge(tool);
  }

  askConsent(target: CallTarget, args: ToolArguments, call: ConsentCall): Promise<void> {
    return this.#consent.ask(target, args, call);
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
    const found = this.#target(name);
    if (found === undefined) throw denied ?? this.#unknownTool(name);
    this.#parts.pins.noteUse();
    return found;
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
    return this.#directory.named();
  }

  /** Judged, whatever the verdict; undefined for a name that nobody has as far as is known. */
  #target(name: string): CallTarget | undefined {
    const named = this.#named().byName.get(name);
    if (named !== undefined) return this.#judge.judge(named.tool);
    const native = this.#natives.find(name);
    return native === undefined ? undefined : this.#judge.judgeNative(native);
  }

  #contextParts(): ToolContextParts {
    const { calls, clock, registry } = this.#parts;
    return {
      caller: this,
      calls,
      clock,
      state: this.#state,
      pool: {
        registry,
        judge: this.#judge,
        content: this.content,
        named: () => this.#named(),
        ready: (serverName, signal) => this.ready({ servers: [serverName], signal }),
      },
    };
  }

  #publishState(keys: readonly string[]): void {
    const { events, clock } = this.#parts;
    if (!events.topic("state-changed").isHeard) return;
    const { sessionId } = this;
    events.emit({ type: "state-changed", sessionId, keys, at: clock.now() });
  }

  #isListed({ denial, consent }: CallTarget): boolean {
    if (denial !== undefined) return false;
    return (
      consent !== "ask" ||
      (this.#options.pending === "list" && this.#options.human?.confirm !== undefined)
    );
  }

  #mcpTool(name: string, { tool, consent }: CallTarget): McpTool {
    const { schemas } = this.#parts;
    return Object.freeze({
      name,
      originalName: tool.originalName,
      source: tool.serverName === undefined ? ("native" as const) : ("mcp" as const),
      serverName: tool.serverName,
      title: tool.title,
      description: tool.description,
      inputSchema: tool.inputSchema,
      outputSchema: tool.outputSchema,
      annotations: tool.annotations,
      needsConsent: consent === "ask",
      // Looked at when it is asked for: a long list must not cost the inspection of every schema.
      get unusable() {
        return schemas.refusal(tool);
      },
      execute: (args: ToolArguments = {}, options: CallOptions = {}) =>
        this.call(name, args, options),
    });
  }
}
