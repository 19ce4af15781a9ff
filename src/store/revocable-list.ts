interface Revocation<Item> {
  readonly covers: (item: Item) => boolean;
  /** Keys of what was added again since. */
  readonly addedAgain: Set<string>;
}

/**
 * Keeps what this host holds of a list in the store in step with the store, which others write as well.
 * Reads and writes of the store take turns, so that no list is applied that was read before a change
 * of this host and is older than it. What is taken back counts from the moment it is asked for: neither
 * a list that still has it brings it back, nor something that was on its way into the store before.
 */
export class SharedList<Item> {
  readonly #keyOf: (item: Item) => string;
  #lastTurn: Promise<unknown> = Promise.resolve();
  /** Asked for, and their turn is still to come. */
  readonly #pending = new Set<Revocation<Item>>();
  /** Those the store could not be told of, by name: it still has what they cover. */
  readonly #untold = new Map<string, Revocation<Item>>();

  constructor(keyOf: (item: Item) => string) {
    this.#keyOf = keyOf;
  }

  /** Gives `apply`, which must not wait, what `list` finds and was not taken back here. */
  read<Listed extends Item, T>(
    list: () => Promise<readonly Listed[]>,
    apply: (items: readonly Listed[]) => T,
  ): Promise<T> {
    return this.#inTurn(async () => {
      const items = await list();
      return apply(items.filter((item) => !this.#isTakenBack(item)));
    });
  }

  /** Stores the items by `store`; gives `apply` those that were not taken back since this was called. */
  add(
    items: readonly Item[],
    store: () => Promise<unknown>,
    apply: (items: readonly Item[]) => void,
  ): Promise<void> {
    return this.#inTurn(async () => {
      await store();
      const revocations = [...this.#pending];
      const kept = items.filter((item) => !revocations.some(({ covers }) => covers(item)));
      for (const { addedAgain } of this.#untold.values())
        for (const item of kept) addedAgain.add(this.#keyOf(item));
      apply(kept);
    });
  }

  /**
   * Takes back what it covers, and `remove` takes it out of the store. Where that fails it stays taken
   * back here; the next attempt of this name makes up for it.
   */
  takeBack<T>(name: string, covers: (item: Item) => boolean, remove: () => Promise<T>): Promise<T> {
    const revocation = { covers, addedAgain: new Set<string>() };
    this.#pending.add(revocation);
    return this.#inTurn(async () => {
      try {
        const removed = await remove();
        this.#untold.delete(name);
        return removed;
      } catch (error) {
        this.#untold.set(name, revocation);
        throw error;
      } finally {
        this.#pending.delete(revocation);
      }
    });
  }

  #isTakenBack(item: Item): boolean {
    const key = this.#keyOf(item);
    return [...this.#pending, ...this.#untold.values()].some(
      ({ covers, addedAgain }) => covers(item) && !addedAgain.has(key),
    );
  }

  #inTurn<T>(task: () => Promise<T>): Promise<T> {
    const turn = this.#lastTurn.then(task, task);
    this.#lastTurn = turn;
    return turn;
  }
}
