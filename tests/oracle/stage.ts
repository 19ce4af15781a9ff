import { EventEmitter, once } from "node:events";

import { resolveLimits } from "../../src/config/keys/limits.ts";
import type { Clock } from "../../src/ports/clock.ts";
import { silentLogger } from "../../src/ports/logger.ts";
import type { HostTransport } from "../../src/transport/host-transport.ts";
import { TappedTransport } from "./tapped-transport.ts";

/** Turns of the event loop after which every promise that waits for nothing outside has settled. */
const quietTurns = 4;

/** One connection between a client under test and a scripted server. */
export abstract class Stage implements AsyncDisposable {
  readonly transport: TappedTransport;
  readonly #changes = new EventEmitter();

  constructor(transport: HostTransport) {
    this.transport = new TappedTransport(transport);
    this.transport.onactivity = () => this.changed();
  }

  /** Resolves when each side has dealt with all that the other has sent. */
  async idle(): Promise<void> {
    for (;;) {
      while (this.transport.isBusy || !this.isIdle()) await once(this.#changes, "change");
      const { activity } = this.transport;
      for (let turn = 0; turn < quietTurns; turn += 1)
        await new Promise((resolve) => {
          setImmediate(resolve);
        });
      if (this.transport.activity === activity) return;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.transport.close();
  }

  /** While the transport is open: whether nothing is under way between the two sides. */
  protected abstract isIdle(): boolean;

  protected changed(): void {
    this.#changes.emit("change");
  }
}

const { setTimeout: startTimer, clearTimeout: stopTimer } = globalThis;

/** The machine's time, also while the clients under test live in a time of their own. */
const machineClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  schedule(delayMs, task) {
    const handle = startTimer(task, delayMs);
    handle.unref();
    return { cancel: () => stopTimer(handle) };
  },
};

/** What our transports need on every stage. */
export const transportParts = {
  serverName: "scripted",
  limits: resolveLimits(),
  clock: machineClock,
  logger: silentLogger,
} as const;
