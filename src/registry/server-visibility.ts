export interface ClaimOptions {
  readonly owner: string;
  /** Lets every agent use the owner's connection. */
  readonly isShared: boolean;
}

/** What an agent has of a server, until it lets go. */
interface Hold {
  /** Those that were not dropped. */
  claims: number;
}

/**
 * Who sees a server. As configured it is everybody's; once an agent claims it for itself, it exists for
 * those alone who claimed it, unless one of them shares. It belongs to the server's name, so that a change
 * of the entry shows a private server to nobody else.
 */
export class ServerVisibility {
  readonly #owners = new Map<string, Hold>();
  /** Those who asked for the shared connection and have not let go of it. The first shares it, and may end it. */
  readonly #sharers = new Map<string, Hold>();

  isVisibleTo(agent: string): boolean {
    return this.#owners.size === 0 || this.#sharers.size > 0 || this.#owners.has(agent);
  }

  /** Whether the agent uses the server over a connection of its own. */
  isOwner(agent: string): boolean {
    return this.#owners.has(agent);
  }

  isSharer(agent: string): boolean {
    return this.#sharers.has(agent);
  }

  get isClaimed(): boolean {
    return this.#owners.size > 0 || this.#sharers.size > 0;
  }

  /** The agent that may end the shared connection. */
  get sharer(): string | undefined {
    const [first] = this.#sharers.keys();
    return first;
  }

  /**
   * Counts until the owner lets go, or until what is returned is called, once: then it is as if the claim
   * had never been. That tells whether it was the owner's last.
   */
  claim({ owner, isShared }: ClaimOptions): () => boolean {
    const holds = isShared ? this.#sharers : this.#owners;
    const hold = holds.get(owner) ?? { claims: 0 };
    holds.set(owner, hold);
    hold.claims += 1;
    return () => {
      hold.claims -= 1;
      if (hold.claims > 0 || holds.get(owner) !== hold) return false;
      return holds.delete(owner);
    };
  }

  /** The agent lets go of its own connection. */
  releaseOwn(agent: string): void {
    this.#owners.delete(agent);
  }

  /** The agent lets go of the shared connection, which ends with who shares it. False for one that had no part in it. */
  releaseShared(agent: string): boolean {
    if (agent === this.sharer) {
      this.#sharers.clear();
      return true;
    }
    return this.#sharers.delete(agent);
  }

  /** Everybody lets go: the server is everybody's again. */
  releaseAll(): void {
    this.#owners.clear();
    this.#sharers.clear();
  }
}
