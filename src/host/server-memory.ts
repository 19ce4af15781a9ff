import { isDeepStrictEqual } from "node:util";

import type { ToolCatalog } from "../catalog/tool-catalog.ts";
import { hasLastingIdentity, partsOfIdentity } from "../config/launch-identity.ts";
import { createError } from "../errors/families.ts";
import { isJsonObject } from "../protocol/json-object.ts";
import type { ListedTool, ProtocolClient } from "../protocol/protocol-client.ts";
import { eraOfVersion } from "../protocol/protocol-versions.ts";
import type { CurrentLaunch } from "../registry/launch-approvals.ts";
import type { RegisteredServer, ServerRegistry } from "../registry/server-registry.ts";
import type { Approval } from "../store/approval-rows.ts";
import type { CatalogContent } from "../store/catalog-rows.ts";
import type { Store } from "../store/store.ts";
import type { HostStore } from "./host-store.ts";
import type { ApproveOptions } from "./host.ts";
import type { PinBook } from "./pin-book.ts";
import { SharedList } from "./shared-list.ts";

/**
 * What is known of servers from before: which launches a person approved, and what each server offered
 * last, so that tools are listed before anything is started. All of it is bound to the launch identity:
 * a server that is defined differently is a stranger.
 */
export class ServerMemory {
  readonly #store: HostStore;
  readonly #registry: ServerRegistry;
  readonly #catalog: ToolCatalog;
  readonly #pins: PinBook;
  readonly #known = new Map<string, CatalogContent>();
  readonly #stored = new SharedList<CurrentLaunch>(({ identity }) => identity);
  /** The server names of approvals that are in the store, as far as this host knows, by identity. */
  readonly #approved = new Map<string, string>();

  constructor(store: HostStore, registry: ServerRegistry, catalog: ToolCatalog, pins: PinBook) {
    this.#pins = pins;
    this.#store = store;
    this.#registry = registry;
    this.#catalog = catalog;
  }

  /** Brings back what is known of the servers there are now. */
  async recall(): Promise<void> {
    await this.#store.read(async ({ approvals, catalog }) => {
      const ended = await this.#stored.read(
        () => approvals.list(),
        (listed) => this.#followApprovals(listed),
      );
      await Promise.all(
        ended.flatMap(({ users }) => users.connections.map((connection) => connection.close())),
      );
      const servers = this.#registry.all().filter(({ config }) => hasLastingIdentity(config));
      await Promise.all(
        servers.map(async (server) => {
          const entry = await catalog.find(server.launchIdentity);
          if (entry !== undefined) await this.#recallOne(server, entry.content);
        }),
      );
    }, undefined);
  }

  /** Keeps what a server offers; an unchanged list costs nothing. */
  listed(serverName: string, client: ProtocolClient, tools: readonly ListedTool[]): void {
    const server = this.#store.isKept ? this.#registry.find(serverName) : undefined;
    if (server === undefined || !hasLastingIdentity(server.config)) return;
    const { launchIdentity } = server;
    const { protocolVersion, serverInfo, instructions, capabilities } = client;
    const hasResources = capabilities["resources"] !== undefined;
    const content = withoutGaps({
      protocolVersion,
      serverInfo,
      instructions,
      tools,
      hasResources,
    });
    if (isDeepStrictEqual(content, this.#known.get(launchIdentity))) return;
    this.#known.set(launchIdentity, content);
    this.#store.keep("the tool list", ({ catalog }) => catalog.save(launchIdentity, content));
  }

  /**
   * Approves exactly this launch, for every host that shares the store: it is kept when this resolves.
   * Gives what the approval is bound to.
   */
  async approve(
    server: RegisteredServer,
    { identity, by = "host" }: ApproveOptions,
  ): Promise<string> {
    const { name } = server.config;
    const launch = this.#registry.currentLaunch(server);
    if (identity !== undefined && identity !== launch.identity)
      throw createError("not_approved", `what "${name}" would start is not what was shown`, {
        serverName: name,
        hint: `look at it again: plugboard approve ${name}`,
      });
    await this.#stored.add(
      [launch],
      async () => {
        const store = await this.#store.open();
        await store?.approvals.approve({ ...launch, serverName: name, approvedBy: by });
      },
      (approved) => {
        for (const one of approved) this.#registry.approve(one);
        if (!this.#store.isKept) return;
        for (const one of approved) this.#approved.set(one.identity, name);
      },
    );
    return launch.identity;
  }

  /** Takes back every approval of this entry in this folder, whatever file its command stood for. */
  async revoke(server: RegisteredServer): Promise<void> {
    const { entryInFolder } = partsOfIdentity(this.#registry.currentLaunch(server).facts);
    const isSame = ({ facts }: CurrentLaunch): boolean =>
      partsOfIdentity(facts).entryInFolder === entryInFolder;
    this.#registry.revokeApproval(server);
    const remove = async ({ approvals }: Store): Promise<void> => {
      for (const { identity } of (await approvals.list()).filter(isSame)) {
        await approvals.revoke({ identity });
        this.#approved.delete(identity);
      }
    };
    await this.#stored.takeBack(entryInFolder, isSame, () => this.#store.read(remove, undefined));
  }

  /** Whether something was approved under this name, be it something else. Looks at no file. */
  wasApproved(serverName: string): boolean {
    return [...this.#approved.values()].includes(serverName);
  }

  /** What was approved under this name before, newest first. */
  async approvalsOf(serverName: string): Promise<readonly Approval[]> {
    return await this.#store.read(({ approvals }) => approvals.list(serverName), []);
  }

  /** What another host has taken back ends here as well; gives the servers that may run no longer. */
  #followApprovals(approvals: readonly Approval[]): readonly RegisteredServer[] {
    const approved = new Set(approvals.map(({ identity }) => identity));
    const revoked = [...this.#approved.keys()].filter((identity) => !approved.has(identity));
    for (const { identity, serverName } of approvals) this.#approved.set(identity, serverName);
    for (const identity of revoked) this.#approved.delete(identity);
    const approvedBefore = this.#registry
      .all()
      .filter((server) => revoked.length > 0 && this.#registry.isApproved(server));
    for (const approval of approvals) this.#registry.approve(approval);
    for (const identity of revoked) this.#registry.revokeApproval(identity);
    this.#registry.lookAgain();
    return approvedBefore.filter((server) => !this.#registry.isApproved(server));
  }

  async #recallOne(server: RegisteredServer, content: CatalogContent): Promise<void> {
    const { config, connection, launchIdentity } = server;
    const { protocolVersion, tools } = content;
    this.#known.set(launchIdentity, content);
    const era = protocolVersion === undefined ? undefined : eraOfVersion(protocolVersion);
    if (era !== undefined) connection.recallEra(era);
    if (tools === undefined || this.#catalog.isKnown(config.name)) return;
    const listed = tools.filter(isListedTool);
    await this.#pins.review(server, listed);
    this.#catalog.recall(config.name, listed);
    this.#catalog.noteResources(config.name, content.hasResources === true);
  }
}

/** It was checked before it was stored; what matters is that a damaged row does no harm. */
function isListedTool(tool: unknown): tool is ListedTool {
  return isJsonObject(tool) && typeof tool["name"] === "string";
}

/** As it comes back from a store: members without a value are gone. */
function withoutGaps(content: CatalogContent): CatalogContent {
  return JSON.parse(JSON.stringify(content)) as CatalogContent;
}
