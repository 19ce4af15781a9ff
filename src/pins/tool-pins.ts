import { loadOnce } from "../async/load-once.ts";
import { createQueue } from "../async/queue.ts";
import { TimeSlice } from "../async/time-slice.ts";
import { type ConsentId, hasLastingIds } from "../config/keys/server-ids.ts";
import type { EventBus } from "../events/event-bus.ts";
import type { AccessRevision } from "../policy/access-revision.ts";
import type { PinVerdict } from "../policy/decide-access.ts";
import type { Clock } from "../ports/clock.ts";
import type { ListedTool } from "../protocol/protocol-client.ts";
import type { RegisteredServer, ServerRegistry } from "../registry/server-registry.ts";
import type { HostStore } from "../store/host-store.ts";
import type { StoredDefinition } from "../store/rows/pin-rows.ts";
import type { Store } from "../store/store.ts";
import { createInspector } from "./inspect-definition.ts";
import {
  type AcceptedDefinition,
  type PinnedTools,
  pinTools,
  type QuarantinedDefinition,
} from "./pin-tools.ts";
import type { Pins, QuarantinedTool } from "./pins.ts";
import { definitionOfTool, fingerprintOf } from "./tool-fingerprint.ts";

export interface ToolPinsParts {
  readonly revision: AccessRevision;
  readonly store: HostStore;
  readonly registry: Pick<ServerRegistry, "all" | "get" | "consentIds">;
  readonly events: EventBus;
  readonly clock: Clock;
}

/** What a verdict depends on of a tool in the catalog. */
export interface OfferedTool {
  readonly originalName: string;
  readonly listed: ListedTool;
  /** `false`: the program registered it itself. */
  readonly isLive: boolean;
}

interface ServerPins extends Pick<PinnedTools, "accepted" | "quarantined"> {
  readonly server: RegisteredServer;
  /** The last list of the server. */
  readonly listed: readonly ListedTool[];
  /** The last comparison has accepted every tool of the list, and nobody has changed a pin since. */
  readonly isAcceptedWhole: boolean;
  /** The accepted tools of lists that were asked about; a change of the pins makes another record. */
  readonly acceptedOf: WeakMap<readonly OfferedTool[], readonly OfferedTool[]>;
}

interface FreshTools {
  readonly server: RegisteredServer;
  readonly tools: readonly ListedTool[];
}

/** Loaded for the first person who looks at a quarantined tool. */
const loadDescription = loadOnce(() => import("./describe-quarantined.ts"));

/** The number of servers whose pins are read with one query. */
const serversPerRead = 50;
/** Bound on events for one list: each is an entry of the audit trail, and a server decides how many there would be. */
const maxAnnounced = 100;

/**
 * Holds every server to what its tools were when they were first seen. A tool that is defined
 * differently, or that reads like an attack from the start, is quarantined until a person accepts it.
 */
export class ToolPins implements Pins {
  readonly #parts: ToolPinsParts;
  readonly #servers = new Map<ConsentId, ServerPins>();
  readonly #readsWell = createInspector();
  /** Servers whose quarantined tools are about to be written. */
  readonly #unwritten = new Set<ConsentId>();
  /** Runs one task after the other: neither an older list nor one from before a yes may have the last word. */
  readonly #inTurn = createQueue();
  /** New tools whose pins are about to be written, by server. */
  #fresh = new Map<ConsentId, FreshTools>();
  /** New pins wait to be written, and no call has asked for them yet. */
  #hasDelayedPins = false;

  constructor(parts: ToolPinsParts) {
    this.#parts = parts;
  }

  verdict(consentId: ConsentId, tool: OfferedTool): PinVerdict {
    // A tool that the program registered itself came from no server.
    if (!tool.isLive) return "accepted";
    const { accepted, quarantined } = this.#servers.get(consentId) ?? {};
    const pin = accepted?.get(tool.originalName);
    if (pin === undefined) return "suspect";
    // Whoever still holds the old definition must not call it: the server has changed the tool by now.
    const isAsListed = quarantined?.has(tool.originalName) !== true;
    return isAsListed && pin.fingerprint === fingerprintOf(tool.listed) ? "accepted" : "changed";
  }

  /** The tools among these that agents may be offered; `tools` is a list that is never changed. */
  accepted<Tool extends OfferedTool>(
    { consentId }: RegisteredServer,
    tools: readonly Tool[],
  ): readonly Tool[] {
    const pins = this.#servers.get(consentId);
    const known = pins?.acceptedOf.get(tools) as readonly Tool[] | undefined;
    if (known !== undefined) return known;
    const isWhole = pins?.isAcceptedWhole === true && isPartOf(tools, pins.listed);
    const accepted = isWhole
      ? tools
      : tools.filter((tool) => this.verdict(consentId, tool) === "accepted");
    pins?.acceptedOf.set(tools, accepted);
    return accepted;
  }

  /**
   * Has new pins written soon, because a tool is being called: what it was when it was first seen must not
   * be forgotten any more.
   */
  persistPins(): void {
    if (!this.#hasDelayedPins) return;
    this.#hasDelayedPins = false;
    this.#parts.store.flushSoon();
  }

  /** The names of a server's quarantined tools; for one reason only, if one is given. */
  quarantined(
    { consentId }: RegisteredServer,
    reason?: QuarantinedDefinition["reason"],
  ): readonly string[] {
    const { quarantined } = this.#servers.get(consentId) ?? {};
    if (quarantined === undefined || quarantined.size === 0) return [];
    return [...quarantined]
      .filter(([, tool]) => reason === undefined || tool.reason === reason)
      .map(([name]) => name);
  }

  /** Reads again what other hosts have pinned and accepted, and forgets servers that are gone. */
  async load(): Promise<void> {
    const known = this.#parts.registry.consentIds();
    for (const consentId of this.#servers.keys())
      if (!known.has(consentId)) {
        this.#servers.delete(consentId);
        this.#parts.revision.advance(consentId);
      }
    const servers = [...this.#servers.values()].flatMap(({ server }) =>
      hasLastingIds(server.config) ? [server] : [],
    );
    await this.#parts.store.read((store) => this.#compareStored(store, servers), undefined);
  }

  /** Compares the last lists of these servers with what the store has by now. */
  async #compareStored(store: Store, servers: readonly RegisteredServer[]): Promise<void> {
    const slice = new TimeSlice();
    for (let first = 0; first < servers.length; first += serversPerRead) {
      const some = servers.slice(first, first + serversPerRead);
      const stored = await readPins(store, some);
      for (const server of some) {
        // SQLite answers at once: without this a thousand servers would be compared in one turn.
        if (slice.isOver) await slice.next();
        await this.#compare(server, undefined, stored.get(server.consentId) ?? none);
      }
    }
  }

  /** Pins the new tools of a list and quarantines the changed ones, before the list is offered to anyone. */
  async review(server: RegisteredServer, listed: readonly ListedTool[]): Promise<void> {
    const review = await this.reviewOf([server]);
    await review(server, listed);
  }

  /** Reads the pins of several servers together; what it gives reviews their lists, as `review` does. */
  async reviewOf(
    servers: readonly RegisteredServer[],
  ): Promise<(server: RegisteredServer, listed: readonly ListedTool[]) => Promise<void>> {
    const unknown = servers.filter(
      ({ config, consentId }) => !this.#servers.has(consentId) && hasLastingIds(config),
    );
    const stored =
      unknown.length === 0
        ? nothingStored
        : // A store that cannot be read is a problem of the configuration already; nothing is known from it.
          await this.#parts.store
            .read((opened) => readPins(opened, unknown), nothingStored)
            .catch(() => nothingStored);
    return async (server, listed) => {
      // What was compared meanwhile knows more than what was read before it.
      const isNew = !this.#servers.has(server.consentId);
      const pinned = isNew ? stored.get(server.consentId) : undefined;
      const fresh = await this.#compare(server, listed, pinned ?? none);
      if (fresh.length === 0 || !hasLastingIds(server.config)) return;
      this.#hasDelayedPins = true;
      this.#writeFresh(server, fresh);
    };
  }

  async list(serverName?: string): Promise<readonly QuarantinedTool[]> {
    const { registry } = this.#parts;
    const servers = serverName === undefined ? registry.all() : [registry.get(serverName)];
    const tools = servers.flatMap((server) => {
      const quarantined = this.#servers.get(server.consentId)?.quarantined ?? [];
      return [...quarantined].map(([tool, current]) => ({ server, tool, current }));
    });
    const described: QuarantinedTool[] = [];
    const slice = new TimeSlice();
    for (const { server, tool, current } of tools) {
      if (slice.isOver) await slice.next();
      described.push(await this.#describe(server, tool, current));
    }
    return described;
  }

  async show(serverName: string, tool: string): Promise<QuarantinedTool | undefined> {
    const server = this.#parts.registry.get(serverName);
    const current = this.#servers.get(server.consentId)?.quarantined.get(tool);
    if (current === undefined) return undefined;
    return await this.#describe(server, tool, current, true);
  }

  async accept(serverName: string, tool: string, fingerprint: string): Promise<boolean> {
    const { registry, store, events, clock } = this.#parts;
    const server = registry.get(serverName);
    const { consentId } = server;
    const before = this.#servers.get(consentId);
    const shown = before?.quarantined.get(tool);
    if (before === undefined || shown?.fingerprint !== fingerprint) return false;
    const { definition, reason } = shown;
    if (hasLastingIds(server.config)) {
      // What is shown may not have been written yet.
      const isAccepted = await store.write(({ pins }) =>
        pins.acceptShown(consentId, { tool, fingerprint, definition }),
      );
      if (isAccepted === false) return false;
    }
    await this.#inTurn(() => {
      // The list may have been compared anew while the store was written.
      const now = this.#servers.get(consentId) ?? before;
      now.accepted.set(tool, { fingerprint, definition });
      if (now.quarantined.get(tool)?.fingerprint === fingerprint) now.quarantined.delete(tool);
      this.#servers.set(consentId, { ...now, isAcceptedWhole: false, acceptedOf: new WeakMap() });
      this.#parts.revision.advance(consentId);
    });
    events.emit({ type: "tool-accepted", serverName, toolName: tool, reason, at: clock.now() });
    return true;
  }

  async #describe(
    server: RegisteredServer,
    tool: string,
    current: QuarantinedDefinition,
    isWhole?: boolean,
  ): Promise<QuarantinedTool> {
    const isKnown = current.reason === "changed";
    const accepted = isKnown ? await this.#acceptedDefinition(server, tool) : undefined;
    const { describeQuarantined } = await loadDescription();
    return await describeQuarantined({
      server: server.config.name,
      tool,
      current,
      accepted,
      isWhole,
    });
  }

  async #acceptedDefinition({ consentId }: RegisteredServer, tool: string): Promise<unknown> {
    const accepted = this.#servers.get(consentId)?.accepted.get(tool);
    if (accepted === undefined || accepted.definition !== undefined) return accepted?.definition;
    const stored = await this.#parts.store.read(
      ({ pins }) => pins.definitions(consentId, tool),
      {},
    );
    return stored.accepted?.definition;
  }

  /** Compares the given list, or the last one there was, with the pins; gives the tools this pins. */
  #compare(
    server: RegisteredServer,
    listed: readonly ListedTool[] | undefined,
    stored: ReadonlyMap<string, AcceptedDefinition>,
  ): Promise<readonly ListedTool[]> {
    return this.#inTurn(() => this.#compareNow(server, listed, stored));
  }

  async #compareNow(
    server: RegisteredServer,
    given: readonly ListedTool[] | undefined,
    stored: ReadonlyMap<string, AcceptedDefinition>,
  ): Promise<readonly ListedTool[]> {
    const { consentId } = server;
    const before = this.#servers.get(consentId);
    const listed = given ?? before?.listed;
    // The server was forgotten while its pins were being written.
    if (listed === undefined) return [];
    const { accepted, quarantined, fresh } = await pinTools(
      listed,
      // A stored pin wins over one that this host made and could not write any more.
      before === undefined ? stored : [...before.accepted, ...stored],
      this.#readsWell,
    );
    this.#servers.set(consentId, {
      server,
      listed,
      accepted,
      quarantined,
      isAcceptedWhole: quarantined.size === 0,
      acceptedOf: new WeakMap(),
    });
    if (before === undefined || !isSame(before, { accepted, quarantined }))
      this.#parts.revision.advance(consentId);
    this.#publish(server, before?.quarantined ?? new Map(), quarantined);
    return fresh;
  }

  /** Writes and announces what has changed about the quarantined tools. */
  #publish(
    server: RegisteredServer,
    before: ReadonlyMap<string, QuarantinedDefinition>,
    now: ReadonlyMap<string, QuarantinedDefinition>,
  ): void {
    const { events, clock } = this.#parts;
    const { name: serverName } = server.config;
    const changed = [...now].filter(
      ([name, { fingerprint }]) => before.get(name)?.fingerprint !== fingerprint,
    );
    if (changed.length > 0 || [...before.keys()].some((name) => !now.has(name)))
      this.#writeQuarantined(server);
    for (const [toolName, { reason }] of changed.slice(0, maxAnnounced))
      events.emit({ type: "tool-quarantined", serverName, toolName, reason, at: clock.now() });
    const more = changed.length - maxAnnounced;
    if (more <= 0) return;
    const text = `${more} more of its tools wait for a person to look at them`;
    events.emit({ type: "warning", serverName, text, at: clock.now() });
  }

  /** Writes the pins of many servers together, and later: a host that only lists need not wait for the store. */
  #writeFresh(server: RegisteredServer, tools: readonly ListedTool[]): void {
    const isWaiting = this.#fresh.size > 0;
    const before = this.#fresh.get(server.consentId)?.tools ?? [];
    this.#fresh.set(server.consentId, { server, tools: [...before, ...tools] });
    if (isWaiting) return;
    this.#parts.store.writeLater("the pins", () => {
      const fresh = this.#fresh;
      this.#fresh = new Map();
      return (opened) => this.#acceptFresh(opened, fresh);
    });
  }

  async #acceptFresh(opened: Store, fresh: ReadonlyMap<ConsentId, FreshTools>): Promise<void> {
    const definitions = new Map<ConsentId, readonly StoredDefinition[]>();
    const slice = new TimeSlice();
    for (const [consentId, { tools }] of fresh) {
      const ofServer: StoredDefinition[] = [];
      for (const tool of tools) {
        if (slice.isOver) await slice.next();
        ofServer.push(toStoredDefinition(tool));
      }
      definitions.set(consentId, ofServer);
    }
    if (slice.isOver) await slice.next();
    const contested = await opened.pins.acceptNew(definitions);
    // Another host has seen some of these tools first, perhaps with another definition.
    const servers = [...contested].flatMap((consentId) => fresh.get(consentId)?.server ?? []);
    await this.#compareStored(opened, servers);
  }

  /** Writes once for all changes until then: a server may change its tools with every list. */
  #writeQuarantined({ consentId, config }: RegisteredServer): void {
    if (!hasLastingIds(config) || this.#unwritten.has(consentId)) return;
    this.#unwritten.add(consentId);
    this.#parts.store.writeLater("the changed definitions of tools", () => {
      this.#unwritten.delete(consentId);
      const quarantined = this.#servers.get(consentId)?.quarantined ?? [];
      const definitions = [...quarantined].map(([tool, state]) => ({ tool, ...state }));
      return ({ pins }) => pins.replaceQuarantined(consentId, definitions);
    });
  }
}

type Comparison = Pick<PinnedTools, "accepted" | "quarantined">;

/** Whether every verdict is the same after both comparisons. */
function isSame(one: Comparison, other: Comparison): boolean {
  return (
    haveSameFingerprints(one.accepted, other.accepted) &&
    haveSameFingerprints(one.quarantined, other.quarantined)
  );
}

function haveSameFingerprints(one: Fingerprints, other: Fingerprints): boolean {
  if (one.size !== other.size) return false;
  for (const [name, { fingerprint }] of one)
    if (other.get(name)?.fingerprint !== fingerprint) return false;
  return true;
}

type Fingerprints = ReadonlyMap<string, { readonly fingerprint: string }>;

/** Whether all of these tools are of this list, in its order: as the catalog has them, which leaves some out. */
function isPartOf(tools: readonly OfferedTool[], listed: readonly ListedTool[]): boolean {
  let next = 0;
  return tools.every((tool) => {
    // What the program adds to a list is of no server, and always accepted.
    if (!tool.isLive) return true;
    while (next < listed.length && listed[next] !== tool.listed) next += 1;
    next += 1;
    return next <= listed.length;
  });
}

type StoredPins = ReadonlyMap<string, AcceptedDefinition>;

const none: StoredPins = new Map();
const nothingStored: ReadonlyMap<ConsentId, StoredPins> = new Map();

function toStoredDefinition(tool: ListedTool): StoredDefinition {
  const definition = definitionOfTool(tool);
  return { tool: tool.name, fingerprint: fingerprintOf(tool), definition };
}

async function readPins(
  { pins }: Store,
  servers: readonly RegisteredServer[],
): Promise<ReadonlyMap<ConsentId, StoredPins>> {
  const stored = await pins.accepted(servers.map(({ consentId }) => consentId));
  return new Map([...stored].map(([consentId, tools]) => [consentId, asDefinitions(tools)]));
}

function asDefinitions(fingerprints: ReadonlyMap<string, string>): StoredPins {
  const definitions = new Map<string, AcceptedDefinition>();
  for (const [tool, fingerprint] of fingerprints) definitions.set(tool, { fingerprint });
  return definitions;
}
