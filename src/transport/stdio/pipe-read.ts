import type { Readable } from "node:stream";

import { type PausableRead, resumeRead } from "../../isolation/network/paused-reads.ts";
import { type ReadTurns, readTurns } from "../reading/read-turns.ts";

/** A read of the system that filled its buffer: more is waiting, and will be read in the same turn. */
const fullReadBytes = 64 * 1_024;

/** The reading of a pipe, in turns with all others. */
export class PipeRead implements PausableRead {
  readonly #stream: Readable;
  readonly #turns: ReadTurns;
  #isStopped = false;

  constructor(stream: Readable, turns = readTurns) {
    this.#stream = stream;
    this.#turns = turns;
  }

  /** Must be called with every chunk before its messages are handled. */
  begin(): void {
    this.#turns.begin();
  }

  /** Must be called with every chunk when its messages are handled. */
  took(chunk: Buffer): void {
    if (this.#isStopped) return;
    if (chunk.length >= fullReadBytes || this.#turns.isFlooded) this.#turns.end(this);
  }

  /** Reads the rest without pauses: the process has ended, so it is little and must not be late. */
  stop(): void {
    this.#isStopped = true;
    resumeRead(this);
  }

  pause(): void {
    this.#stream.pause();
  }

  resume(): void {
    this.#stream.resume();
  }
}
