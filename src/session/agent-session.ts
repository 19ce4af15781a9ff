import { cancelledByCaller } from "../async/until-aborted.ts";
import type {
  CalledTool,
  Caller,
  CallOptions,
  CallTarget,
  ConsentCall,
  ToolArguments,
} from "../call/call-contract.ts";
import type { CallPath } from "../call/call-path.ts";
import { modelText } from "../call/model-text.ts";
import { type Outcome, errorOfOutcome } from "../call/outcome.ts";
import type { ToolSchemas } from "../call/tool-schemas.ts";
import type { ToolCatalog } from "../catalog/tool-catalog.ts";
import type { Naming } from "../catalog/tool-names.ts";
import type { ToolReference } from "../catalog/tool-origin.ts";
import type { Limits } from "../config/keys/limits.ts";
import { definitionOf } from "../config/keys/server-config.ts";
import type { EventBus, Unsubscribe } from "../events/event-bus.ts";
import type { HostEvent, HostEventOf, HostEventType, ToolInvoked } from "../events/host-event.ts";
import type { ToolGrants } from "../grants/tool-grants.ts";
import type { Human } from "../human/human.ts";
import type { ToolPins } from "../pins/tool-pins.ts";
import type { AccessRevision } from "../policy/access-revision.ts";
import { errorOfDenial } from "../policy/decide-access.ts";
import type { Clock } from "../ports/clock.ts";
import type { ServerRegistry } from "../registry/server-registry.ts";
import type { ServerQuestions } from "../requests/server-questions.ts";
import { type AddServers, AgentSection } from "./agent-section.ts";
import { CallHistory } from "./call-history.ts";
import type { ResourceReaders } from "./content/resource-reader.ts";
import {
  AgentContent,
  type AgentContentParts,
  type ContentOptions,
  type SessionContent,
} from "./content/session-content.ts";
import type { McpTool } from "./mcp-tool.ts";
import { type ConnectedServer, McpConnectionPool } from "./native/connection-pool.ts";
import type { HandlerRuns } from "./native/handler-runs.ts";
import { type NativeTool, nativeToolError } from "./native/native-definition.ts";
import { NativeTools } from "./native/native-tools.ts";
import type { ToolContextParts } from "./native/tool-context.ts";
import { type Transaction, type TransactionResult, runTransaction } from "./native/transaction.ts";
import { findPromptTemplate, type McpPromptTemplate } from "./prompt/mcp-prompt-template.ts";
import { CallConsent } from "./rights/call-consent.ts";
import { childRights } from "./rights/child-rights.ts";
import { partForSession } from "./rights/event-audience.ts";
import { type AgentRights, ToolJudge } from "./rights/tool-judge.ts";
import { makeReady, type ReadinessOptions } from "./server-readiness.ts";
import type { SessionDirectory } from "./session-directory.ts";
import type {
  CallEnvelope,
  ChildOptions,
  LoadToolsOptions,
  ReadyOptions,
  Section,
  SectionOptions,
  ServerReadiness,
  Session,
} from "./session.ts";
import { CommittedState, type SessionState } from "./state/session-state.ts";
import { type CallStreamItem, streamCall } from "./stream-call.ts";
import { type AccessReport, explainAccess, explainNative } from "./tools/explain-access.ts";
import { ToolDirectory } from "./tools/tool-directory.ts";
import { ToolGaps, type ToolGapsParts } from "./tools/tool-gaps.ts";
import { ToolList } from "./tools/tool-list.ts";
import { ToolResolver } from "./tools/tool-resolver.ts";

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
  readonly grants: ToolGrants;
  readonly pins: ToolPins;
  readonly revision: AccessRevision;
  readonly calls: CallPath;
  readonly schemas: ToolSchemas;
  readonly handlers: HandlerRuns;
  /** The tools that read resources, for sessions that have such. */
  readonly readers: ResourceReaders;
  readonly events: EventBus;
  readonly clock: Clock;
  readonly limits: Limits;
  readonly createId: () => string;
  readonly audit: AgentContentParts["audit"];
  /** Aborted when the host closes. */
  readonly closing: AbortSignal;
  readonly requests: Pick<ServerQuestions, "introduce">;
  readonly sessions: SessionDirectory;
  readonly addServers: AddServers;
  readonly configProblems: ToolGapsParts["configProblems"];
  readonly warned: ToolGapsParts["warned"];
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
  readonly #consent: CallConsent;
  readonly #state: CommittedState;
  readonly #natives: NativeTools;
  readonly #resolver: ToolResolver;
  readonly #list: ToolList;
  readonly #gaps: ToolGaps;
  readonly #history: CallHistory | undefined;

  constructor(options: AgentSessionOptions, parts: SessionParts) {
    this.agent = options.agent;
    this.sessionId = parts.createId();
    this.#options = options;
    this.#parts = parts;
    const { agent, level, capabilities, parent, human, naming, pending } = options;
    const { sessionId } = this;
    const { registry, catalog, grants, pins, schemas, handlers, events, clock, limits } = parts;
    const { revision, createId, audit, closing, configProblems, warned } = parts;
    const judge = new ToolJudge(
      { agent, level, capabilities, parent },
      { registry, catalog, grants, pins, revision, clock },
    );
    const consent = new CallConsent({
      agent,
      sessionId,
      human,
      judge,
      grants,
      events,
      clock,
      limits,
      closing,
    });
    this.content = new AgentContent({
      caller: this,
      judge,
      consent,
      limits,
      clock,
      createId,
      audit,
    });
    this.#history = options.history
      ? new CallHistory((name) => registry.find(name)?.connections.secrets ?? [])
      : undefined;
    this.#state = new CommittedState({
      maxBytes: limits.maxStateBytes,
      onChange: (keys) => this.#publishState(keys),
    });
    const natives = new NativeTools({ schemas, handlers, context: () => this.#contextParts() });
    const readers = options.resourceTools ? parts.readers : undefined;
    const directory = new ToolDirectory({ catalog, naming, natives, readers, events, clock });
    const list = new ToolList({
      judge,
      natives,
      directory,
      pending,
      human,
      toolParts: {
        schemas,
        call: (name, args, callOptions) => this.call(name, args, callOptions),
      },
    });
    const resolver = new ToolResolver({
      judge,
      registry,
      catalog,
      natives,
      directory,
      list,
      naming,
    });
    this.#gaps = new ToolGaps({
      agent,
      sessionId,
      judge,
      list,
      pending,
      registry,
      catalog,
      configProblems,
      warned,
      events,
      clock,
    });
    this.#judge = judge;
    this.#consent = consent;
    this.#natives = natives;
    this.#resolver = resolver;
    this.#list = list;
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

  async loadTools({ signal }: LoadToolsOptions = {}): Promise<readonly McpTool[]> {
    await this.#makeReady({ signal, retries: false });
    if (!this.#parts.closing.aborted) this.#gaps.tellFailed();
    return this.tools();
  }

  tools(): readonly McpTool[] {
    const tools = this.#list.tools();
    if (!this.#list.hasServerTools && !this.#parts.closing.aborted) this.#gaps.tellEmpty();
    return tools;
  }

  find(tool: ToolReference): McpTool | undefined {
    const found = this.#resolver.find(tool);
    if (found === undefined || !this.#list.isListed(found.target)) return undefined;
    return this.#list.describe(found.name, found.target);
  }

  why(tool: ToolReference): AccessReport {
    const native = typeof tool === "string" ? this.#natives.find(tool) : undefined;
    if (native !== undefined) return explainNative(this.agent, this.#judge.judgeNative(native));
    const subject = this.#resolver.locate(tool);
    const suggestions = (): readonly string[] => this.#resolver.suggest(tool);
    return explainAccess(subject, { judge: this.#judge, suggestions });
  }

  servers(): readonly string[] {
    return this.#judge.visibleServers().map(({ config }) => config.name);
  }

  ready(options: ReadyOptions = {}): Promise<Readonly<Record<string, ServerReadiness>>> {
    return this.#makeReady({ ...options, retries: true });
  }

  async #makeReady(
    options: ReadyOptions & ReadinessOptions,
  ): Promise<Readonly<Record<string, ServerReadiness>>> {
    const judge = this.#judge;
    const servers =
      options.servers?.map((name) => judge.visibleServer(name)) ?? judge.visibleServers();
    const { registry, catalog, closing } = this.#parts;
    const parts = { registry, catalog, judge, closing };
    const found = await Promise.all(
      servers.map(
        async (server) => [server.config.name, await makeReady(server, parts, options)] as const,
      ),
    );
    // Not for a few tools: each of many servers that become ready one by one would cause a look at all the others.
    if (catalog.isLarge) await this.#list.prepare();
    if (options.signal?.aborted === true) throw cancelledByCaller();
    return Object.fromEntries(found);
  }

  call(tool: ToolReference, args: ToolArguments = {}, options: CallOptions = {}): Promise<Outcome> {
    return this.#parts.calls.call(this, tool, args, options);
  }

  async execute(
    tool: ToolReference,
    args: ToolArguments = {},
    options: CallOptions = {},
  ): Promise<string> {
    const outcome = await this.call(tool, args, options);
    if (outcome.ok || readableFailures.has(outcome.error.code)) return modelText(outcome);
    throw errorOfOutcome(outcome);
  }

  stream(
    tool: ToolReference,
    args: ToolArguments = {},
    options: CallOptions = {},
  ): AsyncGenerator<CallStreamItem, void> {
    return streamCall({
      serverName: () => this.#resolver.find(tool)?.target.tool.serverName,
      onLog: (handler) => this.on("server-log", handler),
      call: (streamOptions) => this.call(tool, args, streamOptions),
      options,
    });
  }

  dispatch(envelope: CallEnvelope, options: CallOptions = {}): Promise<Outcome> {
    const args = envelope.arguments ?? envelope.input ?? {};
    const callId = envelope.callId ?? options.callId;
    return this.call(envelope.name, args, { ...options, callId });
  }

  section(options: SectionOptions = {}): Section {
    const { registry, addServers } = this.#parts;
    return new AgentSection(options, { session: this, registry, judge: this.#judge, addServers });
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
    const owner = this.#resolver.named().byName.get(name)?.tool.serverName;
    if (owner !== undefined)
      throw nativeToolError(name, `has the name of a tool of server "${owner}"`);
    const tool = this.#natives.define(definition as NativeTool);
    return this.#list.describe(name, this.#judge.judgeNative(tool));
  }

  /** One server without a handler's call around it; throws why this agent may not use it. */
  server(name: string): ConnectedServer {
    const server = this.#judge.visibleServer(name);
    const denial = this.#judge.serverDenial(server);
    if (denial !== undefined)
      throw errorOfDenial(denial, name, definitionOf(server.config.provenance));
    const { registry, closing: signal } = this.#parts;
    const pool = new McpConnectionPool({
      registry,
      judge: this.#judge,
      content: this.content,
      tools: () => this.#list.tools(),
      signal,
      call: (tool, args, options) => this.call(tool, args, options),
    });
    return pool.get(name) as ConnectedServer;
  }

  transaction<T>(
    work: (transaction: Transaction) => T | Promise<T>,
  ): Promise<TransactionResult<T>> {
    const { calls, events, clock, handlers, limits } = this.#parts;
    const state = this.#state;
    return runTransaction(work, { caller: this, calls, state, events, clock, handlers, limits });
  }

  history(): readonly ToolInvoked[] {
    return this.#history?.list() ?? [];
  }

  child(options: ChildOptions = {}): Session {
    const { human = this.human, tools = [] } = options;
    const rights = { ...childRights(this.#judge.rights, options), parent: this.#judge };
    this.#parts.requests.introduce(options.human);
    const child = new AgentSession({ ...this.#options, ...rights, human }, this.#parts);
    for (const name of tools) {
      const definition = this.#natives.definition(name);
      if (definition === undefined)
        throw nativeToolError(name, "is not defined in the parent session");
      child.defineTool(definition);
    }
    this.#parts.sessions.addChild(child, this);
    return child;
  }

  on<T extends HostEventType>(type: T, handler: (event: HostEventOf<T>) => void): Unsubscribe;
  on(type: "*", handler: (event: HostEvent) => void): Unsubscribe;
  on(type: HostEventType | "*", handler: (event: never) => void): Unsubscribe {
    const deliver = handler as (event: HostEvent) => void;
    const { events, registry } = this.#parts;
    const { agent, sessionId } = this;
    const listener = { agent, sessionId, judge: this.#judge, registry };
    return events.on(type as "*", (event) => {
      const part = partForSession(event, listener);
      // Returned, because the bus looks after handlers that fail later.
      return part === undefined ? undefined : deliver(part);
    });
  }

  resolve(called: CalledTool, signal: AbortSignal | undefined): CallTarget | Promise<CallTarget> {
    return this.#resolver.resolve(called, signal);
  }

  askConsent(target: CallTarget, args: ToolArguments, call: ConsentCall): Promise<boolean> {
    return this.#consent.ask(target, args, call);
  }

  #contextParts(): ToolContextParts {
    const { calls, clock, registry } = this.#parts;
    return {
      caller: this,
      calls,
      clock,
      state: this.#state,
      registry,
      judge: this.#judge,
      content: this.content,
      tools: () => this.#list.tools(),
    };
  }

  #publishState(keys: readonly string[]): void {
    const { events, clock } = this.#parts;
    if (!events.topic("state-changed").isHeard) return;
    const { sessionId } = this;
    events.emit({ type: "state-changed", sessionId, keys, at: clock.now() });
  }
}
