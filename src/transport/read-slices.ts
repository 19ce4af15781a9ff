import type { Readable } from "node:stream";

import type { Clock, Timer } from "../ports/clock.ts";

/** A read of the system that filled its buffer: more is waiting, and will be read in the same turn. */
const fullReadBytes = 64 * 1_024;
/** How long one stream may be read before everything else has its turn. */
const sliceMs = 8;
/** A stream whose messages are dropped rests this many times as long as it is read. */
const restFactor = 12;
const shortestRestMs = 2;
const longestRestMs = 200;

/**
 * Divides the reading of a stream into slices. Node reads a pipe that never runs dry up to 32 times
 * before it looks at anything else: with a flood of small messages that is longer than other
 * connections and timers can wait. A flood that is dropped anyway gets a small part of the time.
 */
export class ReadSlices {
  readonly #stream: Readable;
  readonly #clock: Clock;
  #sliceEndsAt: number | undefined;
  #readAt = 0;
  #isSlowed = false;
  #rest: Timer | undefined;
  #isStopped = false;

  constructor(stream: Readable, clock: Clock) {
    this.#stream = stream;
    this.#clock = clock;
  }

  /** To be told of every chunk before something is made of it. */
  begin(): void {
    this.#readAt = this.#clock.monotonic();
  }

  /** Something in the chunk that is being dealt with was dropped because too much comes. */
  slowDown(): void {
    this.#isSlowed = true;
  }

  /** To be told of every chunk when it has been dealt with. */
  took(chunk: Buffer): void {
    if (this.#isStopped) return;
    if (this.#isSlowed) return this.#restAWhile();
    if (chunk.length < fullReadBytes) {
      this.#sliceEndsAt = undefined;
      return;
    }
    const now = this.#clock.monotonic();
    this.#sliceEndsAt ??= now + sliceMs;
    if (now < this.#sliceEndsAt) return;
    this.#sliceEndsAt = undefined;
    this.#stream.pause();
    setImmediate(() => this.#stream.resume());
  }

  /** What is left is little, and must not be late. */
  stop(): void {
    this.#isStopped = true;
    this.#rest?.cancel();
    this.#stream.resume();
  }

  #restAWhile(): void {
    const tookMs = this.#clock.monotonic() - this.#readAt;
    const restMs = Math.min(Math.max(tookMs * restFactor, shortestRestMs), longestRestMs);
    this.#isSlowed = false;
    this.#sliceEndsAt = undefined;
    this.#stream.pause();
    this.#rest = this.#clock.schedule(restMs, () => this.#stream.resume());
  }
}
