import { readFileSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";

import type { Figures } from "./row.ts";

const sampleMs = 5;
const prototypes: readonly object[] = [Object, Array, Function, String].map(
  ({ prototype }) => prototype as object,
);

/** Watches this process while a row runs: is it stuck, does it grow, does anything escape? */
export class VitalSigns {
  readonly #delay = monitorEventLoopDelay({ resolution: sampleMs });
  readonly #members = memberCount();
  readonly #startBytes: number;
  readonly #timer: NodeJS.Timeout;
  #peakBytes = 0;
  #workedMs: number;
  #longestWorkMs = 0;
  #crashes = 0;

  constructor() {
    // What earlier rows and the loading of code left behind is not this row's growth.
    globalThis.gc?.();
    this.#startBytes = process.memoryUsage.rss();
    this.#workedMs = threadTimeMs();
    this.#timer = setInterval(this.#sample, sampleMs);
    this.#delay.enable();
    process.on("uncaughtException", this.#crashed);
    process.on("unhandledRejection", this.#crashed);
  }

  stop(): Figures {
    this.#sample();
    clearInterval(this.#timer);
    this.#delay.disable();
    process.off("uncaughtException", this.#crashed);
    process.off("unhandledRejection", this.#crashed);
    const lagMs = Math.max(0, this.#delay.max / 1e6 - sampleMs);
    return {
      crashes: this.#crashes,
      "polluted prototypes": memberCount() - this.#members + Number("polluted" in {}),
      "lag ms": lagMs,
      "busy ms": this.#longestWorkMs,
      // Work of ours that held the loop shows in both: lag alone is other programs, too, and the work between two
      // samples may have been many turns of the loop.
      "stall ms": Math.min(this.#longestWorkMs, lagMs + sampleMs),
      "RSS growth MB": Math.max(0, this.#peakBytes - this.#startBytes) / 2 ** 20,
    };
  }

  readonly #sample = (): void => {
    this.#peakBytes = Math.max(this.#peakBytes, process.memoryUsage.rss());
    const workedMs = threadTimeMs();
    this.#longestWorkMs = Math.max(this.#longestWorkMs, workedMs - this.#workedMs);
    this.#workedMs = workedMs;
  };

  readonly #crashed = (error: unknown): void => {
    this.#crashes += 1;
    process.stderr.write(`escaped: ${error instanceof Error ? error.stack : String(error)}\n`);
  };
}

/**
 * Processor time of this thread. Between two samples it is the time for which the event loop was held
 * by work of ours, whatever else the machine was doing; where the system does not tell, it is lag.
 */
function threadTimeMs(): number {
  try {
    return Number(readFileSync("/proc/thread-self/schedstat", "utf8").split(" ")[0]) / 1e6;
  } catch {
    return performance.now();
  }
}

function memberCount(): number {
  return prototypes.flatMap((prototype) => Reflect.ownKeys(prototype)).length;
}
