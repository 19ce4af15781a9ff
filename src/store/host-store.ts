import type { ConfigProblem } from "../config/config-problem.ts";
import { createError } from "../errors/families.ts";
import { McpError } from "../errors/mcp-error.ts";
import type { Clock, Timer } from "../ports/clock.ts";
import type { Logger } from "../ports/logger.ts";
import { TimeSlice } from "../ports/time-slice.ts";
import { redact } from "../text/redact.ts";
import { howToGetSqlite, lacksSqlite, noSqlite } from "./find-sqlite.ts";
import { storeError } from "./store-error.ts";
import { creationObstacle, storeExists } from "./store-location.ts";
import type { Store } from "./store.ts";

const keepDelayMs = 1_000;
/** Opening the store takes the event loop for as long as many calls take; most are over by then. */
const hurriedDelayMs = 50;
/** So long a failure to open is the answer to whoever asks next. */
const reopenAfterMs = 1_000;

export interface HostStoreOptions {
  /** Undefined: nothing is remembered beyond this host. */
  readonly location: string | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  /** What becomes of calls while the store cannot be opened, for the problem; "no call is written down" by default. */
  readonly callsMeanwhile?: string | undefined;
  /** Told once, until it could be opened again. */
  readonly onProblem?: ((problem: ConfigProblem) => void) | undefined;
}

/**
 * The host's memory beyond its own life. It is opened when there is something to read or to keep, so
 * that a host which needs none of it pays for none of it.
 */
export class HostStore {
  readonly #options: HostStoreOptions;
  #opening: Promise<Store> | undefined;
  #isOpen = false;
  #failure: McpError | undefined;
  #problem: ConfigProblem | undefined;
  /** From when on to try again what failed. */
  #reopenAt: number | undefined;
  #onChange: (() => void) | undefined;
  /** What `close` waits for. */
  readonly #atWork = new Set<Promise<unknown>>();
  readonly #waiting: (() => Promise<void>)[] = [];
  #keeping = Promise.resolve();
  #timer: Timer | undefined;
  #isHurried = false;
  #isClosed = false;

  constructor(options: HostStoreOptions) {
    this.#options = options;
    if (options.location === undefined || !lacksSqlite(options.location)) return;
    this.#options = { ...options, location: undefined };
    const message = `${noSqlite}: approvals, pins and settings are kept in memory only, and there is no audit trail; ${howToGetSqlite}`;
    this.#failure = createError("store_failed", message);
    this.#problem = { severity: "warning", code: "store_failed", message, layer: "store" };
    options.onProblem?.(this.#problem);
  }

  /** Whether there is a place to keep anything. */
  get isKept(): boolean {
    return this.#options.location !== undefined;
  }

  /** Whether there is, or may be, something to read. */
  get isFilled(): boolean {
    const { location } = this.#options;
    return this.#opening !== undefined || (location !== undefined && storeExists(location));
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Why it could not be opened when that was last tried, or why it never can. */
  get failure(): McpError | undefined {
    return this.#failure;
  }

  /** The same as a problem of the configuration. */
  get problem(): ConfigProblem | undefined {
    return this.#problem;
  }

  /** Finds out early whether a store that does not exist yet can be created; what exists is opened to be read. */
  checkPlace(): void {
    const { location } = this.#options;
    if (location === undefined || storeExists(location)) return;
    const obstacle = creationObstacle(location);
    if (obstacle !== undefined) this.#failed(obstacle, location);
  }

  /**
   * Undefined without a place to keep things. Throws `store_failed` when it cannot be opened; what was
   * in the way may be gone later, so it is tried again then. Throws `closed` after `close`: who is told
   * that something is kept must not have been told so by a host that keeps nothing any more.
   */
  async open(): Promise<Store | undefined> {
    const { location, clock } = this.#options;
    if (this.#isClosed) throw createError("closed", "the host has been closed");
    if (location === undefined) return undefined;
    const isAgain = this.#reopenAt !== undefined && clock.monotonic() >= this.#reopenAt;
    if (isAgain) {
      this.#opening = undefined;
      this.#reopenAt = undefined;
    }
    this.#opening ??= this.#openNow(location, isAgain);
    return await this.#opening;
  }

  /** Calls `listener` after other processes have changed something, from when the store is opened. */
  async watch(listener: () => void): Promise<void> {
    const store = await this.#opening?.catch(() => undefined);
    this.#onChange = listener;
    store?.onchange(listener);
  }

  /** Undefined, and nothing done, without a place to keep things. What has begun is finished by `close`. */
  async write<T>(task: (store: Store) => Promise<T>): Promise<T | undefined> {
    return await this.#work(task, undefined);
  }

  /** What `task` finds in a store that exists, and perhaps changes there; `otherwise` where there is none. */
  async read<T>(task: (store: Store) => Promise<T>, otherwise: T): Promise<T> {
    return this.isFilled ? await this.#work(task, otherwise) : otherwise;
  }

  /**
   * For what may be lost: a failure is logged, and nobody waits but `close`. It begins a moment later,
   * when the servers that are being started at once have had the processor for themselves.
   */
  keep(what: string, task: (store: Store) => Promise<unknown>): void {
    if (this.#isClosed) return;
    this.#waiting.push(() => this.#tryTo(what, task));
    this.#timer ??= this.#options.clock.schedule(keepDelayMs, () => void this.#keepAll());
  }

  /** Somebody relies on what waits by now: it begins behind what they are doing, and not later. */
  hurry(): void {
    if (this.#timer === undefined || this.#isHurried) return;
    this.#isHurried = true;
    this.#timer.cancel();
    this.#timer = this.#options.clock.schedule(hurriedDelayMs, () => void this.#keepAll());
  }

  async close(): Promise<void> {
    // What is kept may turn out to be more to keep.
    do await this.#keepAll();
    while (this.#waiting.length > 0);
    this.#isClosed = true;
    await Promise.allSettled(this.#atWork);
    const store = await this.#opening?.catch(() => undefined);
    await store?.close();
  }

  async #work<T, U>(task: (store: Store) => Promise<T>, otherwise: U): Promise<T | U> {
    const work = this.open().then<T | U>((store) =>
      store === undefined ? otherwise : task(store),
    );
    this.#atWork.add(work);
    try {
      return await work;
    } finally {
      this.#atWork.delete(work);
    }
  }

  async #openNow(location: string, isAgain: boolean): Promise<Store> {
    const { clock, logger } = this.#options;
    try {
      const { openStore } = await import("./open-store.ts");
      const store = await openStore({ location, clock, logger });
      if (this.#onChange !== undefined) store.onchange(this.#onChange);
      // All that is in it is news.
      if (isAgain) this.#onChange?.();
      this.#isOpen = true;
      this.#failure = undefined;
      this.#problem = undefined;
      return store;
    } catch (error) {
      this.#reopenAt = clock.monotonic() + reopenAfterMs;
      throw this.#failed(error, location);
    }
  }

  #failed(cause: unknown, location: string): McpError {
    const failure = McpError.is(cause) ? cause : storeError("other", redact(location), { cause });
    const isNews = this.#failure === undefined;
    this.#failure = failure;
    this.#problem = this.#problemOf(failure, storeExists(location));
    if (isNews) this.#options.onProblem?.(this.#problem);
    return failure;
  }

  /** A store that exists may define servers, which are missing now; of one that does not, nothing is. */
  #problemOf({ code, message, hint }: McpError, exists: boolean): ConfigProblem {
    const { callsMeanwhile = "no call is written down" } = this.#options;
    const meanwhile = `Nothing is kept meanwhile, and ${callsMeanwhile}`;
    return {
      severity: exists ? "error" : "warning",
      code,
      message: `${message}. ${meanwhile}${hint === undefined ? "" : `: ${hint}`}`,
      layer: "store",
    };
  }

  #keepAll(): Promise<void> {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#isHurried = false;
    const tasks = this.#waiting.splice(0);
    this.#keeping = this.#keeping.then(async () => {
      const begun: Promise<void>[] = [];
      const slice = new TimeSlice();
      for (const task of tasks) {
        // Each makes its statements at once, and a long list takes a while: not all of them in one turn.
        if (begun.length > 0) await slice.next();
        begun.push(task());
      }
      await Promise.all(begun);
    });
    return this.#keeping;
  }

  async #tryTo(what: string, task: (store: Store) => Promise<unknown>): Promise<void> {
    try {
      await this.write(task);
    } catch (error) {
      // That the store cannot be opened at all has been told.
      if (error !== this.#failure)
        this.#options.logger.warn(`${what} could not be stored`, { error: String(error) });
    }
  }
}
