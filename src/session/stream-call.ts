import { joinSignals } from "../async/stop.ts";
import type { CallOptions } from "../call/call-contract.ts";
import type { Outcome } from "../call/outcome.ts";
import type { Unsubscribe } from "../events/event-bus.ts";
import type { ServerLogEvent } from "../events/host-event.ts";
import type { Progress } from "../protocol/protocol-client.ts";

/** What happens during a call, in order; the outcome is always the last. */
export type CallStreamItem =
  | ({ readonly type: "progress" } & Progress)
  /** What the server of the tool logged meanwhile, about this call or not: the protocol does not tell. */
  | { readonly type: "log"; readonly level: string; readonly text: string }
  | { readonly type: "outcome"; readonly outcome: Outcome };

/** A reader this far behind loses the oldest of what is only information. */
const maxWaiting = 1_000;

export interface StreamedCall {
  readonly serverName: () => string | undefined;
  /** What the servers of this session log. */
  readonly onLog: (handler: (event: ServerLogEvent) => void) => Unsubscribe;
  readonly call: (options: CallOptions) => Promise<Outcome>;
  readonly options: CallOptions;
}

/** Runs a call, once somebody reads, and tells what happens to it. A reader that stops early cancels the call. */
export function streamCall(streamed: StreamedCall): AsyncGenerator<CallStreamItem, void> {
  return new CallStream(streamed);
}

type Step = IteratorResult<CallStreamItem, void>;

/** No generator function: in one of those, leaving waits until the next thing has happened. */
class CallStream implements AsyncGenerator<CallStreamItem, void> {
  readonly #streamed: StreamedCall;
  readonly #stop = new AbortController();
  readonly #items: CallStreamItem[] = [];
  readonly #readers: ((step: Step) => void)[] = [];
  #ending: Promise<unknown> | undefined;
  #unsubscribe: Unsubscribe | undefined;
  #isOver = false;

  constructor(streamed: StreamedCall) {
    this.#streamed = streamed;
  }

  next(): Promise<Step> {
    if (!this.#isOver) this.#ending ??= this.#begin();
    return new Promise((resolve) => {
      this.#readers.push(resolve);
      this.#deliver();
    });
  }

  async return(): Promise<Step> {
    this.#end();
    // The call is over when the loop is: what it did is known to all who listen.
    await this.#ending;
    return { done: true, value: undefined };
  }

  async throw(error: unknown): Promise<Step> {
    await this.return();
    throw error;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }

  async #begin(): Promise<void> {
    const { onLog, options, serverName, call } = this.#streamed;
    this.#unsubscribe = onLog(({ serverName: from, level, text }) => {
      if (from === serverName()) this.#put({ type: "log", level, text });
    });
    const outcome = await call({
      ...options,
      signal: joinSignals(this.#stop.signal, options.signal),
      onProgress: (progress) => {
        this.#put({ type: "progress", ...progress });
        options.onProgress?.(progress);
      },
    });
    this.#put({ type: "outcome", outcome });
  }

  #put(item: CallStreamItem): void {
    if (this.#isOver) return;
    if (this.#items.length >= maxWaiting) this.#items.shift();
    this.#items.push(item);
    this.#deliver();
  }

  /** Gives readers what there is, in their order; when all is over, the end. */
  #deliver(): void {
    while (this.#readers.length > 0) {
      const item = this.#items.shift();
      if (item === undefined && !this.#isOver) return;
      this.#readers.shift()?.(
        item === undefined ? { done: true, value: undefined } : { done: false, value: item },
      );
      if (item?.type === "outcome") this.#end();
    }
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#unsubscribe?.();
    this.#stop.abort();
    this.#items.length = 0;
    this.#deliver();
  }
}
