import { untilAborted } from "../async/until-aborted.ts";
import { createError } from "../errors/families.ts";
import type { McpError } from "../errors/mcp-error.ts";
import type { Clock } from "../ports/clock.ts";

/** Enough to keep a machine busy; more only make each other slow. */
const maxStarting = 8;
/** A start that takes longer mostly waits, for a download as a rule: it holds up nobody else. */
const slotMs = 5_000;

/** Lets the servers of one host start a few at a time, in the order in which they were wanted. */
export class StartGate {
  readonly #clock: Clock;
  readonly #waiting = new Set<Place>();
  #free = maxStarting;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Runs `start` when there is room for it; `cancelled` when `signal` aborts before that. */
  async run<T>(start: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    if (this.#free > 0) this.#free -= 1;
    else await this.#turn(signal);
    let isInside = true;
    const leave = (): void => {
      if (isInside) this.#leave();
      isInside = false;
    };
    const timer = this.#clock.schedule(slotMs, leave);
    try {
      return await start();
    } finally {
      timer.cancel();
      leave();
    }
  }

  async #turn(signal: AbortSignal | undefined): Promise<void> {
    const place = new Place();
    this.#waiting.add(place);
    if (signal === undefined) return await place.turn;
    try {
      await untilAborted(place.turn, signal, cancelledBeforeTurn);
    } catch (error) {
      // A turn that came in the same moment goes to the next one.
      if (!this.#waiting.delete(place)) this.#leave();
      throw error;
    }
  }

  /** The room goes to whoever has waited longest. */
  #leave(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#free += 1;
      return;
    }
    this.#waiting.delete(next);
    next.enter();
  }
}

/** One place in the queue. */
class Place {
  enter: () => void = () => {};
  readonly turn = new Promise<void>((resolve) => {
    this.enter = resolve;
  });
}

function cancelledBeforeTurn(): McpError {
  return createError("cancelled", "cancelled before it was its turn to start");
}
