import { createError } from "../../errors/families.ts";
import type { McpError } from "../../errors/mcp-error.ts";
import type { McpHost, ServerStatus } from "../../host/host.ts";
import { AttachedHost } from "../../host/resident/attached-host.ts";
import type { SharedHost, SharedSession } from "../../host/shared-host.ts";
import type { Human } from "../../human/human.ts";
import type { PermissionLevel } from "../../policy/permission-level.ts";
import type { Holding, Workplace } from "../context/workplace.ts";

export interface SeatOptions {
  /** The host that is looked at and called; it may run in another process. */
  readonly host: SharedHost;
  /** The host for what is configured and kept, which is always of this process. */
  readonly wholeHost: () => Promise<McpHost>;
  /** Who is asked about calls; nobody where nobody sits. */
  readonly human: Human;
  readonly agent: string;
  readonly level: PermissionLevel;
  readonly lendTerminal: Workplace["lendTerminal"];
}

/** What one agent of the REPL is and has, also while another one is at its place. */
interface SeatedAgent {
  readonly name: string;
  level: PermissionLevel;
  readonly holdings: Map<string, Holding>;
  /** Tools that were chosen to be called without a question, by server, each with its definition at that time. */
  readonly chosen: Map<string, ReadonlyMap<string, string>>;
  /** By level: another level is another session. */
  readonly sessions: Map<PermissionLevel, WeakMap<SharedHost, SharedSession>>;
}

/** The place of whoever types: as one agent at a time, each with a session that lasts as long as the REPL. */
export class AgentSeat implements Workplace {
  readonly program = "/mcp";
  readonly lendTerminal: Workplace["lendTerminal"];
  #host: SharedHost;
  readonly #wholeHost: SeatOptions["wholeHost"];
  readonly #human: Human;
  readonly #agents = new Map<string, SeatedAgent>();
  /** Views of the host, as `hostInView` gave them. */
  readonly #views = new WeakSet<SharedHost>();
  #seated: SeatedAgent;

  constructor({ host, wholeHost, human, agent, level, lendTerminal }: SeatOptions) {
    this.#host = host;
    this.#wholeHost = wholeHost;
    this.#human = human;
    this.lendTerminal = lendTerminal;
    this.#seated = this.#agentOf(agent, level);
  }

  get agent(): string {
    return this.#seated.name;
  }

  get level(): PermissionLevel {
    return this.#seated.level;
  }

  /** From here on somebody else types; without a level at the one it had, or at the present one. */
  sit(agent: string, level: PermissionLevel | undefined): void {
    const seated = this.#agentOf(agent, level ?? this.level);
    if (level !== undefined) seated.level = level;
    this.#seated = seated;
  }

  async sharedHost(): Promise<SharedHost> {
    return this.hostInView();
  }

  /** The host with the servers that the agent sees. */
  hostInView(): SharedHost {
    const servers = (): readonly ServerStatus[] => this.#visibleServers();
    const server = (name: string): ServerStatus => {
      const status = this.#host.server(name);
      if (this.#sees(name)) return status;
      throw this.#hiddenError(name);
    };
    const serversAsLastSeen = async (): Promise<readonly ServerStatus[]> =>
      (await this.#host.serversAsLastSeen()).filter(({ name }) => this.#sees(name));
    const own: Partial<SharedHost> = { servers, server, serversAsLastSeen };
    const view: SharedHost = new Proxy(this.#host, {
      get: (host, key) => {
        if (Object.hasOwn(own, key)) return Reflect.get(own, key) as unknown;
        const value: unknown = Reflect.get(host, key, host);
        return typeof value === "function" ? (value.bind(host) as unknown) : value;
      },
    });
    this.#views.add(view);
    return view;
  }

  wholeHost(): Promise<McpHost> {
    return this.#wholeHost();
  }

  /** Goes on at another host; what was connected and allowed at the one before is gone with it. */
  moveTo(host: SharedHost): void {
    this.#host = host;
    for (const { holdings, chosen } of this.#agents.values()) {
      holdings.clear();
      chosen.clear();
    }
  }

  /** Looks again at what a host in another process has, and at what the agent sees there. */
  async refresh(): Promise<void> {
    if (this.#host instanceof AttachedHost) await this.#host.refresh();
    await this.session(this.#host).ready({ servers: [] });
  }

  session(host: SharedHost): SharedSession {
    const { name: agent, level, sessions } = this.#seated;
    // A view of the host is as good as the host.
    const key = this.#views.has(host) ? this.#host : host;
    const known = sessions.get(level) ?? new WeakMap<SharedHost, SharedSession>();
    sessions.set(level, known);
    let session = known.get(key);
    if (session === undefined) {
      session = key.session({ agent, level, human: this.#human });
      known.set(key, session);
    }
    return session;
  }

  holdingOf(serverName: string): Holding | undefined {
    const { holdings, chosen } = this.#seated;
    const status = this.#host.servers().find(({ name }) => name === serverName);
    // One that was removed or switched off has been taken from everybody.
    if (status?.config.enabled !== true) {
      holdings.delete(serverName);
      chosen.delete(serverName);
    }
    return holdings.get(serverName);
  }

  /** A yes to all tools of a server counts from here on, where each tool was asked about so far. */
  async askPerServer(agent: string, serverName: string): Promise<void> {
    const { holdings } = this.#agentOf(agent, this.level);
    const holding = holdings.get(serverName);
    if (holding?.mode !== "ask-per-tool") return;
    const mode = "ask-per-server";
    await this.#host.connect(serverName, { owner: agent, shared: holding.isShared, mode });
    holdings.set(serverName, { ...holding, mode });
  }

  setHolding(serverName: string, holding: Holding | undefined): void {
    const { holdings, chosen } = this.#seated;
    if (holding !== undefined) {
      holdings.set(serverName, holding);
      return;
    }
    const isSharer = this.holdersOf(serverName)[0] === this.agent;
    const wasShared = holdings.get(serverName)?.isShared === true;
    holdings.delete(serverName);
    chosen.delete(serverName);
    // The shared connection ends with who shares it.
    if (!wasShared || !isSharer) return;
    for (const other of this.#agents.values())
      if (other.holdings.get(serverName)?.isShared === true) {
        other.holdings.delete(serverName);
        other.chosen.delete(serverName);
      }
  }

  holdersOf(serverName: string): readonly string[] {
    const holders = [...this.#agents.values()].filter(({ holdings }) => holdings.has(serverName));
    const isSharing = ({ holdings }: SeatedAgent): boolean =>
      holdings.get(serverName)?.isShared === true;
    return [...holders.filter(isSharing), ...holders.filter((one) => !isSharing(one))].map(
      ({ name }) => name,
    );
  }

  chooseTools(serverName: string, toolNames: readonly string[]): void {
    const definitions = this.#definitions(serverName).filter(([name]) => toolNames.includes(name));
    this.#seated.chosen.set(serverName, new Map(definitions));
  }

  /** Whether this tool was chosen to be called without a question, and still is what it was then. */
  isChosen(agent: string | undefined, serverName: string, toolName: string): boolean {
    const chosen = this.#agents
      .get(agent ?? "")
      ?.chosen.get(serverName)
      ?.get(toolName);
    if (chosen === undefined) return false;
    return this.#definitions(serverName).some(
      ([name, definition]) => name === toolName && definition === chosen,
    );
  }

  /** What the server says of a tool, in the word that people are shown. */
  claimOf(serverName: string, toolName: string): ToolClaim {
    const { tools } = this.#host.server(serverName);
    const { annotations } = tools.find(({ name }) => name === toolName) ?? {};
    return claimOf(annotations);
  }

  #definitions(serverName: string): readonly (readonly [name: string, definition: string])[] {
    return this.#host.server(serverName).tools.map((tool) => [tool.name, JSON.stringify(tool)]);
  }

  #agentOf(name: string, level: PermissionLevel): SeatedAgent {
    const known = this.#agents.get(name);
    if (known !== undefined) return known;
    const created = { name, level, holdings: new Map(), chosen: new Map(), sessions: new Map() };
    this.#agents.set(name, created);
    return created;
  }

  #visibleServers(): readonly ServerStatus[] {
    const visible = new Set(this.session(this.#host).servers());
    return this.#host.servers().filter(({ name }) => visible.has(name));
  }

  #sees(serverName: string): boolean {
    return this.session(this.#host).servers().includes(serverName);
  }

  #hiddenError(serverName: string): McpError {
    const [owner = "another agent"] = this.holdersOf(serverName);
    return createError(
      "denied",
      `"${serverName}" is connected for "${owner}" alone: "${this.agent}" does not see it`,
      { serverName, hint: `/agent ${owner}, or connect it there with --shared` },
    );
  }
}

export type ToolClaim = "read-only" | "write" | "destructive";

/** The server's own word; nothing of it was checked. */
export function claimOf(annotations: Readonly<Record<string, unknown>> | undefined): ToolClaim {
  if (annotations?.["readOnlyHint"] === true) return "read-only";
  return annotations?.["destructiveHint"] === true ? "destructive" : "write";
}
