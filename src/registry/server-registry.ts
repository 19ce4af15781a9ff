import { isDeepStrictEqual } from "node:util";

import type { ApprovedLaunches, DescribedServer } from "../approval/approved-launches.ts";
import { consentIdOf, entryIdOf, launchFacts } from "../approval/launch-facts.ts";
import { definitionOf, type ServerConfig } from "../config/keys/server-config.ts";
import type { ConsentId } from "../config/keys/server-ids.ts";
import type { ServerConnection } from "../connection/server-connection.ts";
import { createError } from "../errors/families.ts";
import type { McpError } from "../errors/mcp-error.ts";
import type { ServerState } from "../events/host-event.ts";
import type { CheckedLaunch } from "../isolation/process/checked-launch.ts";
import type { AccessRevision } from "../policy/access-revision.ts";
import { denyLaunch, errorOfDenial } from "../policy/decide-access.ts";
import type { ConsentMode } from "../policy/decide-consent.ts";
import { closest } from "../text/closest.ts";
import { ConsentModes } from "./consent-modes.ts";
import { chooseEntries } from "./entries-in-force.ts";
import { type Claim, ServerConnections } from "./server-connections.ts";
import { type ClaimOptions, ServerVisibility } from "./server-visibility.ts";

/** One server as the registry keeps it. The connections exist from the start and open when needed. */
export interface RegisteredServer extends DescribedServer {
  /** The one that everybody uses who has none of their own. */
  readonly connection: ServerConnection;
  readonly connections: ServerConnections;
  readonly consent: ConsentModes;
  readonly visibility: ServerVisibility;
  readonly consentId: ConsentId;
  /** The ids under which changes of who may use it are noted, see `AccessRevision`. */
  readonly accessIds: readonly string[];
}

/** What somebody decided about a server's questions: the mode, or undefined where consent has ended. */
export interface ConsentChange {
  readonly serverName: string;
  /** Undefined: for everybody. */
  readonly agent: string | undefined;
  readonly mode: ConsentMode | undefined;
}

/** What `apply` did, by server name. */
export interface ServerChanges {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly string[];
  /** When the connections of servers that are gone or were replaced have ended. */
  readonly ended: Promise<void>;
}

/** What a connection is for, and what it has to ask about that. */
export interface ConnectionPurpose {
  readonly config: ServerConfig;
  /** The agent that alone uses the connection, null for everybody's. */
  readonly owner: string | null;
  /**
   * Throws when the server may not be started; to be asked right before each start. For a program of a project
   * it gives what was looked at: that, and nothing else, may be started.
   */
  readonly mayStart: () => CheckedLaunch | undefined;
  /**
   * The server as it is registered now; undefined once it is gone or another definition has taken its
   * name. To be asked after every wait, before what came over the connection is taken for the server's.
   */
  readonly server: () => RegisteredServer | undefined;
}

export interface ServerRegistryOptions {
  readonly createConnection: (purpose: ConnectionPurpose) => ServerConnection;
  /** The launches that a person has approved. */
  readonly launches: ApprovedLaunches;
  readonly revision: AccessRevision;
}

/**
 * Which servers exist, in order, and which of them may start. Entries of project files wait for a
 * person's approval of exactly their launch; everything else is approved by its origin.
 */
export class ServerRegistry {
  readonly #servers = new Map<string, RegisteredServer>();
  /** As given, nearest first; of several with one name at most one is in force. */
  #entries: readonly ServerConfig[] = [];
  /** Entries that nobody has approved and that would replace the one of their name that is in force. */
  readonly #waiting = new Map<string, RegisteredServer>();
  /** By server name; of servers that the last `apply` removed as well, since they are still spoken of. */
  readonly #visibilities = new Map<string, ServerVisibility>();
  readonly #endings = new Set<Promise<void>>();
  readonly #launches: ApprovedLaunches;
  readonly #createConnection: ServerRegistryOptions["createConnection"];
  #onConsentChange: ((change: ConsentChange) => void) | undefined;
  readonly #revision: AccessRevision;

  constructor(options: ServerRegistryOptions) {
    this.#createConnection = options.createConnection;
    this.#launches = options.launches;
    this.#revision = options.revision;
  }

  add(config: ServerConfig): RegisteredServer {
    for (const { config: other } of this.#servers.values()) {
      if (other.name !== config.name && other.id !== config.id) continue;
      throw createError(
        "config_invalid",
        `the name "${config.name}" is taken by server "${other.name}"`,
        { serverName: config.name, hint: "give one of them another name" },
      );
    }
    const server = this.#register(config, new ServerVisibility());
    this.#servers.set(config.name, server);
    this.#entries = [...this.#entries, config];
    this.#revision.advance(config.name);
    return server;
  }

  /**
   * Makes the servers exactly these, in this order; of several entries of one name `chooseEntries` tells
   * which. A server that is defined as before keeps its connection; any other begins anew, and the old one
   * ends with the calls under way on it. Who sees a server stays the same until it is removed.
   */
  apply(entries: readonly ServerConfig[]): ServerChanges {
    this.#entries = entries;
    return this.settle();
  }

  /** Makes the servers follow what has been approved, or taken back, since the entries were given. */
  settle(): ServerChanges {
    const { inForce, waiting } = chooseEntries(this.#entries, (config) =>
      this.#launches.has(describe(config)),
    );
    const changes = this.#serve(inForce);
    const outdated = new Map(this.#waiting);
    this.#waiting.clear();
    for (const [name, config] of waiting) {
      const known = outdated.get(name);
      if (known !== undefined && isSameDefinition(known.config, config)) {
        this.#waiting.set(name, { ...known, config });
        outdated.delete(name);
      } else this.#waiting.set(name, this.#register(config, this.get(name).visibility));
    }
    // They were never opened, so there is nothing to wait for.
    void settleAll(endings([...outdated.values()])).catch(() => undefined);
    return changes;
  }

  #serve(configs: readonly ServerConfig[]): ServerChanges {
    const before = new Map(this.#servers);
    const added: string[] = [];
    const changed: string[] = [];
    for (const name of this.#visibilities.keys())
      if (!before.has(name)) this.#visibilities.delete(name);
    this.#servers.clear();
    for (const config of configs) {
      const { name } = config;
      const known = before.get(name);
      if (known !== undefined && isSameDefinition(known.config, config)) {
        before.delete(name);
        if (isDeepStrictEqual(known.config.provenance, config.provenance)) {
          this.#servers.set(name, known);
          continue;
        }
        for (const connection of known.connections.all) connection.updateProvenance(config);
        this.#servers.set(name, { ...known, config });
        this.#revision.advance(name);
        continue;
      }
      this.#servers.set(name, this.#register(config, known?.visibility ?? new ServerVisibility()));
      (known === undefined ? added : changed).push(name);
    }
    const gone = [...before.values()];
    const removed = [...before.keys()].filter((name) => !this.#servers.has(name));
    for (const name of [...added, ...changed, ...removed]) this.#revision.advance(name);
    const ended = this.#ending(settleAll(endings(gone)));
    return { added, removed, changed, ended };
  }

  /** In order of precedence and, within a source, as written. */
  all(): readonly RegisteredServer[] {
    return [...this.#servers.values()];
  }

  /** What is known under any other id is of no use to anybody here. */
  consentIds(): ReadonlySet<ConsentId> {
    return new Set(this.all().map(({ consentId }) => consentId));
  }

  find(name: string): RegisteredServer | undefined {
    return this.#servers.get(name);
  }

  /** The server as it is registered now, perhaps written elsewhere in its file; undefined once it was replaced or removed. */
  current({ config, connections }: RegisteredServer): RegisteredServer | undefined {
    const now = this.#servers.get(config.name);
    return now?.connections === connections ? now : undefined;
  }

  /** The entry of this name that a person is asked about: one that waits to replace the server, else the server. */
  toApprove(name: string): RegisteredServer {
    return this.#waiting.get(name) ?? this.get(name);
  }

  /** The unapproved entry that would replace the server. */
  waitingFor({ config }: RegisteredServer): RegisteredServer | undefined {
    return this.#waiting.get(config.name);
  }

  /** Who sees the server of this name, or saw it before it was removed; undefined for a name nobody can know. */
  visibilityOf(name: string): ServerVisibility | undefined {
    return this.#visibilities.get(name);
  }

  /** The server, or `server_unknown` with the names that were probably meant. */
  get(name: string): RegisteredServer {
    const server = this.#servers.get(name);
    if (server !== undefined) return server;
    const names = [...this.#servers.keys()];
    throw createError("server_unknown", `no server "${name}"`, {
      details: { suggestions: closest(name, names), configured: names },
    });
  }

  /** The connection that is asked for; verdicts on the server may change with it. */
  claim(server: RegisteredServer, options: ClaimOptions): Claim {
    const { name } = server.config;
    this.#revision.advance(name);
    const { connection, drop } = server.connections.claim(options);
    return {
      connection,
      drop: () => {
        this.#revision.advance(name);
        return this.#ending(drop());
      },
    };
  }

  /** `owner` lets go of the server, or everybody does: what was allowed of it ends, too. */
  async release(server: RegisteredServer, owner?: string): Promise<void> {
    const { connections, config } = server;
    const ended =
      owner === undefined ? connections.releaseAll() : connections.release(owner, config.name);
    this.endConsent(server, owner);
    await this.#ending(ended);
  }

  /** Closes the server's connections and ends what was allowed of it. Who sees it stays the same. */
  async stop(server: RegisteredServer): Promise<void> {
    this.endConsent(server);
    await server.connections.close();
  }

  /** Every server is let go of by everybody; the next use opens it again. */
  async releaseAll(): Promise<void> {
    await settleAll(this.all().map((server) => this.release(server)));
  }

  /** How often this agent's person is asked about the server's tools; everybody's without an agent. */
  setConsentMode({ config, consent }: RegisteredServer, mode: ConsentMode, agent?: string): void {
    this.#revision.advance(config.name);
    consent.setMode(mode, agent);
    this.#onConsentChange?.({ serverName: config.name, agent, mode });
  }

  /** What was allowed of the server in running sessions no longer counts, for one agent or for all. */
  endConsent(server: RegisteredServer, agent?: string): void {
    this.withdrawConsent(server, agent);
    this.#onConsentChange?.({ serverName: server.config.name, agent, mode: undefined });
  }

  /** Ends consent without telling the listener: the caller publishes one event for a decision that reaches further. */
  withdrawConsent({ config, consent }: RegisteredServer, agent?: string): void {
    this.#revision.advance(config.name);
    consent.end(agent);
  }

  /** Calls `listener`, the only one, after each such decision. */
  onConsentChange(listener: (change: ConsentChange) => void): void {
    this.#onConsentChange = listener;
  }

  isApproved(server: RegisteredServer): boolean {
    return this.#launches.isApproved(server);
  }

  /** The one state every surface shows: being switched off or unapproved outranks the connection's. */
  state(server: RegisteredServer, { state } = server.connections.mostAdvanced): ServerState {
    if (!server.config.enabled) return "disabled";
    if (!this.isApproved(server)) return "pending";
    // The connection was held back once; it does not hear of the approval.
    return state === "pending" ? "idle" : state;
  }

  /** Why this server may not be started now, or undefined. */
  obstacle(server: RegisteredServer): McpError | undefined {
    const { name, enabled, provenance } = server.config;
    const denial = denyLaunch({
      serverName: name,
      isEnabled: enabled,
      isLaunchApproved: this.isApproved(server),
    });
    return denial === undefined ? undefined : errorOfDenial(denial, name, definitionOf(provenance));
  }

  /** What has to be asked right before each start of the server, see `ConnectionPurpose`. */
  mayStart(server: RegisteredServer): ConnectionPurpose["mayStart"] {
    return () => this.#throwIfBarred(server);
  }

  /** Asks every connected server for a sign of life; gives the names of those that gave none and were dropped. */
  async dropDead(): Promise<readonly string[]> {
    const open = this.all()
      .flatMap(({ connections }) => connections.all)
      .filter((connection) => connection.openClient !== undefined);
    const checks = await Promise.all(open.map((connection) => connection.isAlive()));
    const dead = open.filter((_, index) => !checks[index]);
    return [...new Set(dead.map(({ config }) => config.name))];
  }

  /** Closes every connection for good. */
  async endAll(): Promise<void> {
    await settleAll(endings(this.all()));
    await Promise.all(this.#endings);
  }

  /** Nobody finds these connections any more, but nothing of them may be left when all have ended. */
  #ending(ended: Promise<void>): Promise<void> {
    const settled = ended
      .catch(() => undefined)
      .then(() => {
        this.#endings.delete(settled);
      });
    this.#endings.add(settled);
    return ended;
  }

  #register(config: ServerConfig, visibility: ServerVisibility): RegisteredServer {
    const create = (owner: string | null): ServerConnection =>
      this.#createConnection({
        config,
        owner,
        mayStart: () => this.#throwIfBarred(server),
        server: () => this.current(server),
      });
    const connection = create(null);
    this.#visibilities.set(config.name, visibility);
    const described = describe(config);
    const server: RegisteredServer = {
      ...described,
      accessIds: [config.name, described.entryId, described.consentId],
      connection,
      connections: new ServerConnections({ visibility, everybodys: connection, create }),
      consent: new ConsentModes(),
      visibility,
    };
    return server;
  }

  /** Looks at the files again: between the verdict and the start a link may have been turned elsewhere. */
  #throwIfBarred(registered: RegisteredServer): CheckedLaunch | undefined {
    this.#launches.forgetLook(registered);
    const obstacle = this.obstacle(this.current(registered) ?? registered);
    if (obstacle !== undefined) throw obstacle;
    return this.#launches.checked(registered);
  }
}

function describe(
  config: ServerConfig,
): Pick<RegisteredServer, "config" | "entryId" | "consentId"> {
  const facts = launchFacts(config);
  const entryId = entryIdOf(facts);
  return { config, entryId, consentId: consentIdOf(facts, config.provenance, entryId) };
}

/** Where in its file an entry stands may change without the entry having changed. */
export function isSameDefinition(one: ServerConfig, other: ServerConfig): boolean {
  // Nearly always so when a host starts; Node loads what compares objects when it is first asked to.
  if (one === other) return true;
  const { provenance, ...rest } = other;
  const { layer, path } = provenance;
  const isSamePlace = one.provenance.layer === layer && one.provenance.path === path;
  return isSamePlace && isDeepStrictEqual({ ...one, provenance }, { ...rest, provenance });
}

function endings(servers: readonly RegisteredServer[]): readonly Promise<void>[] {
  return servers.flatMap(({ connections }) => connections.end());
}

/** Waits for all of them even when one fails. */
async function settleAll(ends: readonly Promise<void>[]): Promise<void> {
  const results = await Promise.allSettled(ends);
  const failed = results.filter((result) => result.status === "rejected");
  if (failed.length > 0)
    throw new AggregateError(
      failed.map(({ reason }) => reason as unknown),
      "some servers could not be closed",
    );
}
