import { partsOfIdentity } from "../config/launch-identity.ts";
import { createError } from "../errors/families.ts";
import type { CurrentLaunch } from "../registry/launch-approvals.ts";
import type { RegisteredServer, ServerRegistry } from "../registry/server-registry.ts";
import type { Approval } from "../store/approval-rows.ts";
import type { Store } from "../store/store.ts";
import { ownCommand } from "../text/own-command.ts";
import type { HostStore } from "./host-store.ts";
import type { ApproveOptions } from "./host.ts";
import { SharedList } from "./shared-list.ts";

export interface ApprovalBookParts {
  readonly store: HostStore;
  readonly registry: ServerRegistry;
}

/** Which launches a person has approved, in every host that shares the store. */
export class ApprovalBook {
  readonly #store: HostStore;
  readonly #registry: ServerRegistry;
  readonly #stored = new SharedList<CurrentLaunch>(({ identity }) => identity);
  /** The server names of approvals that are in the store, as far as this host knows, by identity. */
  readonly #approved = new Map<string, string>();

  constructor({ store, registry }: ApprovalBookParts) {
    this.#store = store;
    this.#registry = registry;
  }

  /** Follows what other hosts, or this one before, were told. */
  async recall(): Promise<void> {
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
    { identity, by = "host" }: ApproveOptions,
  ): Promise<string> {
    const { name } = server.config;
    const launch = this.#registry.currentLaunch(server);
    if (identity !== undefined && identity !== launch.identity)
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
  hasFor(serverName: string): boolean {
    return [...this.#approved.values()].includes(serverName);
  }

  /** What was approved under this name before, newest first. */
  async listFor(serverName: string): Promise<readonly Approval[]> {
    return await this.#store.read(({ approvals }) => approvals.list(serverName), []);
  }

  /** What another host has taken back ends here as well; gives the servers that may run no longer. */
  #follow(approvals: readonly Approval[]): readonly RegisteredServer[] {
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
}
