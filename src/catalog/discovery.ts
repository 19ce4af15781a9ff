import { isDeepStrictEqual } from "node:util";

import { oneAtATime } from "../async/queue.ts";
import { TimeSlice } from "../async/time-slice.ts";
import type { Limits } from "../config/keys/limits.ts";
import { createError } from "../errors/families.ts";
import { McpError } from "../errors/mcp-error.ts";
import type { EventBus } from "../events/event-bus.ts";
import type { ToolPins } from "../pins/tool-pins.ts";
import type { Clock } from "../ports/clock.ts";
import type { ProtocolClient, ToolListing } from "../protocol/protocol-client.ts";
import type { RegisteredServer } from "../registry/server-registry.ts";
import type { CatalogTool } from "./catalog-tool.ts";
import { type KnownContent, listPrompts, listResources } from "./server-content.ts";
import type { StoredCatalogs } from "./stored-catalogs.ts";
import type { ToolCatalog } from "./tool-catalog.ts";

export interface DiscoveryOptions {
  readonly catalog: ToolCatalog;
  readonly limits: Limits;
  readonly clock: Clock;
  readonly events: Pick<EventBus, "emit">;
  /** Compares the definitions with what was accepted, before anyone is offered them. */
  readonly pins: Pick<ToolPins, "review">;
  /** Keeps each list as it arrived, before any filter of ours. */
  readonly storedCatalogs: Pick<StoredCatalogs, "listed">;
}

const unknownMethodCode = -32_601;

const noTools: ToolListing = { tools: [], rejected: [] };

interface ReplacedList {
  readonly before: readonly CatalogTool[];
  readonly after: readonly CatalogTool[];
}

type ContentKind = keyof KnownContent;
const contentKinds: readonly ContentKind[] = ["resources", "prompts"];

/** How long somebody waits for the lists of resources and prompts; the limit of every list by default. */
interface ContentListing {
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
}

/** The connection's server, unless it is gone or another definition has taken its name. */
type FindServer = () => RegisteredServer | undefined;

/**
 * Fills the catalog from live connections and keeps it true while they last. A name may stand for another
 * server after every wait; what the one before it says is then nobody's list.
 */
export class Discovery {
  readonly #options: DiscoveryOptions;

  constructor(options: DiscoveryOptions) {
    this.#options = options;
  }

  /** Lists what the server offers, and again whenever it says that this has changed. */
  async begin(client: ProtocolClient, find: FindServer): Promise<void> {
    const serverName = find()?.config.name;
    if (serverName === undefined) return;
    client.onwarning = (text) => this.#warn(serverName, text);
    this.#options.catalog.noteResources(serverName, client.capabilities["resources"] !== undefined);
    const { resources, prompts } = this.#options.catalog.content(serverName);
    // Somebody has wanted to know before; a connection that is opened again does not wait for it.
    if (resources !== undefined || prompts !== undefined) void this.listContent(client, find);
    if (client.capabilities["tools"] === undefined)
      return await this.#tellChanges(serverName, find, this.#replace(serverName, noTools));
    this.#follow(client, find);
    await this.#list(client, find, false);
  }

  /**
   * Lists what the server offers beside tools, and again whenever it says that this has changed. A list
   * that cannot be had is a warning and fails nothing.
   */
  async listContent(
    client: ProtocolClient,
    find: FindServer,
    options: ContentListing = {},
  ): Promise<void> {
    this.#follow(client, find);
    await Promise.all(contentKinds.map((kind) => this.#listContent(kind, client, find, options)));
  }

  #follow(client: ProtocolClient, find: FindServer): void {
    if (client.onlistchanged !== undefined) return;
    const relist = oneAtATime(() => this.#list(client, find, true));
    const relistContent = {
      resources: oneAtATime(() => this.#listContent("resources", client, find)),
      prompts: oneAtATime(() => this.#listContent("prompts", client, find)),
    };
    client.onlistchanged = (kind) => {
      if (kind === "tools") return relist();
      const serverName = find()?.config.name ?? "";
      // Nobody has wanted to know so far.
      if (this.#options.catalog.content(serverName)[kind] !== undefined) relistContent[kind]();
    };
  }

  async #listContent(
    kind: ContentKind,
    client: ProtocolClient,
    find: FindServer,
    { signal, timeoutMs }: ContentListing = {},
  ): Promise<void> {
    const { catalog, limits, clock } = this.#options;
    const serverName = find()?.config.name;
    if (serverName === undefined) return;
    const list = kind === "resources" ? listResources : listPrompts;
    try {
      const items = await list(
        { serverName, client, limits, clock },
        { signal, timeoutMs: timeoutMs ?? limits.listTimeoutMs },
      );
      if (find() !== undefined) catalog.noteContent(serverName, { [kind]: items });
    } catch (error) {
      if (find() === undefined || signal?.aborted === true) return;
      const reason = error instanceof Error ? error.message : "unknown reason";
      this.#warn(serverName, `its ${kind} could not be listed: ${reason}`);
    }
  }

  /**
   * Rejects when the first list of a connection cannot be had: such a server is of no use to anybody. One
   * that was to be refreshed is a warning, and the tools known before stay.
   */
  async #list(client: ProtocolClient, find: FindServer, isRefresh: boolean): Promise<void> {
    const { catalog, limits, pins, storedCatalogs } = this.#options;
    const serverName = find()?.config.name;
    if (serverName === undefined) return;
    let replaced: ReplacedList;
    let listing: ToolListing;
    try {
      listing = await client.listTools({ timeoutMs: limits.listTimeoutMs });
    } catch (error) {
      if (find() === undefined) return;
      // A server may say that it has tools and not know how to list them: then it has none.
      if (!isRefresh && !isUnknownMethod(error)) throw listFailure(error);
      if (!isRefresh) catalog.clear(serverName);
      return this.#warnUnlisted(serverName, error);
    }
    const slice = new TimeSlice();
    // The answers of many servers may come in one turn.
    if (slice.isOver) await slice.next();
    try {
      const listed = find();
      if (listed === undefined) return;
      await pins.review(listed, listing.tools);
      if (slice.isOver) await slice.next();
      const reviewed = find();
      if (reviewed === undefined) return;
      replaced = this.#replace(serverName, listing);
      // A long list takes a while each time: other work gets its turn in between.
      if (slice.isOver) await slice.next();
      catalog.prepareNames();
      if (slice.isOver) await slice.next();
      if (find() === undefined) return;
      await storedCatalogs.listed(reviewed, client, listing.tools);
    } catch (error) {
      if (find() === undefined) return;
      if (!isRefresh) catalog.clear(serverName);
      return this.#warnUnlisted(serverName, error);
    }
    // The first list of a host may find those of a thousand servers that were only remembered.
    while (!catalog.examine(() => !slice.isOver)) await slice.next();
    if (find() === undefined) return;
    for (const { toolName, text } of catalog.problems(serverName)) {
      const subject = toolName === null ? "" : `tool "${toolName}": `;
      this.#warn(serverName, `${subject}${text}`);
    }
    await this.#tellChanges(serverName, find, replaced);
  }

  /** Both lists as they are at this moment: several connections may be listing the server at the same time. */
  #replace(serverName: string, listing: ToolListing): ReplacedList {
    const { catalog } = this.#options;
    const before = catalog.tools(serverName);
    catalog.replace(serverName, listing);
    return { before, after: catalog.tools(serverName) };
  }

  /** Publishes the difference. A server that was listed again and has nothing new is no news. */
  async #tellChanges(
    serverName: string,
    find: FindServer,
    { before, after }: ReplacedList,
  ): Promise<void> {
    const { clock, events } = this.#options;
    const changes = await compareTools(before, after);
    const { added, removed, changed } = changes;
    if (find() === undefined || added.length + removed.length + changed.length === 0) return;
    const toolCount = after.length;
    events.emit({ type: "tools-changed", serverName, toolCount, ...changes, at: clock.now() });
  }

  #warnUnlisted(serverName: string, error: unknown): void {
    const reason = error instanceof Error ? error.message : "unknown reason";
    this.#warn(serverName, `its tools could not be listed: ${reason}`);
  }

  #warn(serverName: string, text: string): void {
    const { clock, events } = this.#options;
    events.emit({ type: "warning", serverName, text, at: clock.now() });
  }
}

/**
 * What a failed first list makes of the connection. No tool was called and no result asked for, so an
 * answer that refuses or makes no sense is a failure to connect; what ended the connection stays as it is.
 */
function listFailure(error: unknown): unknown {
  if (!McpError.is(error)) return error;
  const isAnswer = error.code === "rpc_error" || error.code === "invalid_result";
  if (!isAnswer && error.code !== "timeout") return error;
  const code = isAnswer ? "protocol_violation" : error.code;
  return createError(code, `the tools could not be listed: ${error.message}`, {
    serverName: error.serverName,
    details: error.details,
    hint: error.hint,
    cause: error,
  });
}

function isUnknownMethod(error: unknown): boolean {
  if (!McpError.is(error, "rpc_error")) return false;
  const { rpc } = error.details as { readonly rpc?: { readonly code?: unknown } };
  return rpc?.code === unknownMethodCode;
}

/** The differences between two tool lists of one server, by original name. */
export interface ToolChanges {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** Tools of the same name with another definition. */
  readonly changed: readonly string[];
}

/** Compares two tool lists in time slices, so that a long list does not hold up other work. */
export async function compareTools(
  before: readonly CatalogTool[],
  after: readonly CatalogTool[],
): Promise<ToolChanges> {
  const known = new Map(before.map((tool) => [tool.originalName, tool]));
  const added: string[] = [];
  const changed: string[] = [];
  const slice = new TimeSlice();
  for (const tool of after) {
    if (slice.isOver) await slice.next();
    const old = known.get(tool.originalName);
    known.delete(tool.originalName);
    if (old === undefined) added.push(tool.originalName);
    else if (!isDeepStrictEqual(old, tool)) changed.push(tool.originalName);
  }
  return { added, removed: [...known.keys()], changed };
}
