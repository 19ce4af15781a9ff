import type { LaunchId } from "../config/server-ids.ts";
import { createError } from "../errors/families.ts";
import type { ApproveOptions } from "../host/host.ts";
import type { RegisteredServer, ServerRegistry } from "../registry/server-registry.ts";
import type { HostStore } from "../store/host-store.ts";
import { RevocableList } from "../store/revocable-list.ts";
import type { Approval } from "../store/rows/approval-rows.ts";
import type { Store } from "../store/store.ts";
import { ownCommand } from "../text/own-command.ts";
import type { CurrentLaunch } from "./approved-launches.ts";
import { entryIdOf } from "./launch-facts.ts";

export interface ApprovalBookParts {
  readonly store: HostStore;
  readonly registry: ServerRegistry;
}

/** Which launches a person has approved, in every host that shares the store. */
export class ApprovalBook {
  readonly #store: HostStore;
  readonly #registry: ServerRegistry;
  readonly #stored = new RevocableList<CurrentLaunch>(({ launchId }) => launchId);
  /** The server names of approvals that are in the store, as far as this host knows. */
  readonly #approved = new Map<LaunchId, string>();

  constructor({ store, registry }: ApprovalBookParts) {
    this.#store = store;
    this.#registry = registry;
  }

  /** Follows what other hosts, or this one before, were told. */
  async load(): Promise<void> {
    await this.#store.read(async ({ approvals }) => {
      const ended = await this.#stored.read(
        () => approvals.list(),
        (listed) => this.#follow(listed),
      );
      await Promise.all(
        ended.flatMap(({ users }) => users.connections.map((connection) => connection.close())),
      );
    }, undefined);
  }

  /**
   * Approves exactly this launch, for every host that shares the store: it is kept when this resolves.
   * Gives what the approval is bound to.
   */
  async approve(
    server: RegisteredServer,
    { launchId, by = "host" }: ApproveOptions,
  ): Promise<LaunchId> {
    const { name } = server.config;
    const launch = this.#registry.currentLaunch(server);
    if (launchId !== undefined && launchId !== launch.launchId)
      throw createError("not_approved", `what "${name}" would start is not what was shown`, {
        serverName: name,
        hint: `look at it again: ${ownCommand("approve", name)}`,
      });
    await this.#stored.add(
      [launch],
      () =>
        this.#store.write(({ approvals }) =>
          approvals.approve({ ...launch, serverName: name, approvedBy: by }),
        ),
      (approved) => {
        for (const one of approved) this.#registry.approve(one);
        if (!this.#store.isPersistent) return;
        for (const one of approved) this.#approved.set(one.launchId, name);
      },
    );
    return launch.launchId;
  }

  /** Takes back every approval of this entry in this folder, whatever file its command stood for. */
  async revoke(server: RegisteredServer): Promise<void> {
    const revoked = entryInFolder(this.#registry.currentLaunch(server));
    const isSame = (launch: CurrentLaunch): boolean => entryInFolder(launch) === revoked;
    this.#registry.revokeApproval(server);
    const remove = async ({ approvals }: Store): Promise<void> => {
      for (const { launchId } of (await approvals.list()).filter(isSame)) {
        await approvals.revoke({ launchId });
        this.#approved.delete(launchId);
      }
    };
    await this.#stored.revoke(revoked, isSame, () => this.#store.read(remove, undefined));
  }

  /** Whether something was approved under this name, be it something else. Looks at no file. */
  hasFor(serverName: string): boolean {
    return [...this.#approved.values()].includes(serverName);
  }

  /** What was approved under this name before, newest first. */
  async listFor(serverName: string): Promise<readonly Approval[]> {
    return await this.#store.read(({ approvals }) => approvals.list(serverName), []);
  }

  /** What another host has taken back ends here as well; gives the servers that may run no longer. */
  #follow(approvals: readonly Approval[]): readonly RegisteredServer[] {
    const approved = new Set(approvals.map(({ launchId }) => launchId));
    const revoked = [...this.#approved.keys()].filter((launchId) => !approved.has(launchId));
    for (const { launchId, serverName } of approvals) this.#approved.set(launchId, serverName);
    for (const launchId of revoked) this.#approved.delete(launchId);
    const approvedBefore = this.#registry
      .all()
      .filter((server) => revoked.length > 0 && this.#registry.isApproved(server));
    for (const approval of approvals) this.#registry.approve(approval);
    for (const launchId of revoked) this.#registry.revokeApproval(launchId);
    this.#registry.lookAgain();
    return approvedBefore.filter((server) => !this.#registry.isApproved(server));
  }
}

/** Names a launch whatever file its command stands for. */
function entryInFolder({ facts }: CurrentLaunch): string {
  return JSON.stringify([entryIdOf(facts), facts["folder"] ?? null]);
}
