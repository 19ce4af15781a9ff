import type { Readable } from "node:stream";

import type { Clock, Timer } from "../../ports/clock.ts";
import type { Logger } from "../../ports/logger.ts";
import { findCause, type OutputCause } from "../reading/output-cause.ts";
import { sanitizeLine } from "../reading/sanitize-line.ts";

export interface StderrDrainOptions {
  readonly serverName: string;
  readonly maxBytes: number;
  readonly secrets: readonly string[];
  readonly clock: Clock;
  readonly logger: Logger;
}

const newline = 0x0a;
const firstBufferBytes = 4 * 1_024;
const tailLines = 20;
/** A stack, a summary of npm or a usage text may follow the line that says what went wrong. */
const searchedLines = 200;
const maxLineChars = 500;
/** Lines go to the log in batches: a flood costs a few lines a second, however much is written. */
const logIntervalMs = 250;

/**
 * Reads a server's stderr to the end, so that the server never waits for us, and keeps the last of
 * it. What is written there is a message to people and never a failure by itself.
 */
export class StderrDrain {
  readonly #options: StderrDrainOptions;
  readonly #ring: StderrRing;
  #logTimer: Timer | undefined;

  constructor(stream: Readable, options: StderrDrainOptions) {
    this.#options = options;
    this.#ring = new StderrRing(options.maxBytes);
    stream.on("data", (chunk: Buffer) => {
      this.#ring.push(chunk);
      this.#logTimer ??= options.clock.schedule(logIntervalMs, () => this.flush());
    });
    // A broken pipe says no more than the end of the process, which is reported anyway.
    stream.on("error", () => {});
  }

  tail(): string[] {
    return this.#ring.tail(tailLines).map((line) => this.#sanitize(line));
  }

  /** The reason for a failure that the process printed here, if any. */
  cause(): OutputCause | undefined {
    return findCause(this.#ring.tail(searchedLines).map((line) => this.#sanitize(line)));
  }

  /** Logs the lines that have not been logged yet. */
  flush(): void {
    this.#logTimer?.cancel();
    this.#logTimer = undefined;
    const { serverName, logger } = this.#options;
    for (const line of this.#ring.takeLines(tailLines))
      logger.debug(this.#sanitize(line), { serverName, stream: "stderr" });
  }

  #sanitize(line: string): string {
    return sanitizeLine(line, maxLineChars, this.#options.secrets);
  }
}

/** Keeps the last `maxBytes` of a stream of text; memory is taken as it is needed. */
export class StderrRing {
  readonly #maxBytes: number;
  #buffer = Buffer.alloc(0);
  /** Positions count from the first byte ever written. */
  #end = 0;
  #taken = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = Math.max(1, maxBytes);
  }

  push(chunk: Buffer): void {
    const kept = chunk.length > this.#maxBytes ? chunk.subarray(-this.#maxBytes) : chunk;
    this.#end += chunk.length - kept.length;
    this.#grow(this.#end + kept.length);
    const copied = kept.copy(this.#buffer, this.#end % this.#buffer.length);
    kept.copy(this.#buffer, 0, copied);
    this.#end += kept.length;
  }

  /** The last lines, the unfinished one included; a line whose beginning is lost is left out. */
  tail(count: number): string[] {
    return this.#lines(0, this.#end, count);
  }

  /** The complete lines since the last call, but no more than the last `count` of them. */
  takeLines(count: number): string[] {
    const bytes = this.#bytes();
    const lastNewline = bytes.lastIndexOf(newline);
    const end = this.#end - bytes.length + lastNewline + 1;
    if (lastNewline === -1 || end <= this.#taken) return [];
    const lines = this.#lines(this.#taken, end, count);
    this.#taken = end;
    return lines;
  }

  #grow(byteLength: number): void {
    const needed = Math.min(byteLength, this.#maxBytes);
    if (needed <= this.#buffer.length) return;
    const doubled = Math.max(needed, this.#buffer.length * 2, firstBufferBytes);
    const grown = Buffer.allocUnsafe(Math.min(doubled, this.#maxBytes));
    this.#buffer.copy(grown);
    this.#buffer = grown;
  }

  /** The bytes that are kept, oldest first. */
  #bytes(): Buffer {
    if (this.#end <= this.#buffer.length) return this.#buffer.subarray(0, this.#end);
    const oldest = this.#end % this.#buffer.length;
    return Buffer.concat([this.#buffer.subarray(oldest), this.#buffer.subarray(0, oldest)]);
  }

  #lines(from: number, to: number, count: number): string[] {
    const kept = this.#bytes();
    const keptFrom = this.#end - kept.length;
    const bytes = kept.subarray(Math.max(0, from - keptFrom), to - keptFrom);
    const lines: string[] = [];
    let end = bytes.length;
    while (end > 0 && lines.length < count) {
      const start = bytes.lastIndexOf(newline, end - 1) + 1;
      // Half a line could be half a secret, which redaction would not recognise.
      if (start === 0 && from < keptFrom) break;
      if (start < end) lines.push(bytes.toString("utf8", start, end));
      end = start - 1;
    }
    return lines.toReversed();
  }
}
