import type { Worker } from "node:worker_threads";

import { defaultLimits } from "../../config/keys/limits.ts";
import { startThread, type ThreadModule } from "../../ports/thread-module.ts";
import type { CheckResult } from "./run-check.ts";
import type { SchemaJob, SchemaWorkerMessage } from "./schema-worker.ts";
import type { Offload } from "./validator.ts";

export interface SchemaWorkerOptions {
  /** The deadline of one check, counted from the moment the worker gets it. */
  readonly timeoutMs?: number;
  /** The module that the worker runs; the package's own by default. */
  readonly entry?: URL;
}

type Answer = CheckResult | "unavailable";

interface Waiting extends Pick<SchemaJob, "schemaText" | "value"> {
  readonly resolve: (answer: Answer) => void;
}

/** A worker that is not ready by then is given up. */
const startTimeoutMs = 10_000;
const maxWaiting = 64;
const resourceLimits = {
  maxOldGenerationSizeMb: 128,
  maxYoungGenerationSizeMb: 32,
  stackSizeMb: 4,
};

/**
 * Runs checks against complex schemas in one thread, one after the other. The thread starts with the
 * first check, is killed and replaced when a check overruns its deadline, and keeps the process alive
 * only during a check.
 */
export class SchemaWorker implements Offload {
  readonly #timeoutMs: number;
  #module: ThreadModule | undefined;
  readonly #waiting: Waiting[] = [];
  #current: Waiting | undefined;
  #worker: Worker | undefined;
  #isReady = false;
  #isClosed = false;
  #timer: NodeJS.Timeout | undefined;
  #nextId = 0;

  constructor(options: SchemaWorkerOptions = {}) {
    this.#timeoutMs = options.timeoutMs ?? defaultLimits.schemaTimeoutMs;
    this.#module = options.entry === undefined ? undefined : { file: options.entry };
  }

  async validate(schemaText: string, value: unknown): Promise<Answer> {
    // The module is large and few hosts need it, so it is loaded with the first check.
    const module = this.#module ?? (await import("./schema-worker-module.ts")).schemaWorkerModule;
    this.#module = module;
    if (this.#isClosed || this.#waiting.length >= maxWaiting) return "unavailable";
    return await new Promise((resolve) => {
      this.#waiting.push({ schemaText, value, resolve });
      this.#begin(module);
    });
  }

  /** Stops the thread. Checks under way end as `unavailable`. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#stop("unavailable");
  }

  #begin(module: ThreadModule): void {
    if (this.#current !== undefined) return;
    const next = this.#waiting.shift();
    if (next === undefined) {
      this.#worker?.unref();
      return;
    }
    this.#current = next;
    this.#worker ??= this.#start(module);
    this.#worker.ref();
    if (this.#isReady) this.#send(this.#worker, next);
  }

  #start(module: ThreadModule): Worker {
    this.#isReady = false;
    const worker = startThread(module, { resourceLimits });
    worker.on("message", (message: SchemaWorkerMessage) => this.#receive(worker, message));
    // A failure before the worker is ready is the fault of its module, and would repeat itself.
    worker.on("error", () => this.#fail(worker, this.#isReady ? "too-costly" : "unavailable"));
    worker.on("exit", () => this.#fail(worker, this.#isReady ? "too-costly" : "unavailable"));
    this.#arm(startTimeoutMs, () => this.#fail(worker, "unavailable"));
    return worker;
  }

  #receive(worker: Worker, message: SchemaWorkerMessage): void {
    if (worker !== this.#worker) return;
    if (message.type === "ready") {
      this.#isReady = true;
      if (this.#current !== undefined) this.#send(worker, this.#current);
      return;
    }
    if (message.id === this.#nextId) this.#settle(message.result);
  }

  #send(worker: Worker, { schemaText, value }: Waiting): void {
    this.#nextId += 1;
    this.#arm(this.#timeoutMs, () => this.#fail(worker, "too-costly"));
    try {
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
      worker.postMessage({ id: this.#nextId, schemaText, value } satisfies SchemaJob);
    } catch {
      // A value that cannot be copied is no JSON.
      this.#settle("unavailable");
    }
  }

  #settle(answer: Answer): void {
    clearTimeout(this.#timer);
    const current = this.#current;
    this.#current = undefined;
    current?.resolve(answer);
    if (this.#module !== undefined) this.#begin(this.#module);
  }

  #fail(worker: Worker, answer: Answer): void {
    if (worker !== this.#worker) return;
    if (!this.#isReady) this.#isClosed = true;
    void this.#stop(answer);
  }

  /** Ends the thread and the check in it; the next check, if there is one, gets a new thread. */
  async #stop(answer: Answer): Promise<void> {
    const worker = this.#worker;
    this.#worker = undefined;
    this.#isReady = false;
    if (this.#isClosed) for (const { resolve } of this.#waiting.splice(0)) resolve("unavailable");
    this.#settle(answer);
    await worker?.terminate();
  }

  #arm(timeoutMs: number, then: () => void): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(then, timeoutMs);
  }
}
