import { createQueue } from "../async/queue.ts";

interface Revocation<Item> {
  readonly covers: (item: Item) => boolean;
  /** Keys of items that were added again after the revocation failed. */
  readonly regranted: Set<string>;
}

/**
 * Keeps this host's copy of a stored list in step with the store, which other hosts write as well.
 * Reads and writes of the store take turns, so that a list read before a change of this host is never
 * applied after it. A revocation counts from the moment it is asked for: neither a stored list that
 * still has the item brings it back, nor an addition that was on its way into the store before.
 */
export class RevocableList<Item> {
  readonly #keyOf: (item: Item) => string;
  readonly #inTurn = createQueue();
  /** Revocations whose turn is still to come. */
  readonly #pending = new Set<Revocation<Item>>();
  /** Revocations that failed to reach the store, by name. The store still lists what they cover. */
  readonly #failedRevocations = new Map<string, Revocation<Item>>();

  constructor(keyOf: (item: Item) => string) {
    this.#keyOf = keyOf;
  }

  /** Gives `apply`, which must be synchronous, the items of `list` that are not revoked here. */
  read<Listed extends Item, T>(
    list: () => Promise<readonly Listed[]>,
    apply: (items: readonly Listed[]) => T,
  ): Promise<T> {
    return this.#inTurn(async () => {
      const items = await list();
      return apply(items.filter((item) => !this.#isRevoked(item)));
    });
  }

  /** Stores the items by `store`; gives `apply` those that were not revoked since this was called. */
  add(
    items: readonly Item[],
    store: () => Promise<unknown>,
    apply: (items: readonly Item[]) => void,
  ): Promise<void> {
    return this.#inTurn(async () => {
      await store();
      const revocations = [...this.#pending];
      const kept = items.filter((item) => !revocations.some(({ covers }) => covers(item)));
      for (const { regranted } of this.#failedRevocations.values())
        for (const item of kept) regranted.add(this.#keyOf(item));
      apply(kept);
    });
  }

  /**
   * Revokes the items that `covers` accepts; `remove` takes them out of the store. Where `remove` fails
   * they stay revoked here, and a later revocation of the same name replaces this one.
   */
  revoke<T>(name: string, covers: (item: Item) => boolean, remove: () => Promise<T>): Promise<T> {
    const revocation = { covers, regranted: new Set<string>() };
    this.#pending.add(revocation);
    return this.#inTurn(async () => {
      try {
        const removed = await remove();
        this.#failedRevocations.delete(name);
        return removed;
      } catch (error) {
        this.#failedRevocations.set(name, revocation);
        throw error;
      } finally {
        this.#pending.delete(revocation);
      }
    });
  }

  #isRevoked(item: Item): boolean {
    const key = this.#keyOf(item);
    return [...this.#pending, ...this.#failedRevocations.values()].some(
      ({ covers, regranted }) => covers(item) && !regranted.has(key),
    );
  }
}
