import { type PausableRead, pauseRead, resumeRead } from "../isolation/paused-reads.ts";

/** How long responses may be read before everything else has its turn. */
const turnMs = 4;
/** After a pause of this length something else has had its turn already. */
const idleMs = 1;

/**
 * Divides the reading of all responses into turns. Node reads a connection that never runs dry up to
 * 32 times before it looks at anything else: with a flood of small messages, or several of them, that
 * is longer than other connections and timers can wait.
 */
export class ReadTurns {
  readonly #waiting: PausableRead[] = [];
  #startedAt = 0;
  #endedAt = 0;
  #isOver = false;

  /** To be called before something is made of what was read. */
  begin(): void {
    const now = performance.now();
    if (now - this.#endedAt > idleMs) this.#startedAt = now;
  }

  /** To be called after that. Pauses `read` when the turn is over; it goes on in the next one. */
  end(read: PausableRead): void {
    this.#endedAt = performance.now();
    if (!this.#isOver && this.#endedAt - this.#startedAt < turnMs) return;
    pauseRead(read);
    this.#waiting.push(read);
    if (this.#isOver) return;
    this.#isOver = true;
    setImmediate(this.#nextTurn);
  }

  readonly #nextTurn = (): void => {
    this.#isOver = false;
    this.#startedAt = performance.now();
    this.#endedAt = this.#startedAt;
    // One that uses up the turn waits behind the others.
    while (!this.#isOver) {
      const read = this.#waiting.shift();
      if (read === undefined) return;
      resumeRead(read);
    }
  };
}
