import type { Clock } from "../ports/clock.ts";
import { holdProcess, releaseProcess } from "../ports/keep-alive.ts";

/** How many calls of a host are under way; while there are any, the process stays alive. */
export class CallsUnderWay {
  readonly #clock: Clock;
  #count = 0;
  #whenIdle: (() => void) | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  begin(): void {
    if (this.#count === 0) holdProcess();
    this.#count += 1;
  }

  end(): void {
    this.#count -= 1;
    if (this.#count > 0) return;
    releaseProcess();
    this.#whenIdle?.();
  }

  /** Resolves when no call is under way, or when that takes too long. */
  async idle(timeoutMs: number): Promise<void> {
    if (this.#count === 0) return;
    await new Promise<void>((resolve) => {
      const timer = this.#clock.schedule(timeoutMs, resolve);
      this.#whenIdle = () => {
        timer.cancel();
        resolve();
      };
    });
  }
}
