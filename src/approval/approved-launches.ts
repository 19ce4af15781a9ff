import { isOfProject, type ServerConfig } from "../config/keys/server-config.ts";
import type { EntryId, LaunchId } from "../config/keys/server-ids.ts";
import type { CheckedLaunch } from "../isolation/process/checked-launch.ts";
import type { AccessRevision } from "../policy/access-revision.ts";
import {
  entryIdOf,
  type LaunchFacts,
  launchFacts,
  launchIdOf,
  type LaunchPlace,
} from "./launch-facts.ts";

/** Finds out where a launch would take place and which file it would run. Looks at files, starts nothing. */
export type LocateLaunch = (config: ServerConfig) => LaunchPlace;

/** A server as its entry describes it. */
export interface DescribedServer {
  readonly config: ServerConfig;
  readonly entryId: EntryId;
}

/** A launch as it would be now, and the id that an approval of it is bound to. */
export interface CurrentLaunch {
  readonly facts: LaunchFacts;
  readonly launchId: LaunchId;
  /** The file and folder that were looked at, where it starts a process. */
  readonly checked?: CheckedLaunch | undefined;
}

/**
 * Decides which servers may start. An approval covers the entry as it is written, the folder and the
 * file behind the command. The file is looked up only for an entry that was approved before: for any
 * other, even a look at the path it names could be what it is after.
 */
export class ApprovedLaunches {
  readonly #locate: LocateLaunch;
  readonly #approved = new Map<EntryId, Set<LaunchId>>();
  /** The launch of each entry as it would be now, as far as it has been looked up. */
  readonly #current = new Map<EntryId, CurrentLaunch>();
  readonly #revision: AccessRevision;

  constructor(locate: LocateLaunch, revision: AccessRevision) {
    this.#locate = locate;
    this.#revision = revision;
  }

  /** A server of a project file needs a person's approval; any other is approved by its origin. */
  isApproved(server: DescribedServer): boolean {
    return !isOfProject(server.config.provenance) || this.has(server);
  }

  /** Whether a person has approved the launch of this entry as it would be now. */
  has({ config, entryId }: DescribedServer): boolean {
    const approved = this.#approved.get(entryId);
    if (approved === undefined) return false;
    return approved.has((this.#current.get(entryId) ?? this.#look(config)).launchId);
  }

  /** Looks at the files now. What it finds counts from now on, whatever was found before. */
  lookUp(config: ServerConfig): CurrentLaunch {
    const entryId = entryIdOf(launchFacts(config));
    const before = this.#current.get(entryId);
    const found = this.#look(config);
    // Without an earlier look no decision stands on one.
    if (before !== undefined && before.launchId !== found.launchId) this.#revision.advance(entryId);
    return found;
  }

  /** Makes the next question about this entry look at the files again. */
  forgetLook({ entryId }: DescribedServer): void {
    if (this.#current.delete(entryId)) this.#revision.advance(entryId);
  }

  /** The file and folder of the last look; undefined after `forgetLook`, and for what starts no process. */
  checked({ entryId }: DescribedServer): CheckedLaunch | undefined {
    return this.#current.get(entryId)?.checked;
  }

  add({ launchId, facts }: CurrentLaunch): void {
    const entryId = entryIdOf(facts);
    const approved = this.#approved.get(entryId) ?? new Set();
    // Every reload adds all that the store has.
    if (approved.has(launchId)) return;
    this.#approved.set(entryId, approved.add(launchId));
    this.#revision.advance(entryId);
  }

  delete(launchId: LaunchId): void {
    for (const [entryId, approved] of this.#approved) {
      if (!approved.delete(launchId)) continue;
      if (approved.size === 0) this.#approved.delete(entryId);
      this.#revision.advance(entryId);
    }
  }

  /** Deletes every approval of the entry, whatever file its command stood for. */
  deleteAll({ entryId }: DescribedServer): void {
    if (this.#approved.delete(entryId)) this.#revision.advance(entryId);
  }

  #look(config: ServerConfig): CurrentLaunch {
    const place = this.#locate(config);
    const facts = launchFacts(config, place);
    const current = { facts, launchId: launchIdOf(facts), checked: place.checked };
    this.#current.set(entryIdOf(facts), current);
    return current;
  }
}
