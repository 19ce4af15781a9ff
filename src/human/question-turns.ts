/**
 * Questions to a person take turns: one about each server at a time, because the answer to the first
 * may settle the others.
 */
export class QuestionTurns {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Runs `ask` when every earlier question of this key is over, however it ended. */
  async take<T>(key: string, ask: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key) ?? Promise.resolve();
    const asked = before.then(ask, ask);
    this.#last.set(key, asked);
    try {
      return await asked;
    } finally {
      if (this.#last.get(key) === asked) this.#last.delete(key);
    }
  }
}
