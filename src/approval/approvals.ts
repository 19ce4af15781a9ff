import type { LaunchId } from "../config/keys/server-ids.ts";
import { createError } from "../errors/families.ts";
import type { HostStore } from "../store/host-store.ts";
import { RevocableList } from "../store/revocable-list.ts";
import type { Approval } from "../store/rows/approval-rows.ts";
import type { Store } from "../store/store.ts";
import { ownCommand } from "../text/own-command.ts";
import type { ApprovedLaunches, CurrentLaunch, DescribedServer } from "./approved-launches.ts";
import { entryIdOf } from "./launch-facts.ts";

export interface ApproveOptions {
  /** Of the question that was answered; without it whatever is configured at this moment is approved. */
  readonly launchId?: string | undefined;
  /** Who said yes, for the record: `cli`, `page`, … */
  readonly by?: string | undefined;
}

/** Keeps the approved launches in the store, in step with every host that shares it. */
export class Approvals {
  readonly #store: HostStore;
  readonly #launches: ApprovedLaunches;
  readonly #stored = new RevocableList<CurrentLaunch>(({ launchId }) => launchId);
  /** The server name of each approval in the store, as far as this host knows. */
  readonly #names = new ApprovedNames();

  constructor(store: HostStore, launches: ApprovedLaunches) {
    this.#store = store;
    this.#launches = launches;
  }

  /**
   * Loads what was approved and revoked by other hosts, and by this program earlier. Gives those of the
   * `servers` that were approved and no longer are: nothing of them may go on running. Files may have
   * changed behind approved commands, so they are looked at again, except for a server that is running: it
   * was started from the approved ones.
   */
  async load<Server extends DescribedServer>(
    servers: () => readonly Server[],
    isRunning: (server: Server) => boolean,
  ): Promise<readonly Server[]> {
    const follow = (listed: readonly Approval[]): readonly Server[] => {
      const known = servers();
      const revoked = this.#revokedSince(listed);
      const before =
        revoked.length === 0 ? [] : known.filter((server) => this.#launches.isApproved(server));
      for (const launchId of revoked) this.#names.delete(launchId);
      for (const { launchId, serverName } of listed) this.#names.set(launchId, serverName);
      for (const approval of listed) this.#launches.add(approval);
      for (const launchId of revoked) this.#launches.delete(launchId);
      for (const server of known) if (!isRunning(server)) this.#launches.forgetLook(server);
      return before.filter((server) => !this.#launches.isApproved(server));
    };
    return await this.#store.read(
      ({ approvals }) => this.#stored.read(() => approvals.list(), follow),
      [],
    );
  }

  /**
   * Approves exactly this launch, for every host that shares the store: it is kept when this resolves.
   * Gives the id that the approval is bound to.
   */
  async approve(
    { config }: DescribedServer,
    { launchId, by = "host" }: ApproveOptions,
  ): Promise<LaunchId> {
    const { name } = config;
    const launch = this.#launches.lookUp(config);
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
        for (const one of approved) this.#launches.add(one);
        if (!this.#store.isPersistent) return;
        for (const one of approved) this.#names.set(one.launchId, name);
      },
    );
    return launch.launchId;
  }

  /**
   * Revokes every approval of this entry in this folder, whatever file its command stood for. It counts
   * here at once; ending what runs is left to the caller.
   */
  async revoke(server: DescribedServer): Promise<void> {
    const revoked = entryInFolder(this.#launches.lookUp(server.config));
    const isSame = (launch: CurrentLaunch): boolean => entryInFolder(launch) === revoked;
    this.#launches.deleteAll(server);
    const remove = async ({ approvals }: Store): Promise<void> => {
      for (const { launchId } of (await approvals.list()).filter(isSame)) {
        await approvals.revoke({ launchId });
        this.#names.delete(launchId);
      }
    };
    await this.#stored.revoke(revoked, isSame, () => this.#store.read(remove, undefined));
  }

  /** Whether anything was approved under this name, also another launch. Looks at no file. */
  hasFor(serverName: string): boolean {
    return this.#names.has(serverName);
  }

  /**
   * The approvals that were given under this name, newest first.
   *
   * @internal as are the methods of `HostStore` that name its rows.
   */
  async listFor(serverName: string): Promise<readonly Approval[]> {
    return await this.#store.read(({ approvals }) => approvals.list(serverName), []);
  }

  /** Approvals that this host knows and that are no longer in the store: another host has revoked them. */
  #revokedSince(listed: readonly Approval[]): readonly LaunchId[] {
    const approved = new Set(listed.map(({ launchId }) => launchId));
    return this.#names.launchIds().filter((launchId) => !approved.has(launchId));
  }
}

/** The names under which launches were approved, each with the number of its launches: every status asks for one. */
class ApprovedNames {
  readonly #byLaunch = new Map<LaunchId, string>();
  readonly #launches = new Map<string, number>();

  launchIds(): readonly LaunchId[] {
    return [...this.#byLaunch.keys()];
  }

  has(serverName: string): boolean {
    return this.#launches.has(serverName);
  }

  set(launchId: LaunchId, serverName: string): void {
    this.delete(launchId);
    this.#byLaunch.set(launchId, serverName);
    this.#launches.set(serverName, (this.#launches.get(serverName) ?? 0) + 1);
  }

  delete(launchId: LaunchId): void {
    const serverName = this.#byLaunch.get(launchId);
    if (serverName === undefined) return;
    this.#byLaunch.delete(launchId);
    const left = (this.#launches.get(serverName) ?? 1) - 1;
    if (left === 0) this.#launches.delete(serverName);
    else this.#launches.set(serverName, left);
  }
}

/** Names a launch whatever file its command stands for. */
function entryInFolder({ facts }: CurrentLaunch): string {
  return JSON.stringify([entryIdOf(facts), facts["folder"] ?? null]);
}
