import type { ServerConfig } from "../config/keys/server-config.ts";
import type { EntryId, LaunchId } from "../config/server-ids.ts";
import type { CheckedLaunch } from "../isolation/process/checked-launch.ts";
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
interface DescribedServer {
  readonly config: ServerConfig;
  readonly entryId: EntryId;
}

/** A launch as it would be now, and what approving it is bound to. */
export interface CurrentLaunch {
  readonly facts: LaunchFacts;
  readonly launchId: LaunchId;
  /** The file and folder that were looked at, where it starts a process. */
  readonly checked?: CheckedLaunch | undefined;
}

/**
 * The launches a person has approved. An approval covers the entry as it is written, the folder and the
 * file behind the command. Which file that is, is looked up only for an entry that was approved before:
 * for any other, even a look at the path it names could be what it is after.
 */
export class LaunchApprovals {
  readonly #locate: LocateLaunch;
  readonly #approved = new Map<EntryId, Set<LaunchId>>();
  /** The launch of each entry as it would be now, as far as that has been looked up. */
  readonly #current = new Map<EntryId, CurrentLaunch>();

  constructor(locate: LocateLaunch) {
    this.#locate = locate;
  }

  has({ config, entryId }: DescribedServer): boolean {
    const approved = this.#approved.get(entryId);
    if (approved === undefined) return false;
    return approved.has((this.#current.get(entryId) ?? this.describe(config)).launchId);
  }

  /** Looks now; what it finds counts from now on, whatever has been found before. */
  describe(config: ServerConfig): CurrentLaunch {
    const place = this.#locate(config);
    const facts = launchFacts(config, place);
    const current = { facts, launchId: launchIdOf(facts), checked: place.checked };
    this.#current.set(entryIdOf(facts), current);
    return current;
  }

  /** What was looked at last; undefined for an entry that has not been looked at since `lookAgain`. */
  checked({ entryId }: DescribedServer): CheckedLaunch | undefined {
    return this.#current.get(entryId)?.checked;
  }

  /** The next question about this entry looks at the files again. */
  lookAgain({ entryId }: DescribedServer): void {
    this.#current.delete(entryId);
  }

  add({ launchId, facts }: CurrentLaunch): void {
    const entryId = entryIdOf(facts);
    const approved = this.#approved.get(entryId) ?? new Set();
    this.#approved.set(entryId, approved.add(launchId));
  }

  delete(launchId: LaunchId): void {
    for (const [entryId, approved] of this.#approved)
      if (approved.delete(launchId) && approved.size === 0) this.#approved.delete(entryId);
  }

  /** Every approval of the entry, whatever file its command stood for. */
  deleteAll({ entryId }: DescribedServer): void {
    this.#approved.delete(entryId);
  }
}
