import type { Writable } from "node:stream";

import { createError } from "../errors/families.ts";
import type { McpError } from "../errors/mcp-error.ts";
import type { Clock, Timer } from "../ports/clock.ts";

export interface WriteQueueOptions {
  readonly serverName: string;
  /** Serialized bytes the queue takes in before senders have to wait. */
  readonly maxQueuedBytes: number;
  /** How long a sender waits for room; `0` means as long as it takes. */
  readonly timeoutMs: number;
  readonly clock: Clock;
}

interface WaitingSend {
  readonly json: string;
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
 * the reader falls behind, messages queue up to a bound; beyond it senders wait, in order.
 */
export class WriteQueue {
  readonly #stream: Writable;
  readonly #options: WriteQueueOptions;
  /** Lines not yet handed to the stream. */
  #batch = "";
  #isTurnOpen = false;
  /** The stream asked to wait for `drain`. Only then are bytes counted: those it holds, and the batch. */
  #isBlocked = false;
  #streamBytes = 0;
  #batchBytes = 0;
  #waiting: WaitingSend[] = [];
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
      // At once, also for one that has to wait: it is sent as it is now.
      json = text ?? JSON.stringify(message);
    } catch (cause) {
      return Promise.reject(notJson(cause));
    }
    if (this.#isFull()) return this.#waitForRoom(json);
    this.#append(json);
    return sent;
  }

  /** Hands everything queued to the stream, ready or not. */
  flush(): void {
    if (this.#batch === "") return;
    const batch = this.#batch;
    this.#batch = "";
    this.#batchBytes = 0;
    this.#write(batch);
  }

  /** Rejects who waits and who comes later with `reason`, and drops what is queued. */
  stop(reason: McpError): void {
    this.#stopped = reason;
    this.#batch = "";
    this.#waitTimer?.cancel();
    for (const { reject } of this.#waiting.splice(0)) reject(reason);
  }

  #append(json: string): void {
    if (this.#isBlocked) {
      this.#batch += `${json}\n`;
      this.#batchBytes += Buffer.byteLength(json) + 1;
    } else if (this.#isTurnOpen) {
      this.#batch += `${json}\n`;
      if (this.#batch.length >= maxBatchChars) this.flush();
    } else {
      this.#isTurnOpen = true;
      // Not `queueMicrotask`, whose bookkeeping costs as much as the rest of a lone message.
      void sent.then(this.#closeTurn);
      this.#write(`${json}\n`);
    }
  }

  readonly #closeTurn = (): void => {
    this.#isTurnOpen = false;
    if (!this.#isBlocked) this.flush();
  };

  #write(text: string): void {
    if (this.#stream.write(text)) return;
    this.#isBlocked = true;
    this.#streamBytes += Buffer.byteLength(text);
  }

  #drained(): void {
    this.#isBlocked = false;
    this.#streamBytes = 0;
    this.flush();
    while (this.#waiting.length > 0 && !this.#isFull()) {
      const { json, resolve } = this.#waiting.shift()!;
      this.#append(json);
      resolve();
    }
    this.#watchWaiting();
  }

  #isFull(): boolean {
    return this.#isBlocked && this.#streamBytes + this.#batchBytes >= this.#options.maxQueuedBytes;
  }

  #waitForRoom(json: string): Promise<void> {
    const { clock, timeoutMs } = this.#options;
    const giveUpAt = timeoutMs > 0 ? clock.monotonic() + timeoutMs : Infinity;
    return new Promise((resolve, reject) => {
      this.#waiting.push({ json, giveUpAt, resolve, reject });
      if (this.#waiting.length === 1) this.#watchWaiting();
    });
  }

  /** All wait equally long, so one timer for the first in line is enough. */
  #watchWaiting(): void {
    const { clock } = this.#options;
    this.#waitTimer?.cancel();
    const first = this.#waiting[0];
    if (first === undefined || first.giveUpAt === Infinity) return;
    this.#waitTimer = clock.schedule(Math.max(0, first.giveUpAt - clock.monotonic()), () => {
      const now = clock.monotonic();
      const firstToStay = this.#waiting.findIndex(({ giveUpAt }) => giveUpAt > now);
      const expired = this.#waiting.splice(0, firstToStay === -1 ? Infinity : firstToStay);
      for (const { reject } of expired) reject(this.#notRead());
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
