import type { Readable } from "node:stream";

import type { Clock, Timer } from "../../ports/clock.ts";
import type { Logger } from "../../ports/logger.ts";
import { TokenBucket } from "../../protocol/channel/token-bucket.ts";
import { truncate } from "../../text/truncate.ts";
import type { OmittedOutput, ProcessOutput } from "../host-transport.ts";
import { findCause, type OutputCause } from "../reading/output-cause.ts";
import { sanitizeLine } from "../reading/sanitize-line.ts";

export interface StderrDrainOptions {
  readonly serverName: string;
  readonly maxBytes: number;
  readonly secrets: readonly string[];
  readonly clock: Clock;
  readonly logger: Logger;
  /** Where lines are kept; nowhere without it. */
  readonly output?: ProcessOutput | undefined;
}

const newline = 0x0a;
const firstBufferBytes = 4 * 1_024;
const tailLines = 20;
/** A stack, a summary of npm or a usage text may follow the line that says what went wrong. */
const searchedLines = 200;
const maxLineChars = 500;
/** Lines go to the log in batches: a flood costs a few lines a second, however much is written. */
const logIntervalMs = 250;
/** Beside the last lines of each batch so many are kept, at once and on average: the rest of a flood is counted. */
const keptBurst = 1_000;
const keptPerSecond = 50;
const maxKeptChars = 2_000;
/** Hostile text of this length takes some ten milliseconds to be made safe. */
const maxBatchChars = 64 * 1_024;

/**
 * Reads a server's stderr to the end, so that the server never waits for us, and keeps the last of
 * it. What is written there is a message to people and never a failure by itself.
 */
export class StderrDrain {
  readonly #options: StderrDrainOptions;
  readonly #ring: StderrRing;
  #logTimer: Timer | undefined;
  #keptLines: TokenBucket | undefined;

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

  /** Logs the complete lines that have not been logged yet. */
  flush(): void {
    this.#flush((count) => this.#ring.takeLines(count));
  }

  /** Logs all that has not been logged yet: no more is to come. */
  end(): void {
    this.#flush((count) => this.#ring.takeRest(count));
  }

  #flush(take: (count: number) => readonly string[]): void {
    this.#logTimer?.cancel();
    this.#logTimer = undefined;
    const { serverName, logger, output, secrets, clock } = this.#options;
    if (output === undefined) {
      for (const line of take(tailLines))
        logger.debug(this.#sanitize(line), { serverName, stream: "stderr" });
      return;
    }
    this.#keptLines ??= new TokenBucket({ perSecond: keptPerSecond, burst: keptBurst, clock });
    const taken = take(tailLines + this.#keptLines.available);
    this.#keptLines.spend(Math.max(0, taken.length - tailLines));
    const last = lastLines(taken, maxBatchChars);
    const { lines, bytes } = this.#ring.takeOmitted();
    const omitted = { lines: lines + taken.length - last.length, bytes };
    if (last.length === 0 && omitted.lines === 0 && bytes === 0) return;
    const kept = last.map((line) => sanitizeLine(line, maxKeptChars, secrets));
    for (const line of kept.slice(-tailLines))
      logger.debug(truncate(line, maxLineChars), { serverName, stream: "stderr" });
    output.printed(kept, omitted);
  }

  #sanitize(line: string): string {
    return sanitizeLine(line, maxLineChars, this.#options.secrets);
  }
}

/** As many of the last lines as have `maxChars` together, counted as far as each is read. */
function lastLines(lines: readonly string[], maxChars: number): readonly string[] {
  let chars = 0;
  const first = lines.findLastIndex((line) => {
    chars += Math.min(line.length, maxKeptChars);
    return chars > maxChars;
  });
  return lines.slice(first + 1);
}

/** Keeps the last `maxBytes` of a stream of text; memory is taken as it is needed. */
export class StderrRing {
  readonly #maxBytes: number;
  #buffer = Buffer.alloc(0);
  /** Positions count from the first byte ever written. */
  #end = 0;
  #taken = 0;
  #omitted: OmittedOutput = { lines: 0, bytes: 0 };
  /** Whether what was taken last had no end: the rest of that line is no line, and is never handed out. */
  #isMidLine = false;

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
    return lastNewline === -1 ? [] : this.#take(end, count);
  }

  /** The same with the line that has no end yet; what may still come of it is left out. */
  takeRest(count: number): string[] {
    const lines = this.#take(this.#end, count);
    this.#isMidLine = this.#end > 0 && this.#bytes().at(-1) !== newline;
    return lines;
  }

  /** What was left out by `takeLines` and `takeRest` since the last call. */
  takeOmitted(): OmittedOutput {
    const omitted = this.#omitted;
    this.#omitted = { lines: 0, bytes: 0 };
    return omitted;
  }

  #take(end: number, count: number): string[] {
    if (this.#isMidLine) this.#skipLine();
    if (end <= this.#taken) return [];
    const from = this.#taken;
    this.#taken = end;
    const lines = this.#lines(from, end, count);
    const overwritten = Math.max(0, this.#end - this.#buffer.length - from);
    const isAll = overwritten === 0 && lines.length < count;
    if (!isAll) this.#noteOmitted(from, end, { taken: lines.length, overwritten });
    return lines;
  }

  #skipLine(): void {
    const kept = this.#bytes();
    const keptFrom = this.#end - kept.length;
    const place = kept.indexOf(newline, Math.max(0, this.#taken - keptFrom));
    this.#isMidLine = place === -1;
    this.#taken = place === -1 ? this.#end : keptFrom + place + 1;
  }

  /** Counts the lines that are still here and were not taken; those that are gone are known by their bytes only. */
  #noteOmitted(
    from: number,
    to: number,
    { taken, overwritten }: { readonly taken: number; readonly overwritten: number },
  ): void {
    const kept = this.#bytes();
    const keptFrom = this.#end - kept.length;
    const bytes = kept.subarray(Math.max(0, from - keptFrom), to - keptFrom);
    let lines = 0;
    for (let index = 0; index < bytes.length; index += 1)
      if (bytes[index] === newline && bytes[index - 1] !== newline) lines += 1;
    // The end of the line whose beginning is gone is no line.
    const whole = lines - (overwritten > 0 ? 1 : 0) + (bytes.at(-1) === newline ? 0 : 1);
    this.#omitted = {
      lines: this.#omitted.lines + Math.max(0, whole - taken),
      bytes: this.#omitted.bytes + overwritten,
    };
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
