import type { McpError } from "../../errors/mcp-error.ts";
import type { Clock, Timer } from "../../ports/clock.ts";
import type { HttpExchange } from "./http-exchange.ts";

/** How long a stream may stay open after its answer, at least; at most twice as long. */
const lingerMs = 1_000;

/**
 * Exchanges whose answer has arrived. A server should end its stream then; one that does not would
 * keep a connection for ever, so after a moment it is taken back. One timer serves them all.
 */
export class LingeringExchanges {
  readonly #clock: Clock;
  readonly #reason: McpError;
  #fresh = new Set<HttpExchange>();
  #overdue = new Set<HttpExchange>();
  #timer: Timer | undefined;

  constructor(clock: Clock, reason: McpError) {
    this.#clock = clock;
    this.#reason = reason;
  }

  add(exchange: HttpExchange): void {
    this.#fresh.add(exchange);
    this.#timer ??= this.#clock.schedule(lingerMs, this.#sweep);
  }

  /** It has ended. */
  delete(exchange: HttpExchange): void {
    if (!this.#fresh.delete(exchange)) this.#overdue.delete(exchange);
  }

  abortAll(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    for (const exchange of [...this.#fresh, ...this.#overdue]) exchange.abort(this.#reason);
  }

  readonly #sweep = (): void => {
    for (const exchange of this.#overdue) exchange.abort(this.#reason);
    this.#overdue = this.#fresh;
    this.#fresh = new Set();
    this.#timer =
      this.#overdue.size === 0 ? undefined : this.#clock.schedule(lingerMs, this.#sweep);
  };
}
