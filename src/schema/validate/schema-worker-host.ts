import type { Worker } from "node:worker_threads";

import { defaultLimits } from "../../config/keys/limits.ts";
import { startThread, type ThreadModule } from "../../ports/thread-module.ts";
import type { CheckResult } from "./run-check.ts";
import type { SchemaJob, SchemaWorkerMessage } from "./schema-worker.ts";
import type { Offload } from "./validator.ts";

export interface SchemaWorkerOptions {
  /** For one check, from the moment the worker begins with it. */
  readonly timeoutMs?: number;
  /** The module the worker runs, unless it is the package's own. */
  readonly entry?: URL;
}

type Answer = CheckResult | "unavailable";

interface Waiting extends Pick<SchemaJob, "schemaText" | "value"> {
  readonly resolve: (answer: Answer) => void;
}

/** A worker that has not begun by then never will. */
const startTimeoutMs = 10_000;
const maxWaiting = 64;
const resourceLimits = {
  maxOldGenerationSizeMb: 128,
  maxYoungGenerationSizeMb: 32,
  stackSizeMb: 4,
};

/**
 * One thread that checks values against complex schemas, one after the other. It starts with the
 * first check, is killed and replaced when a check overruns its deadline, and never keeps the
 * process alive while it has nothing to do.
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
    // Loaded here, because it is large and few hosts need it.
    const module = this.#module ?? (await import("./schema-worker-module.ts")).schemaWorkerModule;
    this.#module = module;
    if (this.#isClosed || this.#waiting.length >= maxWaiting) return "unavailable";
    return await new Promise((resolve) => {
      this.#waiting.push({ schemaText, value, resolve });
      this.#begin(module);
    });
  }

  /** Checks under way end as `unavailable`. */
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
    // Before it is ready the module itself is at fault, and a second try would fail as well.
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
      // Values that cannot be copied are no JSON and have no business here.
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
