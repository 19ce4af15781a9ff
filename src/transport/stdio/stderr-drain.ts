import type { Readable } from "node:stream";

import type { Clock, Timer } from "../../ports/clock.ts";
import type { Logger } from "../../ports/logger.ts";
import { findCause, type OutputCause } from "../reading/output-cause.ts";
import { sanitizeLine } from "../reading/sanitize-line.ts";
import { StderrRing } from "./stderr-ring.ts";

export interface StderrDrainOptions {
  readonly serverName: string;
  readonly maxBytes: number;
  readonly secrets: readonly string[];
  readonly clock: Clock;
  readonly logger: Logger;
}

const tailLines = 20;
/** A stack, a summary of npm or a usage text may follow the line that says what went wrong. */
const searchedLines = 200;
const maxLineChars = 500;
/** Lines go to the log in batches: a flood costs a few lines a second, however much is written. */
const logIntervalMs = 250;

/**
 * Reads a server's stderr to the end, so that the server never waits for us, and keeps the last of
 * it. What is written there is a message to people and never a failure by itself.
 */
export class StderrDrain {
  readonly #options: StderrDrainOptions;
  readonly #ring: StderrRing;
  #logTimer: Timer | undefined;

  constructor(stream: Readable, options: StderrDrainOptions) {
    this.#options = options;
    this.#ring = new StderrRing(options.maxBytes);
    stream.on("data", (chunk: Buffer) => {
      this.#ring.push(chunk);
      this.#logTimer ??= options.clock.schedule(logIntervalMs, () => this.flush());
    });
    // The end of the process says all there is to say.
    stream.on("error", () => {});
  }

  tail(): string[] {
    return this.#ring.tail(tailLines).map((line) => this.#sanitize(line));
  }

  /** Why the process failed, as far as it said so here. */
  cause(): OutputCause | undefined {
    return findCause(this.#ring.tail(searchedLines).map((line) => this.#sanitize(line)));
  }

  /** Logs what has not been logged yet. */
  flush(): void {
    this.#logTimer?.cancel();
    this.#logTimer = undefined;
    const { serverName, logger } = this.#options;
    for (const line of this.#ring.takeLines(tailLines))
      logger.debug(this.#sanitize(line), { serverName, stream: "stderr" });
  }

  #sanitize(line: string): string {
    return sanitizeLine(line, maxLineChars, this.#options.secrets);
  }
}
