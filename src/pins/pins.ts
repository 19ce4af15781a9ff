import type { CatalogTool } from "../catalog/catalog-tool.ts";
import { type ConsentId, hasLastingIds } from "../config/server-ids.ts";
import type { EventBus } from "../events/event-bus.ts";
import type { PinVerdict } from "../policy/decide-access.ts";
import { maxPinsPerServer } from "../policy/pin-limits.ts";
import type { Clock } from "../ports/clock.ts";
import { TimeSlice } from "../ports/time-slice.ts";
import type { ListedTool } from "../protocol/protocol-client.ts";
import type { RegisteredServer, ServerRegistry } from "../registry/server-registry.ts";
import type { HostStore } from "../store/host-store.ts";
import type { Store } from "../store/store.ts";
import { compareDefinitions } from "./compare-definitions.ts";
import { inspectDefinition } from "./inspect-definition.ts";
import { type AcceptedTool, judgeTools, type WaitingTool } from "./judge-tools.ts";
import type { PinLookup } from "./pin-lookup.ts";
import type { Pins, QuarantinedTool } from "./quarantined-tool.ts";
import { definitionOfTool, fingerprintOf } from "./tool-fingerprint.ts";

export interface PinBookParts {
  readonly store: HostStore;
  readonly registry: ServerRegistry;
  readonly events: EventBus;
  readonly clock: Clock;
}

/** The tools of one server, by its consent id. */
interface PinnedTools {
  readonly server: RegisteredServer;
  /** As it was listed last. */
  readonly listed: readonly ListedTool[];
  readonly accepted: Map<string, AcceptedTool>;
  readonly waiting: Map<string, WaitingTool>;
}

const maxReadBefore = 10_000;
/** Of one list. Each is an entry of the audit trail, and a server decides how many there are. */
const maxAnnounced = 100;

/**
 * Holds every server to what its tools were when they were first seen. A tool that is defined
 * differently, or that reads like an attack from the start, waits for a person.
 */
export class PinBook implements PinLookup, Pins {
  readonly #parts: PinBookParts;
  readonly #pinned = new Map<ConsentId, PinnedTools>();
  /** Whether a definition that was read raised no suspicion, by fingerprint. */
  readonly #readBefore = new Map<string, boolean>();
  /** Servers whose waiting tools are about to be written down. */
  readonly #unkept = new Set<ConsentId>();
  #lastTurn: Promise<unknown> = Promise.resolve();
  /** There are pins that wait to be written, and nobody has hurried that yet. */
  #isWaitingToKeep = false;
  #revision = 0;

  constructor(parts: PinBookParts) {
    this.#parts = parts;
  }

  get revision(): number {
    return this.#revision;
  }

  verdict(consentId: ConsentId, tool: CatalogTool): PinVerdict {
    // What the program registered itself came from no server.
    if (!tool.isLive) return "accepted";
    const { accepted, waiting } = this.#pinned.get(consentId) ?? {};
    const pin = accepted?.get(tool.originalName);
    if (pin === undefined) return "suspect";
    // Also for who still holds the tool as it was: the server that would be asked has changed it.
    const isAsListed = waiting?.has(tool.originalName) !== true;
    return isAsListed && pin.fingerprint === fingerprintOf(tool.listed) ? "accepted" : "changed";
  }

  /** On the path of every call; costs nothing once everything is written. */
  noteUse(): void {
    if (!this.#isWaitingToKeep) return;
    this.#isWaitingToKeep = false;
    this.#parts.store.flushSoon();
  }

  /** The names of a server's tools that wait; for one reason only, if one is given. */
  waiting({ consentId }: RegisteredServer, reason?: WaitingTool["reason"]): readonly string[] {
    const waiting = [...(this.#pinned.get(consentId)?.waiting ?? [])];
    return waiting
      .filter(([, tool]) => reason === undefined || tool.reason === reason)
      .map(([name]) => name);
  }

  /** Reads again what other hosts have pinned and accepted, and forgets servers that are gone. */
  async load(): Promise<void> {
    const known = this.#parts.registry.consentIds();
    for (const consentId of this.#pinned.keys())
      if (!known.has(consentId)) this.#pinned.delete(consentId);
    await this.#parts.store.read(async (store) => {
      for (const { server } of this.#pinned.values())
        if (hasLastingIds(server.config))
          await this.#compare(server, undefined, await readPins(store, server));
    }, undefined);
  }

  /** Before a list is offered to anyone: pins what is new and sets aside what is not as it was. */
  async review(server: RegisteredServer, listed: readonly ListedTool[]): Promise<void> {
    const { store } = this.#parts;
    const isNew = !this.#pinned.has(server.consentId) && hasLastingIds(server.config);
    const stored = isNew
      ? // A store that cannot be read is told with the configuration; nothing is known from it then.
        await store.read((opened) => readPins(opened, server), none).catch(() => none)
      : none;
    const fresh = await this.#compare(server, listed, stored);
    if (fresh.length === 0 || !hasLastingIds(server.config)) return;
    // Not at once: a host that only lists would pay for the store before it can answer.
    this.#isWaitingToKeep = true;
    store.writeLater("the pins", async (opened) => {
      const definitions = fresh.map((tool) => pinOf(tool));
      await opened.pins.acceptNew(server.consentId, definitions);
      // Another host may have seen the same tool first, with another definition.
      await this.#compare(server, undefined, await readPins(opened, server));
    });
  }

  async list(serverName?: string): Promise<readonly QuarantinedTool[]> {
    const { registry } = this.#parts;
    const servers = serverName === undefined ? registry.all() : [registry.get(serverName)];
    const tools = servers.flatMap((server) => {
      const waiting = this.#pinned.get(server.consentId)?.waiting ?? [];
      return [...waiting].map(([tool, state]) => ({ server, tool, state }));
    });
    const described: QuarantinedTool[] = [];
    const slice = new TimeSlice();
    for (const { server, tool, state } of tools) {
      if (slice.isOver) await slice.next();
      described.push(await this.#describe(server, tool, state));
    }
    return described;
  }

  async show(serverName: string, tool: string): Promise<QuarantinedTool | undefined> {
    const server = this.#parts.registry.get(serverName);
    const state = this.#pinned.get(server.consentId)?.waiting.get(tool);
    if (state === undefined) return undefined;
    return await this.#describe(server, tool, state, { isWhole: true });
  }

  async accept(serverName: string, tool: string, fingerprint: string): Promise<boolean> {
    const { registry, store, events, clock } = this.#parts;
    const server = registry.get(serverName);
    const { consentId } = server;
    const pinned = this.#pinned.get(consentId);
    const waiting = pinned?.waiting.get(tool);
    if (pinned === undefined || waiting?.fingerprint !== fingerprint) return false;
    if (hasLastingIds(server.config)) {
      // What is shown may not have been written down yet.
      const isAccepted = await store.write(({ pins }) =>
        pins.acceptShown(consentId, { tool, fingerprint, definition: waiting.definition }),
      );
      if (isAccepted === false) return false;
    }
    await this.#inTurn(() => {
      // The list may have been compared anew while the store was written.
      const now = this.#pinned.get(consentId) ?? pinned;
      now.accepted.set(tool, { fingerprint, definition: waiting.definition });
      if (now.waiting.get(tool)?.fingerprint === fingerprint) now.waiting.delete(tool);
      this.#revision += 1;
    });
    const { reason } = waiting;
    events.emit({ type: "tool-accepted", serverName, toolName: tool, reason, at: clock.now() });
    return true;
  }

  async #describe(
    server: RegisteredServer,
    tool: string,
    { definition, fingerprint, reason }: WaitingTool,
    options?: { readonly isWhole: boolean },
  ): Promise<QuarantinedTool> {
    const before = reason === "suspect" ? undefined : await this.#acceptedDefinition(server, tool);
    // Without anything to compare it with, all there is: what cannot be seen cannot be judged.
    const difference = await compareDefinitions(before ?? {}, definition, options);
    const isComplete = difference.omittedChanges === 0 && difference.omittedChars === 0;
    return {
      server: server.config.name,
      tool,
      reason,
      fingerprint: isComplete ? fingerprint : undefined,
      isCompared: before !== undefined,
      ...difference,
      findings: await findingsOf(definition, reason),
    };
  }

  /**
   * Judges every tool of the list, or of the last one there was; gives those that are pinned by this look
   * at them.
   */
  #compare(
    server: RegisteredServer,
    listed: readonly ListedTool[] | undefined,
    stored: ReadonlyMap<string, AcceptedTool>,
  ): Promise<readonly ListedTool[]> {
    return this.#inTurn(() => this.#compareNow(server, listed, stored));
  }

  /** One after the other: neither an older list nor one from before a yes may have the last word. */
  #inTurn<T>(task: () => T | Promise<T>): Promise<T> {
    const turn = this.#lastTurn.then(task);
    this.#lastTurn = turn.catch(() => undefined);
    return turn;
  }

  async #compareNow(
    server: RegisteredServer,
    given: readonly ListedTool[] | undefined,
    stored: ReadonlyMap<string, AcceptedTool>,
  ): Promise<readonly ListedTool[]> {
    const { consentId } = server;
    const before = this.#pinned.get(consentId);
    const listed = given ?? before?.listed;
    // Forgotten while it was being written down.
    if (listed === undefined) return [];
    const { accepted, waiting, fresh } = await judgeTools(
      listed,
      // What is stored wins over what was first seen here and could not be written down any more.
      [...(before?.accepted ?? []), ...stored],
      (fingerprint, definition) => this.#readsWell(fingerprint, definition),
    );
    this.#pinned.set(consentId, { server, listed, accepted, waiting });
    this.#revision += 1;
    this.#tell(server, before?.waiting ?? new Map(), waiting);
    return fresh;
  }

  /** Many servers list the same tools, and each lists them again and again: every definition is read once. */
  async #readsWell(fingerprint: string, definition: unknown): Promise<boolean> {
    const known = this.#readBefore.get(fingerprint);
    if (known !== undefined) return known;
    const readsWell = (await inspectDefinition(definition)).length === 0;
    this.#readBefore.set(fingerprint, readsWell);
    const [oldest] = this.#readBefore.keys();
    if (this.#readBefore.size > maxReadBefore && oldest !== undefined)
      this.#readBefore.delete(oldest);
    return readsWell;
  }

  /** Writes down and announces what has changed about the tools that wait. */
  #tell(
    server: RegisteredServer,
    before: ReadonlyMap<string, WaitingTool>,
    now: ReadonlyMap<string, WaitingTool>,
  ): void {
    const changed = [...now].filter(
      ([name, { fingerprint }]) => before.get(name)?.fingerprint !== fingerprint,
    );
    if (changed.length > 0 || [...before.keys()].some((name) => !now.has(name)))
      this.#keepWaiting(server);
    for (const [name, tool] of changed.slice(0, maxAnnounced)) this.#announce(server, name, tool);
    const more = changed.length - maxAnnounced;
    if (more <= 0) return;
    const { events, clock } = this.#parts;
    const text = `${more} more of its tools wait for a person to look at them`;
    events.emit({ type: "warning", serverName: server.config.name, text, at: clock.now() });
  }

  /** Once for all changes until it is written: a server may change its tools with every list. */
  #keepWaiting({ consentId, config }: RegisteredServer): void {
    if (!hasLastingIds(config) || this.#unkept.has(consentId)) return;
    this.#unkept.add(consentId);
    this.#parts.store.writeLater("the changed definitions of tools", async ({ pins }) => {
      this.#unkept.delete(consentId);
      const waiting = this.#pinned.get(consentId)?.waiting ?? [];
      const definitions = [...waiting].map(([tool, state]) => ({ tool, ...state }));
      await pins.replaceQuarantined(consentId, definitions);
    });
  }

  #announce({ config }: RegisteredServer, toolName: string, { reason }: WaitingTool): void {
    const { events, clock } = this.#parts;
    const { name: serverName } = config;
    events.emit({ type: "tool-quarantined", serverName, toolName, reason, at: clock.now() });
  }

  async #acceptedDefinition({ consentId }: RegisteredServer, tool: string): Promise<unknown> {
    const accepted = this.#pinned.get(consentId)?.accepted.get(tool);
    if (accepted === undefined || accepted.definition !== undefined) return accepted?.definition;
    const stored = await this.#parts.store.read(
      ({ pins }) => pins.definitions(consentId, tool),
      {},
    );
    return stored.accepted?.definition;
  }
}

async function findingsOf(
  definition: unknown,
  reason: WaitingTool["reason"],
): Promise<readonly string[]> {
  const findings = await inspectDefinition(definition);
  if (findings.length > 0 || reason === "changed") return findings;
  return [`its server has named more than ${maxPinsPerServer} tools`];
}

const none: ReadonlyMap<string, AcceptedTool> = new Map();

async function readPins(
  { pins }: Store,
  { consentId }: RegisteredServer,
): Promise<ReadonlyMap<string, AcceptedTool>> {
  const accepted = (await pins.list(consentId)).filter(({ state }) => state === "accepted");
  return new Map(accepted.map(({ tool, fingerprint }) => [tool, { fingerprint }]));
}

function pinOf(tool: ListedTool) {
  return {
    tool: tool.name,
    fingerprint: fingerprintOf(tool),
    definition: definitionOfTool(tool),
  };
}
