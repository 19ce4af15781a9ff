import { definitionOf } from "../config/keys/server-config.ts";
import { createError } from "../errors/families.ts";
import { McpError } from "../errors/mcp-error.ts";
import { errorOfDenial } from "../policy/decide-access.ts";
import type { ServerConnections } from "../registry/server-connections.ts";
import type { ServerRegistry } from "../registry/server-registry.ts";
import type { McpTool } from "./mcp-tool.ts";
import type { PromptParams, RenderOptions } from "./prompt/prompt-section.ts";
import {
  inventoryTemplate,
  inventoryValues,
  inventoryVariables,
  type ServerInventory,
} from "./prompt/render-inventory.ts";
import { SectionText } from "./prompt/section-text.ts";
import type { ToolJudge } from "./rights/tool-judge.ts";
import type { Section, SectionConnectOptions, SectionOptions, Session } from "./session.ts";

/** Makes servers given in code part of the host, and returns their names. */
export type AddServers = (entries: readonly unknown[]) => readonly string[];

export interface SectionParts {
  readonly session: Session;
  readonly registry: ServerRegistry;
  /** Of the session's agent. */
  readonly judge: ToolJudge;
  readonly addServers: AddServers;
}

/** A server that the section has asked for. */
interface HeldServer {
  readonly connections: ServerConnections;
  hasConnected: boolean;
}

export class AgentSection implements Section {
  readonly key: string;
  readonly title: string;
  readonly params: readonly string[];
  readonly acceptsOverrides: boolean;
  readonly ready: Promise<void>;
  readonly #options: SectionOptions;
  readonly #parts: SectionParts;
  readonly #text: SectionText;
  /** Absent: every server that the agent may use when the section is connected. */
  readonly #names: readonly string[] | undefined;
  /** In order; absent as long as the section is not connected. */
  #held: Map<string, HeldServer> | undefined;

  constructor(options: SectionOptions, parts: SectionParts) {
    const {
      key = "mcp.integrations",
      title = "MCP Integrations",
      template = inventoryTemplate,
      servers,
      connectOnInit = false,
    } = options;
    this.#options = options;
    this.#parts = parts;
    this.#text = new SectionText({ ...options, key, title, template }, inventoryVariables);
    ({ params: this.params, acceptsOverrides: this.acceptsOverrides } = this.#text);
    this.key = key;
    this.title = title;
    // After everything else that may be refused: no server joins the host for nothing.
    this.#names = servers === undefined ? undefined : this.#nameServers(servers);
    this.ready = connectOnInit ? this.connect() : Promise.resolve();
    // Whoever never looks at it learns of the failure from `tools()`.
    this.ready.catch(() => undefined);
  }

  get connected(): boolean {
    if (this.#held === undefined) return false;
    return (this.#names ?? [...this.#held.keys()]).every((name) => this.#isOpen(name));
  }

  get anyConnected(): boolean {
    return this.#held !== undefined && [...this.#held.keys()].some((name) => this.#isOpen(name));
  }

  async connect(options: SectionConnectOptions = {}): Promise<void> {
    const held = (this.#held ??= new Map<string, HeldServer>());
    const wanted = this.#wanted();
    // A server that was removed, or defined anew, since the last time.
    const outdated = [...held].filter(
      ([name, { connections }]) =>
        !wanted.includes(name) || this.#parts.registry.find(name)?.connections !== connections,
    );
    for (const [name] of outdated) held.delete(name);
    const results = await Promise.allSettled([
      ...wanted.map((name) => this.#connectServer(name, held, options)),
      ...outdated.map(([, { connections }]) => connections.giveBack(this)),
    ]);
    if (this.#held !== held)
      throw createError("closed", `the section "${this.key}" was disconnected meanwhile`);
    const reasons = results.flatMap((it) =>
      it.status === "rejected" ? [it.reason as unknown] : [],
    );
    if (reasons.length === 0) return;
    const isEnough = options.partial === "allow" && reasons.length < wanted.length;
    if (isEnough && options.signal?.aborted !== true) return;
    await this.disconnect();
    throw this.#failure(reasons, wanted.length);
  }

  async disconnect(): Promise<void> {
    const held = this.#held;
    this.#held = undefined;
    if (held === undefined) return;
    await Promise.all([...held.values()].map(({ connections }) => connections.giveBack(this)));
  }

  async open(options?: SectionConnectOptions): Promise<Section> {
    try {
      await this.connect(options);
    } catch (error) {
      // `await using` never sees a section that could not be opened.
      await this.disconnect();
      throw error;
    }
    return this;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.disconnect();
  }

  tools(): readonly McpTool[] {
    return Object.freeze(this.#inventory().flatMap(({ tools }) => tools));
  }

  async loadTools(): Promise<readonly McpTool[]> {
    await this.ready;
    return this.tools();
  }

  render(params: PromptParams = {}, options: RenderOptions = {}): string {
    const isShown = ({ tools }: ServerInventory) =>
      tools.length > 0 || this.#options.emptyServers !== "omit";
    const values = inventoryValues(this.#inventory().filter(isShown));
    return this.#text.render(values, params, options);
  }

  clone(session: Session): Section {
    // An empty section has the parts of its session, and nothing to start.
    const empty = session.section({ servers: [] });
    if (!(empty instanceof AgentSection) || empty.#parts.registry !== this.#parts.registry)
      throw createError("config_invalid", "a section can only be cloned within its own host");
    return new AgentSection({ ...this.#options, servers: this.#names }, empty.#parts);
  }

  #nameServers(servers: NonNullable<SectionOptions["servers"]>): readonly string[] {
    for (const server of servers)
      if (typeof server === "string") this.#parts.judge.visibleServer(server);
    const added = this.#parts
      .addServers(servers.filter((server) => typeof server !== "string"))
      .values();
    const names = servers.map((server) =>
      typeof server === "string" ? server : (added.next().value as string),
    );
    const twice = names.find((name, index) => names.indexOf(name) !== index);
    if (twice === undefined) return names;
    throw createError("config_invalid", `the section "${this.key}" names "${twice}" twice`, {
      serverName: twice,
    });
  }

  /** Names of the servers to connect; by default those that could be. */
  #wanted(): readonly string[] {
    if (this.#names !== undefined) return this.#names;
    const { registry, judge } = this.#parts;
    const canConnect = registry
      .all()
      .filter(({ config }) => config.transport.kind !== "none")
      .filter((server) => judge.serverDenial(server) === undefined);
    return canConnect.map(({ config }) => config.name);
  }

  async #connectServer(
    name: string,
    held: Map<string, HeldServer>,
    { signal, timeoutMs }: SectionConnectOptions,
  ): Promise<void> {
    const { judge, session } = this.#parts;
    const server = judge.visibleServer(name);
    const { connections } = server;
    const current = held.get(name) ?? { connections, hasConnected: false };
    // Entered anew, so that the order is that of this connect.
    held.delete(name);
    held.set(name, current);
    const denial = judge.serverDenial(server);
    if (denial !== undefined)
      throw errorOfDenial(denial, name, definitionOf(server.config.provenance));
    // Nothing was waited for until here, so a disconnect meanwhile cannot have missed the loan.
    await connections.borrow(session.agent, this)?.client({ signal, timeoutMs, isForced: true });
    current.hasConnected = true;
  }

  #isThere(name: string): boolean {
    const { registry, judge } = this.#parts;
    return registry.find(name) !== undefined && judge.sees(name);
  }

  #isOpen(name: string): boolean {
    const { registry, session } = this.#parts;
    return registry.find(name)?.connections.connectionOf(session.agent)?.openClient !== undefined;
  }

  /** Lists the usable tools of each server that has been connected and still exists. */
  #inventory(): readonly (ServerInventory & { readonly tools: readonly McpTool[] })[] {
    const held = [...(this.#held ?? [])].filter(([name]) => this.#isThere(name));
    // A server that failed at first may have reconnected by itself.
    const reached = held.filter(([name, { hasConnected }]) => hasConnected || this.#isOpen(name));
    if (this.#held === undefined || (reached.length === 0 && held.length > 0))
      throw this.#notConnected();
    const tools = this.#parts.session.tools();
    return reached.map(([serverName]) => ({
      serverName,
      tools: tools.filter((tool) => tool.serverName === serverName),
    }));
  }

  /** Returns a single failure as it is; several become one error with the code of the first, naming each. */
  #failure(reasons: readonly unknown[], serverCount: number): unknown {
    const errors = reasons.filter((reason) => McpError.is(reason));
    const [first] = errors;
    if (first === undefined || errors.length === 1) return first ?? reasons[0];
    const told = errors.map(({ serverName, message }) => `${serverName}: ${message}`).join("; ");
    return createError(
      first.code,
      `${errors.length} of ${serverCount} servers of the section "${this.key}" could not be connected: ${told}`,
      {
        details: {
          section: this.key,
          failures: errors.map(({ serverName, code, message }) => ({ serverName, code, message })),
        },
        hint: first.hint,
        cause: new AggregateError(errors, "servers that could not be connected"),
      },
    );
  }

  #notConnected(): McpError {
    // `unreachable` is the connection code that means: not now, perhaps later.
    return createError("unreachable", `the section "${this.key}" is not connected`, {
      details: { section: this.key },
      hint: "call connect() first, or open()",
    });
  }
}
