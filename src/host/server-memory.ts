import { isDeepStrictEqual } from "node:util";

import type { ToolCatalog } from "../catalog/tool-catalog.ts";
import { launchFacts } from "../config/launch-identity.ts";
import { isJsonObject } from "../protocol/json-object.ts";
import type { ListedTool, ProtocolClient } from "../protocol/protocol-client.ts";
import { eraOfVersion } from "../protocol/protocol-versions.ts";
import type { RegisteredServer, ServerRegistry } from "../registry/server-registry.ts";
import type { CatalogContent } from "../store/catalog-rows.ts";
import type { HostStore } from "./host-store.ts";

/**
 * What is known of servers from before: which launches a person approved, and what each server offered
 * last, so that tools are listed before anything is started. All of it is bound to the launch identity:
 * a server that is defined differently is a stranger.
 */
export class ServerMemory {
  readonly #store: HostStore;
  readonly #registry: ServerRegistry;
  readonly #catalog: ToolCatalog;
  readonly #known = new Map<string, CatalogContent>();
  /** Approvals that are in the store, as far as this host knows. */
  #approved = new Set<string>();

  constructor(store: HostStore, registry: ServerRegistry, catalog: ToolCatalog) {
    this.#store = store;
    this.#registry = registry;
    this.#catalog = catalog;
  }

  /** Brings back what is known of the servers there are now. */
  async recall(): Promise<void> {
    await this.#store.read(async ({ approvals, catalog }) => {
      await this.#followApprovals((await approvals.list()).map(({ identity }) => identity));
      const servers = this.#registry
        .all()
        .filter(({ config }) => isReachable(config.transport.kind));
      await Promise.all(
        servers.map(async (server) => {
          const entry = await catalog.find(server.launchIdentity);
          if (entry !== undefined) this.#recallOne(server, entry.content);
        }),
      );
    }, undefined);
  }

  /** Keeps what a server offers; an unchanged list costs nothing. */
  listed(serverName: string, client: ProtocolClient, tools: readonly ListedTool[]): void {
    const server = this.#store.isKept ? this.#registry.find(serverName) : undefined;
    if (server === undefined || !isReachable(server.config.transport.kind)) return;
    const { launchIdentity } = server;
    const { protocolVersion, serverInfo, instructions } = client;
    const content = withoutGaps({ protocolVersion, serverInfo, instructions, tools });
    if (isDeepStrictEqual(content, this.#known.get(launchIdentity))) return;
    this.#known.set(launchIdentity, content);
    this.#store.keep("the tool list", ({ catalog }) => catalog.save(launchIdentity, content));
  }

  /** Approves exactly this launch, for every host that shares the store. */
  async approve({ config, launchIdentity }: RegisteredServer): Promise<void> {
    this.#registry.approve(launchIdentity);
    const store = await this.#store.open();
    if (store === undefined) return;
    await store.approvals.approve({
      identity: launchIdentity,
      serverName: config.name,
      facts: launchFacts(config),
      approvedBy: "host",
    });
    this.#approved.add(launchIdentity);
  }

  async revoke({ launchIdentity }: RegisteredServer): Promise<void> {
    this.#registry.revokeApproval(launchIdentity);
    await this.#store.read(({ approvals }) => approvals.revoke({ identity: launchIdentity }), 0);
  }

  /** What another host has taken back ends here as well, with what runs on it. */
  async #followApprovals(identities: readonly string[]): Promise<void> {
    const approved = new Set(identities);
    const revoked = [...this.#approved].filter((identity) => !approved.has(identity));
    this.#approved = approved;
    for (const identity of approved) this.#registry.approve(identity);
    for (const identity of revoked) this.#registry.revokeApproval(identity);
    const ended = this.#registry
      .all()
      .filter(
        (server) => revoked.includes(server.launchIdentity) && !this.#registry.isApproved(server),
      );
    await Promise.all(
      ended.flatMap(({ users }) => users.connections.map((connection) => connection.close())),
    );
  }

  #recallOne({ config, connection, launchIdentity }: RegisteredServer, content: CatalogContent) {
    const { protocolVersion, tools } = content;
    this.#known.set(launchIdentity, content);
    const era = protocolVersion === undefined ? undefined : eraOfVersion(protocolVersion);
    if (era !== undefined) connection.recallEra(era);
    if (tools !== undefined) this.#catalog.recall(config.name, tools.filter(isListedTool));
  }
}

/** A transport object has no definition that could be recognized another time. */
function isReachable(kind: string): boolean {
  return kind !== "memory" && kind !== "none";
}

/** It was checked before it was stored; what matters is that a damaged row does no harm. */
function isListedTool(tool: unknown): tool is ListedTool {
  return isJsonObject(tool) && typeof tool["name"] === "string";
}

/** As it comes back from a store: members without a value are gone. */
function withoutGaps(content: CatalogContent): CatalogContent {
  return JSON.parse(JSON.stringify(content)) as CatalogContent;
}
