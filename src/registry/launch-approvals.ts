import {
  type LaunchFacts,
  launchFacts,
  type LaunchPlace,
  partsOfIdentity,
} from "../config/launch-identity.ts";
import type { ServerConfig } from "../config/server-config.ts";
import { canonicalHash } from "../text/canonical-hash.ts";

/** Finds out where a launch would take place and which file it would run. Looks at files, starts nothing. */
export type LocateLaunch = (config: ServerConfig) => LaunchPlace;

/** A server as its entry describes it. */
interface DescribedServer {
  readonly config: ServerConfig;
  readonly entryIdentity: string;
}

/** A launch as it would be now, and what approving it is bound to. */
export interface CurrentLaunch {
  readonly facts: LaunchFacts;
  readonly identity: string;
}

/**
 * The launches a person has approved. An approval covers the entry as it is written, the folder and the
 * file behind the command. Which file that is, is looked up only for an entry that was approved before:
 * for any other, even a look at the path it names could be what it is after.
 */
export class LaunchApprovals {
  readonly #locate: LocateLaunch;
  /** Approved identities by the identity of the entry alone. */
  readonly #approved = new Map<string, Set<string>>();
  /** Current identities, as far as they have been looked up. */
  readonly #current = new Map<string, string>();

  constructor(locate: LocateLaunch) {
    this.#locate = locate;
  }

  has({ config, entryIdentity }: DescribedServer): boolean {
    const approved = this.#approved.get(entryIdentity);
    if (approved === undefined) return false;
    return approved.has(this.#current.get(entryIdentity) ?? this.describe(config).identity);
  }

  /** Looks now; what it finds counts from now on, whatever has been found before. */
  describe(config: ServerConfig): CurrentLaunch {
    const facts = launchFacts(config, this.#locate(config));
    const identity = canonicalHash(facts);
    this.#current.set(partsOfIdentity(facts).entry, identity);
    return { facts, identity };
  }

  /** The next question about this entry looks at the files again. */
  lookAgain({ entryIdentity }: DescribedServer): void {
    this.#current.delete(entryIdentity);
  }

  add({ identity, facts }: CurrentLaunch): void {
    const { entry } = partsOfIdentity(facts);
    const approved = this.#approved.get(entry) ?? new Set();
    this.#approved.set(entry, approved.add(identity));
  }

  delete(identity: string): void {
    for (const [entry, approved] of this.#approved)
      if (approved.delete(identity) && approved.size === 0) this.#approved.delete(entry);
  }

  /** Every approval of the entry, whatever file its command stood for. */
  deleteAll({ entryIdentity }: DescribedServer): void {
    this.#approved.delete(entryIdentity);
  }
}
