import type { Readable } from "node:stream";

import type { Clock } from "../ports/clock.ts";

/** A read of the system that filled its buffer: more is waiting, and will be read in the same turn. */
const fullReadBytes = 64 * 1_024;
/** How long one stream may be read before everything else has its turn. */
const sliceMs = 8;

/**
 * Divides the reading of a stream into slices. Node reads a pipe that never runs dry up to 32 times
 * before it looks at anything else: with a flood of small messages that is longer than other
 * connections and timers can wait.
 */
export class ReadSlices {
  readonly #stream: Readable;
  readonly #clock: Clock;
  #sliceEndsAt: number | undefined;
  #isStopped = false;

  constructor(stream: Readable, clock: Clock) {
    this.#stream = stream;
    this.#clock = clock;
  }

  /** To be told of every chunk when it has been dealt with. */
  took(chunk: Buffer): void {
    if (chunk.length < fullReadBytes || this.#isStopped) {
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
    this.#stream.resume();
  }
}
