import { systemClock } from "../ports/clock.ts";

/** Other work gets its turn after this. */
const sliceMs = 10;

/**
 * Divides the turns of the event loop among all work that is done in slices: together it takes one slice of a turn,
 * however many lists arrive at once. Whoever has waited longest goes on first.
 */
export class LoopTurns {
  readonly #now: () => number;
  /** The beginning of the first work of this turn; undefined when there was none so far. */
  #since: number | undefined;
  #isEnding = false;
  readonly #waiting: (() => void)[] = [];

  constructor(now = () => systemClock.monotonic()) {
    this.#now = now;
  }

  now(): number {
    return this.#now();
  }

  /** Gives the time at which work in slices began in this turn: now, if nothing else has. */
  begin(): number {
    if (this.#since === undefined) {
      this.#since = this.#now();
      this.#endLater();
    }
    return this.#since;
  }

  /** Resolves in a later turn, after timers and sockets that wait have had theirs. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.#endLater();
    });
  }

  /** The first immediate runs behind the sockets of the same turn and before any timer: a second one ends the turn. */
  #endLater(): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    setImmediate(() => {
      setImmediate(this.#end);
      // One each: what goes on has its promises settled before the next one is asked.
      for (let left = this.#waiting.length; left > 0; left -= 1) setImmediate(this.#resume);
    });
  }

  readonly #end = (): void => {
    this.#isEnding = false;
    this.#since = undefined;
    // Somebody may have begun to wait when the others were counted already.
    if (this.#waiting.length > 0) this.#endLater();
  };

  readonly #resume = (): void => {
    if (this.#waiting.length === 0 || this.#now() - this.begin() >= sliceMs) return;
    this.#waiting.shift()?.();
  };
}

const loopTurns = new LoopTurns();

/** For work of many short steps, which must not hold the event loop: ask between two steps whether it is over. */
export class TimeSlice {
  readonly #turns: LoopTurns;
  #since: number;

  constructor(turns = loopTurns) {
    this.#turns = turns;
    this.#since = turns.begin();
  }

  /** Whether this work or all work of this turn together has taken long enough. */
  get isOver(): boolean {
    return this.#turns.now() - Math.min(this.#since, this.#turns.begin()) >= sliceMs;
  }

  /** Resolves after everything else that waits has had its turn. */
  async next(): Promise<void> {
    await this.#turns.next();
    this.#since = this.#turns.begin();
  }
}
