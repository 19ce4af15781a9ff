import { TimeSlice } from "../async/time-slice.ts";
import { type ConsentId, hasLastingIds } from "../config/keys/server-ids.ts";
import { fingerprintOf, recallFingerprint } from "../pins/tool-fingerprint.ts";
import type { ToolPins } from "../pins/tool-pins.ts";
import type { ListedTool, ProtocolClient } from "../protocol/protocol-client.ts";
import { eraOfVersion, type ProtocolEra } from "../protocol/wire/protocol-versions.ts";
import type { RegisteredServer, ServerRegistry } from "../registry/server-registry.ts";
import type { HostStore } from "../store/host-store.ts";
import type { CatalogContent, CatalogEntry } from "../store/rows/catalog-rows.ts";
import { isJsonObject } from "../text/json-object.ts";
import type { ToolCatalog } from "./tool-catalog.ts";

export interface StoredCatalogsOptions {
  readonly store: HostStore;
  readonly registry: ServerRegistry;
  readonly catalog: ToolCatalog;
  readonly pins: ToolPins;
}

/** So many lists are read with one query: few enough that the longest ones fit into memory together. */
const listsPerRead = 50;

/**
 * Keeps the last list of each server in the store, so that tools are listed before anything is started. A
 * list is bound to the consent id: one of a server that is defined differently is not used.
 */
export class StoredCatalogs {
  readonly #options: StoredCatalogsOptions;
  /** The text that the store has, or is about to have, by consent id. */
  readonly #written = new Map<ConsentId, string>();
  /** The texts that wait to be written, all of them together. */
  #waiting = new Map<ConsentId, string>();

  constructor(options: StoredCatalogsOptions) {
    this.#options = options;
  }

  /** Loads the stored lists of the servers there are now, and forgets servers that are gone. */
  async load(): Promise<void> {
    const { store, registry } = this.#options;
    const known = registry.consentIds();
    for (const consentId of this.#written.keys())
      if (!known.has(consentId)) this.#written.delete(consentId);
    const servers = registry.all().filter(({ config }) => hasLastingIds(config));
    const slice = new TimeSlice();
    await store.read(async ({ catalog }) => {
      for (let first = 0; first < servers.length; first += listsPerRead) {
        // SQLite answers at once: without this a thousand lists would be loaded in one turn.
        if (slice.isOver) await slice.next();
        const some = servers.slice(first, first + listsPerRead);
        const entries = await catalog.findAll(some.map(({ consentId }) => consentId));
        await this.#loadSome(some, entries, slice);
      }
    }, undefined);
  }

  /** Stores what a server offers; an unchanged list is not written again. */
  async listed(
    { config, consentId }: RegisteredServer,
    client: ProtocolClient,
    tools: readonly ListedTool[],
  ): Promise<void> {
    const { store } = this.#options;
    if (!store.isPersistent || !hasLastingIds(config)) return;
    const { protocolVersion, era, provenEra, serverInfo, instructions, capabilities } = client;
    const hasResources = capabilities["resources"] !== undefined;
    const content = {
      protocolVersion,
      ...(provenEra === era ? {} : { provenEra }),
      serverInfo,
      instructions,
      hasResources,
      tools,
    };
    const text = await writeContent(content);
    if (text === this.#written.get(consentId)) return;
    this.#written.set(consentId, text);
    this.#waiting.set(consentId, text);
    if (this.#waiting.size > 1) return;
    store.writeLater("the tool lists", () => {
      const texts = this.#waiting;
      this.#waiting = new Map();
      return async ({ catalog }) => {
        // To hand over texts of megabytes takes milliseconds, and other writes begin in the same turn.
        const slice = new TimeSlice();
        if (slice.isOver) await slice.next();
        await catalog.save(texts);
      };
    });
  }

  async #loadSome(
    servers: readonly RegisteredServer[],
    entries: ReadonlyMap<ConsentId, CatalogEntry>,
    slice: TimeSlice,
  ): Promise<void> {
    const { catalog, pins } = this.#options;
    const known = servers.flatMap((server) => {
      const entry = entries.get(server.consentId);
      return entry === undefined ? [] : [{ server, entry, listed: this.#recall(server, entry) }];
    });
    const review = await pins.reviewOf(known.map(({ server }) => server));
    for (const { server, entry, listed } of known) {
      const { name } = server.config;
      if (slice.isOver) await slice.next();
      if (listed === undefined || catalog.isKnown(name)) continue;
      await review(server, listed);
      // The server itself may have answered meanwhile.
      if (catalog.isKnown(name)) continue;
      catalog.load(name, listed);
      catalog.noteResources(name, entry.content.hasResources === true);
    }
  }

  /** Notes what the next connection should know; gives the tools, if any were kept. */
  #recall(
    { connection, consentId }: RegisteredServer,
    { content, text }: CatalogEntry,
  ): readonly ListedTool[] | undefined {
    this.#written.set(consentId, text);
    const era = eraToTry(content);
    if (era !== undefined) connection.expectEra(era);
    if (content.tools === undefined) return undefined;
    recallFingerprints(content.tools, content.fingerprints);
    return content.tools.filter(isListedTool);
  }
}

function eraToTry({ protocolVersion, provenEra }: CatalogContent): ProtocolEra | undefined {
  if (provenEra === "modern" || provenEra === "legacy") return provenEra;
  return protocolVersion === undefined ? undefined : eraOfVersion(protocolVersion);
}

/** JSON of the content, written in slices of time, because a server may list thousands of tools. */
async function writeContent({
  tools,
  ...rest
}: CatalogContent & { readonly tools: readonly ListedTool[] }): Promise<string> {
  const slice = new TimeSlice();
  const written: string[] = [];
  const fingerprints: string[] = [];
  for (const tool of tools) {
    if (slice.isOver) await slice.next();
    written.push(JSON.stringify(tool));
    fingerprints.push(fingerprintOf(tool));
  }
  return JSON.stringify({ ...rest, fingerprints, tools: [] }).replace(
    /\]\}$/,
    () => `${written.join(",")}]}`,
  );
}

/** Whoever can write these into the store can as well write the pins that they are compared with. */
function recallFingerprints(tools: readonly unknown[], fingerprints: unknown): void {
  if (!Array.isArray(fingerprints) || fingerprints.length !== tools.length) return;
  for (const [index, tool] of tools.entries()) {
    const fingerprint: unknown = fingerprints[index];
    if (isListedTool(tool) && typeof fingerprint === "string") recallFingerprint(tool, fingerprint);
  }
}

/** A list was checked before it was stored: this only makes a damaged row harmless. */
function isListedTool(tool: unknown): tool is ListedTool {
  return isJsonObject(tool) && typeof tool["name"] === "string";
}
