import type { Transport } from "@modelcontextprotocol/client";

const maxIdle = 256;

/**
 * What ends the stream of a single request. Making one costs a fifth of a whole HTTP call, so those of
 * answered requests serve again, where the transport is known to have let go of them.
 */
export class StreamAborts {
  readonly #mayReuse: boolean;
  readonly #idle: AbortController[] = [];

  constructor(transport: Transport) {
    const { releasesSignals } = transport as { readonly releasesSignals?: unknown };
    this.#mayReuse = releasesSignals === true;
  }

  take(): AbortController {
    return this.#idle.pop() ?? new AbortController();
  }

  /** Only when its request was answered: an aborted one is spent. */
  giveBack(abort: AbortController): void {
    if (this.#mayReuse && this.#idle.length < maxIdle) this.#idle.push(abort);
  }
}
