import type { Subject } from "./subject.ts";

const intervalMs = 50;
const timeoutMs = 20_000;
const warmUpCalls = 10;

export interface Health {
  readonly calls: number;
  readonly errors: number;
  readonly p99Ms: number;
}

/** The healthy server `H`, called 20 times a second for as long as the others misbehave. */
export class HealthyLoad {
  readonly #subject: Subject;
  readonly #durationsMs: number[] = [];
  readonly #calls: Promise<void>[] = [];
  #timer: NodeJS.Timeout | undefined;
  #errors = 0;

  constructor(subject: Subject) {
    this.#subject = subject;
  }

  /** Resolves when the server is up and called regularly. */
  async start(): Promise<void> {
    for (let index = 0; index < warmUpCalls; index += 1) await this.#echo();
    this.#durationsMs.length = 0;
    this.#timer = setInterval(() => void this.#calls.push(this.#echo()), intervalMs);
  }

  /** Resolves when at least that many calls have been made. */
  async atLeast(calls: number): Promise<void> {
    while (this.#calls.length < calls)
      await new Promise((resolve) => setTimeout(resolve, intervalMs));
  }

  async stop(): Promise<Health> {
    clearInterval(this.#timer);
    await Promise.all(this.#calls);
    return {
      calls: this.#calls.length,
      errors: this.#errors,
      p99Ms: percentile(this.#durationsMs, 0.99),
    };
  }

  async #echo(): Promise<void> {
    const message = `H ${this.#calls.length}`;
    const { ok, text, tookMs } = await this.#subject.call({
      server: "H",
      tool: "echo",
      args: { message },
      timeoutMs,
    });
    if (!ok || text !== message) this.#errors += 1;
    this.#durationsMs.push(tookMs);
  }
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
}
