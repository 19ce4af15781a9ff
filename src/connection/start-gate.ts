import { untilAborted } from "../async/until-aborted.ts";
import { createError } from "../errors/families.ts";
import type { McpError } from "../errors/mcp-error.ts";
import type { Clock } from "../ports/clock.ts";

/** How many servers may start at once. */
export interface StartRoom {
  readonly places: number;
  /** A start that takes longer mostly waits, and holds up nobody else. */
  readonly slotMs: number;
}

/** Enough processes to keep a machine busy; more only make each other slow. The slow ones download something. */
export const processRoom: StartRoom = { places: 8, slotMs: 5_000 };

/**
 * Enough addresses to keep this process busy, and fewer than an origin has connections for calls: a thousand
 * greetings that wait for a connection have V8 take what belongs to one request for something that lasts, and
 * then each later call leaves 3.5 KB that only a full collection frees. The slow ones wait for the network.
 */
export const addressRoom: StartRoom = { places: 32, slotMs: 250 };

/** The gates at which the servers of one host wait for their turn to start. */
export interface StartGates {
  readonly processes: StartGate;
  readonly addresses: StartGate;
}

/** Lets servers start a few at a time, in the order in which they were wanted. */
export class StartGate {
  readonly #clock: Clock;
  readonly #slotMs: number;
  readonly #waiting = new Set<Place>();
  #free: number;

  constructor(clock: Clock, { places, slotMs }: StartRoom) {
    this.#clock = clock;
    this.#slotMs = slotMs;
    this.#free = places;
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
    const timer = this.#clock.schedule(this.#slotMs, leave);
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
