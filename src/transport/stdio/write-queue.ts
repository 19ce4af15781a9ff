import type { Writable } from "node:stream";

import { createError } from "../../errors/families.ts";
import type { McpError } from "../../errors/mcp-error.ts";
import type { Clock, Timer } from "../../ports/clock.ts";
import { cancelledId, requestId } from "../reading/message-ids.ts";

export interface WriteQueueOptions {
  readonly serverName: string;
  /** Serialized bytes the queue takes in before senders have to wait. */
  readonly maxQueuedBytes: number;
  /** How long a sender waits for room; `0` means as long as it takes. */
  readonly timeoutMs: number;
  readonly clock: Clock;
}

interface WaitingSend {
  readonly line: string;
  readonly giveUpAt: number;
  readonly resolve: () => void;
  readonly reject: (error: McpError) => void;
}

/**
 * Enough for one system call to be worth it. With more, the server would have nothing to do while this
 * side makes the batch, and this side nothing while the server works on it: at 64 calls in flight that
 * halves the rate.
 */
const maxBatchChars = 4 * 1_024;
const sent = Promise.resolve();

/**
 * Writes messages as lines to a pipe. The first message of a turn leaves at once, so that a lone
 * request never waits; those that follow in the same turn leave together in one system call. When
 * the reader falls behind, messages queue up to a bound; beyond it senders wait, in order. A request
 * that is cancelled before it has left never leaves, and neither does its cancellation.
 */
export class WriteQueue {
  readonly #stream: Writable;
  readonly #options: WriteQueueOptions;
  /** Lines of the turn that are not yet handed to the stream. */
  #batch = "";
  #isTurnOpen = false;
  /** The stream asked to wait for `drain`. Only then are messages queued, and counted. */
  #isBlocked = false;
  #streamBytes = 0;
  /** Characters: to count the bytes of a long line takes as long as to make it. */
  #queuedChars = 0;
  /** Lines in the order they came, those of requests under their ids; then those whose senders wait. */
  readonly #queued = new Map<unknown, string>();
  readonly #waiting = new Map<unknown, WaitingSend>();
  #waitTimer: Timer | undefined;
  #stopped: McpError | undefined;

  constructor(stream: Writable, options: WriteQueueOptions) {
    this.#stream = stream;
    this.#options = options;
    stream.on("drain", () => this.#drained());
  }

  /**
   * Resolves once the message is in the queue; rejects when it will never be sent. `text` is its JSON,
   * where that is known.
   */
  send(message: object, text?: string): Promise<void> {
    if (this.#stopped !== undefined) return Promise.reject(this.#stopped);
    let json: string;
    try {
      // Also for a message that has to wait: it is sent as it is now.
      json = text ?? JSON.stringify(message);
    } catch (cause) {
      return Promise.reject(notJson(cause));
    }
    if (this.#isBlocked) return this.#hold(message, `${json}\n`);
    this.#append(`${json}\n`);
    return sent;
  }

  /** Hands everything queued to the stream, ready or not. */
  flush(): void {
    const batch = this.#batch + [...this.#queued.values()].join("");
    if (batch === "") return;
    this.#batch = "";
    this.#queued.clear();
    this.#queuedChars = 0;
    this.#write(batch);
  }

  /** Rejects waiting and later senders with `reason`, and drops the queued messages. */
  stop(reason: McpError): void {
    this.#stopped = reason;
    this.#batch = "";
    this.#queued.clear();
    this.#waitTimer?.cancel();
    for (const { reject } of this.#waiting.values()) reject(reason);
    this.#waiting.clear();
  }

  #append(line: string): void {
    if (this.#isTurnOpen) {
      this.#batch += line;
      if (this.#batch.length >= maxBatchChars) this.#flushBatch();
    } else {
      this.#isTurnOpen = true;
      queueMicrotask(this.#closeTurn);
      this.#write(line);
    }
  }

  readonly #closeTurn = (): void => {
    this.#isTurnOpen = false;
    this.#flushBatch();
  };

  #flushBatch(): void {
    if (this.#batch === "") return;
    const batch = this.#batch;
    this.#batch = "";
    this.#write(batch);
  }

  #write(text: string): void {
    if (this.#stream.write(text)) return;
    this.#isBlocked = true;
    this.#streamBytes += Buffer.byteLength(text);
  }

  #drained(): void {
    this.#isBlocked = false;
    this.#streamBytes = 0;
    this.flush();
    this.#admitWaiting();
  }

  /** Queues a message while the stream is blocked, or makes its sender wait. */
  #hold(message: object, line: string): Promise<void> {
    if (this.#remove(cancelledId(message))) return sent;
    const id = requestId(message);
    const isKnown = id === undefined || this.#queued.has(id) || this.#waiting.has(id);
    const key = isKnown ? {} : id;
    if (this.#isFull()) return this.#waitForRoom(key, line);
    this.#enqueue(key, line);
    return sent;
  }

  #enqueue(key: unknown, line: string): void {
    this.#queued.set(key, line);
    this.#queuedChars += line.length;
  }

  /** Removes a request that has not left; false when it is not, or no longer, here. */
  #remove(id: unknown): boolean {
    const waiting = this.#waiting.get(id);
    waiting?.resolve();
    if (waiting !== undefined) return this.#waiting.delete(id);
    const line = this.#queued.get(id);
    if (line === undefined) return false;
    this.#queued.delete(id);
    this.#queuedChars -= line.length;
    this.#admitWaiting();
    return true;
  }

  #admitWaiting(): void {
    for (const [key, { line, resolve }] of this.#waiting) {
      if (this.#isFull()) break;
      this.#waiting.delete(key);
      if (this.#isBlocked) this.#enqueue(key, line);
      else this.#append(line);
      resolve();
    }
    this.#watchWaiting();
  }

  #isFull(): boolean {
    return this.#isBlocked && this.#streamBytes + this.#queuedChars >= this.#options.maxQueuedBytes;
  }

  #waitForRoom(key: unknown, line: string): Promise<void> {
    const { clock, timeoutMs } = this.#options;
    const giveUpAt = timeoutMs > 0 ? clock.monotonic() + timeoutMs : Infinity;
    return new Promise((resolve, reject) => {
      this.#waiting.set(key, { line, giveUpAt, resolve, reject });
      if (this.#waiting.size === 1) this.#watchWaiting();
    });
  }

  /** One timer for the first in line is enough, since all senders wait equally long. */
  #watchWaiting(): void {
    const { clock } = this.#options;
    this.#waitTimer?.cancel();
    const [first] = this.#waiting.values();
    if (first === undefined || first.giveUpAt === Infinity) return;
    const leftMs = Math.max(0, first.giveUpAt - clock.monotonic());
    this.#waitTimer = clock.schedule(leftMs, () => {
      const now = clock.monotonic();
      for (const [key, { giveUpAt, reject }] of this.#waiting) {
        if (giveUpAt > now) break;
        this.#waiting.delete(key);
        reject(this.#notRead());
      }
      this.#watchWaiting();
    });
  }

  #notRead(): McpError {
    const { serverName, timeoutMs } = this.#options;
    return createError("timeout", "the server does not read its input; the message was not sent", {
      serverName,
      details: { timeoutMs },
    });
  }
}

function notJson(cause: unknown): McpError {
  return createError("invalid_arguments", "the message cannot be written as JSON", { cause });
}
