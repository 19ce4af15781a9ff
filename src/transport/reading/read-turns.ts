import { type PausableRead, pauseRead, resumeRead } from "../../isolation/network/paused-reads.ts";
import { type Clock, systemClock } from "../../ports/clock.ts";

/** How long may be read before everything else has its turn. */
const turnMs = 4;
/** After a pause of this length something else has had its turn already. */
const idleMs = 1;
/** A read whose messages are dropped rests this many times as long as it took to deal with them. */
const restFactor = 12;
const shortestRestMs = 2;
const longestRestMs = 200;

/**
 * Divides the reading of all pipes and responses into turns. Node reads one that never runs dry up to
 * 32 times before it looks at anything else: with a flood of small messages, or several of them, that
 * is longer than other connections and timers can wait. A flood that is dropped anyway gets a small part
 * of the time.
 */
export class ReadTurns {
  readonly #clock: Clock;
  readonly #waiting: PausableRead[] = [];
  #startedAt = 0;
  #endedAt = 0;
  #isOver = false;
  #begunAt = 0;
  #isFlooded = false;

  constructor(clock: Clock = systemClock) {
    this.#clock = clock;
  }

  /** Whether a message of the chunk that is being read was dropped. */
  get isFlooded(): boolean {
    return this.#isFlooded;
  }

  /** Must be called with each chunk before its messages are handled. */
  begin(): void {
    const now = this.#clock.monotonic();
    this.#begunAt = now;
    this.#isFlooded = false;
    if (now - this.#endedAt > idleMs) this.#startedAt = now;
  }

  /** Reports that a message of this chunk was dropped because too many come. */
  slowDown(): void {
    this.#isFlooded = true;
  }

  /** Must be called when the messages are handled. Pauses `read` when the turn is over, or for a rest; it goes on by itself. */
  end(read: PausableRead): void {
    this.#endedAt = this.#clock.monotonic();
    if (this.#isFlooded) return this.#rest(read);
    if (!this.#isOver && this.#endedAt - this.#startedAt < turnMs) return;
    pauseRead(read);
    this.#waiting.push(read);
    if (this.#isOver) return;
    this.#isOver = true;
    setImmediate(this.#nextTurn);
  }

  readonly #nextTurn = (): void => {
    this.#isOver = false;
    this.#startedAt = this.#clock.monotonic();
    this.#endedAt = this.#startedAt;
    // One that uses up the turn waits behind the others.
    while (!this.#isOver) {
      const read = this.#waiting.shift();
      if (read === undefined) return;
      resumeRead(read);
    }
  };

  #rest(read: PausableRead): void {
    const tookMs = this.#endedAt - this.#begunAt;
    const restMs = Math.min(Math.max(tookMs * restFactor, shortestRestMs), longestRestMs);
    this.#isFlooded = false;
    pauseRead(read);
    this.#clock.schedule(restMs, () => resumeRead(read));
  }
}

/** The turns of this process: they are short only if all pipes and responses share them. */
export const readTurns = new ReadTurns();
