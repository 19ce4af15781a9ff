import type { Limits } from "../config/limits.ts";
import type { HostEvent } from "../events/host-event.ts";
import { oneAtATime } from "../events/one-at-a-time.ts";
import type { Clock } from "../ports/clock.ts";
import type { ListedTool, ProtocolClient } from "../protocol/protocol-client.ts";
import type { ToolCatalog } from "./tool-catalog.ts";
import { type ToolChanges, compareTools } from "./tool-changes.ts";

export interface DiscoveryOptions {
  readonly catalog: ToolCatalog;
  readonly limits: Limits;
  readonly clock: Clock;
  readonly publish: (event: HostEvent) => void;
  /** Judges the definitions before anyone is offered them. */
  readonly review?: (serverName: string, tools: readonly ListedTool[]) => Promise<void>;
  /** A list has arrived, before any filter of ours. */
  readonly onListed?: (
    serverName: string,
    client: ProtocolClient,
    tools: readonly ListedTool[],
  ) => void;
}

/** Fills the catalog from live connections and keeps it true while they last. */
export class Discovery {
  readonly #options: DiscoveryOptions;

  constructor(options: DiscoveryOptions) {
    this.#options = options;
  }

  /** Lists what the server offers, and again whenever it says that this has changed. */
  async begin(serverName: string, client: ProtocolClient): Promise<void> {
    client.onwarning = (text) => this.#warn(serverName, text);
    this.#options.catalog.noteResources(serverName, client.capabilities["resources"] !== undefined);
    if (client.capabilities["tools"] === undefined) {
      this.#options.catalog.replace(serverName, { tools: [], rejected: [] });
      return;
    }
    const relist = oneAtATime(() => this.#list(serverName, client, true));
    client.onlistchanged = (kind) => {
      if (kind === "tools") relist();
    };
    await this.#list(serverName, client, false);
  }

  /**
   * A list that cannot be had leaves the connection up and says so: with no tools at the beginning,
   * with those known before when it was to be refreshed.
   */
  async #list(serverName: string, client: ProtocolClient, isRefresh: boolean): Promise<void> {
    const { catalog, limits, review, onListed } = this.#options;
    const before = catalog.tools(serverName);
    try {
      const listing = await client.listTools({ timeoutMs: limits.listTimeoutMs });
      await review?.(serverName, listing.tools);
      catalog.replace(serverName, listing);
      onListed?.(serverName, client, listing.tools);
    } catch (error) {
      if (!isRefresh) catalog.clear(serverName);
      const reason = error instanceof Error ? error.message : "unknown reason";
      return this.#warn(serverName, `its tools could not be listed: ${reason}`);
    }
    for (const { toolName, text } of catalog.problems(serverName)) {
      const subject = toolName === null ? "" : `tool "${toolName}": `;
      this.#warn(serverName, `${subject}${text}`);
    }
    const tools = catalog.tools(serverName);
    this.#changed(serverName, tools.length, compareTools(before, tools));
  }

  #changed(serverName: string, toolCount: number, changes: ToolChanges): void {
    const { clock, publish } = this.#options;
    publish({ type: "tools-changed", serverName, toolCount, ...changes, at: clock.now() });
  }

  #warn(serverName: string, text: string): void {
    const { clock, publish } = this.#options;
    publish({ type: "warning", serverName, text, at: clock.now() });
  }
}
