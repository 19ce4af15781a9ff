import { vi } from "vitest";

import { ManualClock } from "../fixtures/protocol/manual-clock.ts";

/**
 * Time for both clients that stands still until it is moved: a clock for our core, and in place of
 * the global timers that the SDK uses. Real pipes and sockets work on meanwhile.
 */
export class VirtualTime implements Disposable {
  readonly clock = new ManualClock();

  constructor() {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"], now: 0 });
  }

  async advance(ms: number): Promise<void> {
    await this.clock.advance(ms);
    await vi.advanceTimersByTimeAsync(ms);
  }

  [Symbol.dispose](): void {
    vi.useRealTimers();
  }
}
