import { TimeSlice } from "../../async/time-slice.ts";

/**
 * Starts processes one after the other. Each start takes a millisecond or more in which nothing else runs, so other
 * work gets its turn after a slice of time. Within a slice they follow each other at once: what runs between two
 * forks costs more than elsewhere, because the system copies every page of memory that is written after a fork.
 */
export class StartTurns {
  readonly #slice: TimeSlice;
  readonly #commands = new Map<string, string>();
  #last: Promise<unknown> = Promise.resolve();

  constructor(slice = new TimeSlice()) {
    this.#slice = slice;
  }

  /** Calls `start` when it is its turn. What it throws is its caller's alone. */
  run<T>(start: () => T): Promise<T> {
    const started = this.#last.then(() => {
      if (this.#slice.isOver) this.#commands.clear();
      return start();
    });
    this.#last = started.then(this.#rest, this.#rest);
    return started;
  }

  /**
   * The file that `find` finds for a command, looked for once in a slice however many servers have it: it is known
   * for no longer than the start of one slow process takes.
   */
  commandFile(key: string, find: () => string | undefined): string | undefined {
    const file = this.#commands.get(key) ?? find();
    if (file !== undefined) this.#commands.set(key, file);
    return file;
  }

  readonly #rest = async (): Promise<void> => {
    if (this.#slice.isOver) await this.#slice.next();
  };
}
