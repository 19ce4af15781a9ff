import { setImmediate as nextTurn } from "node:timers/promises";

import { Stop } from "../../async/stop.ts";
import { untilAborted } from "../../async/until-aborted.ts";
import { createError } from "../../errors/families.ts";
import type { McpError } from "../../errors/mcp-error.ts";
import type { Clock } from "../../ports/clock.ts";
import { durationText } from "../../text/duration-text.ts";

export interface HandlerRun {
  readonly toolName: string;
  readonly signal: AbortSignal | undefined;
  /** `0` means no deadline. */
  readonly timeoutMs: number;
}

/** The handlers of native tools that run in a host. */
export class HandlerRuns {
  readonly #clock: Clock;
  readonly #running = new Set<Stop>();
  #isClosed = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Runs `handler` until it ends, its time is over, the caller gives up or the host closes. A
   * handler that does not heed its signal goes on, but nobody waits for it any more.
   */
  async run(handler: (signal: AbortSignal) => unknown, run: HandlerRun): Promise<unknown> {
    if (this.#isClosed) throw hostClosed();
    return await this.#race(handler, run);
  }

  /**
   * Runs a hook that undoes something. It begins even in a host that is closed; nobody waits longer than
   * one turn of the loop for it then.
   */
  async runLast(hook: () => unknown, run: HandlerRun): Promise<unknown> {
    if (!this.#isClosed) return await this.#race(hook, run);
    const tooLate = nextTurn().then(() => Promise.reject(hostClosed()));
    return await Promise.race([(async () => await hook())(), tooLate]);
  }

  async #race(
    handler: (signal: AbortSignal) => unknown,
    { toolName, signal, timeoutMs }: HandlerRun,
  ): Promise<unknown> {
    // A listener of `call-start` may have cancelled the call already.
    const stop = new Stop({
      signals: [signal],
      cancelled: () =>
        createError("cancelled", "cancelled by the caller", { details: { toolName } }),
      clock: this.#clock,
      afterMs: timeoutMs > 0 ? timeoutMs : undefined,
      tooLate: () => outOfTime(toolName, timeoutMs),
    });
    this.#running.add(stop);
    try {
      // Inside an async function, so that what is thrown at once is a rejection like any other.
      return await untilAborted((async () => await handler(stop.signal))(), stop.signal);
    } finally {
      this.#running.delete(stop);
      stop.clear();
    }
  }

  /** Gives up every handler; later ones do not begin. Idempotent. */
  close(): void {
    this.#isClosed = true;
    for (const stop of this.#running) stop.abort(hostClosed());
  }
}

function outOfTime(toolName: string, timeoutMs: number): McpError {
  return createError("timeout", `${toolName} did not finish within ${durationText(timeoutMs)}`, {
    details: { toolName, timeoutMs },
  });
}

function hostClosed(): McpError {
  return createError("closed", "the host has been closed");
}
