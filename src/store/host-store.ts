import { createQueue } from "../async/queue.ts";
import { TimeSlice } from "../async/time-slice.ts";
import type { ConfigProblem } from "../config/keys/config-problem.ts";
import { createError } from "../errors/families.ts";
import { McpError } from "../errors/mcp-error.ts";
import type { Clock, Timer } from "../ports/clock.ts";
import type { Logger } from "../ports/logger.ts";
import { redact } from "../text/secrets/redact.ts";
import { howToGetSqlite, lacksSqlite, noSqlite } from "./sqlite/find-sqlite.ts";
import type { Store } from "./store.ts";
import { storeError } from "./tables/store-error.ts";
import {
  creationObstacle,
  parseStoreLocation,
  storeExists,
  type StoreLocation,
} from "./tables/store-location.ts";

const writeDelayMs = 1_000;
/** Opening the store blocks the event loop for as long as many calls take; most calls are over by then. */
const flushDelayMs = 50;
/** A failure to open the store answers every attempt made within this time. */
const reopenAfterMs = 1_000;

export interface HostStoreOptions {
  /** Undefined: nothing outlives this host. */
  readonly location: string | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Whether a file is written to without a thread; see `SqliteWriterOptions`. */
  readonly isInPlace?: boolean | undefined;
  /** How `problem` says what happens to calls while the store cannot be opened; "no call is written down" by default. */
  readonly callsMeanwhile?: string | undefined;
  /** Called when the store could not be opened; not again until it was opened in between. */
  readonly onProblem?: ((problem: ConfigProblem) => void) | undefined;
}

/**
 * The store of one host, opened when there is something to read or to write: a host that needs neither
 * pays nothing for it. Methods that name `Store` are internal: published types must not name the query builder
 * behind it, which is not installed with the package.
 */
export class HostStore {
  readonly #options: HostStoreOptions;
  #opening: Promise<Store> | undefined;
  #isOpen = false;
  #failure: McpError | undefined;
  #problem: ConfigProblem | undefined;
  /** When opening may be tried again after a failure. */
  #reopenAt: number | undefined;
  #onChange: (() => void) | undefined;
  /** Somebody wanted to read and was told that there is nothing, because the store did not exist. */
  #wasMissing = false;
  /** Reads and writes under way; `close` waits for them. */
  readonly #atWork = new Set<Promise<unknown>>();
  /** Writes of `writeLater` that have not begun. */
  readonly #delayed: (() => Promise<void>)[] = [];
  readonly #inTurn = createQueue();
  #timer: Timer | undefined;
  #isFlushingSoon = false;
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

  /** Whether anything can be kept beyond this host. */
  get isPersistent(): boolean {
    return this.#options.location !== undefined;
  }

  /** Whether the store has been opened or created before, so that there may be something to read. */
  get exists(): boolean {
    const { location } = this.#options;
    return this.#opening !== undefined || (location !== undefined && storeExists(location));
  }

  /** The kind of place that the store is kept in; undefined where nothing is kept. */
  get kind(): StoreLocation["kind"] | undefined {
    const { location } = this.#options;
    return location === undefined ? undefined : parseStoreLocation(location).kind;
  }

  /** The file that the store is kept in, existing or not; undefined for other places. */
  get file(): string | undefined {
    const { location } = this.#options;
    const parsed = location === undefined ? undefined : parseStoreLocation(location);
    return parsed?.kind === "file" ? parsed.file : undefined;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Why the last attempt to open the store failed, or why none can succeed. */
  get failure(): McpError | undefined {
    return this.#failure;
  }

  /** `failure`, worded as a problem of the configuration. */
  get problem(): ConfigProblem | undefined {
    return this.#problem;
  }

  /** Finds out early whether a store that does not exist yet can be created; one that exists is opened by its first reader. */
  checkPlace(): void {
    const { location } = this.#options;
    if (location === undefined || storeExists(location)) return;
    const obstacle = creationObstacle(location);
    if (obstacle !== undefined) this.#failed(obstacle, location);
  }

  /**
   * Opens the store, once for all callers; undefined where nothing is kept. Throws `store_failed` when it
   * cannot be opened; a later call tries again, because the obstacle may be gone by then. Throws `closed`
   * after `close`: a host that keeps nothing any more must not report a write as kept.
   *
   * @internal
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
    if (store === undefined) return;
    store.onchange(listener);
    if (this.#wasMissing) listener();
  }

  /**
   * Runs `task` on the store; undefined, without running it, where nothing is kept. `close` waits for its
   * end.
   *
   * @internal
   */
  async write<T>(task: (store: Store) => Promise<T>): Promise<T | undefined> {
    return await this.#work(task, undefined);
  }

  /**
   * Runs `task` on a store that exists already; gives `otherwise` where there is none.
   *
   * @internal
   */
  async read<T>(task: (store: Store) => Promise<T>, otherwise: T): Promise<T> {
    if (this.exists) return await this.#work(task, otherwise);
    this.#wasMissing = true;
    return otherwise;
  }

  /**
   * Writes something that may be lost: a failure is logged, and only `close` waits. The write begins a
   * moment later, so that servers being started now have the processor for themselves. `begin` takes what has
   * been collected until then and gives the task; it is called even when the store turns out not to open.
   *
   * @internal
   */
  writeLater(what: string, begin: () => (store: Store) => Promise<unknown>): void {
    if (this.#isClosed) return;
    this.#delayed.push(() => this.#tryTo(what, begin()));
    this.#timer ??= this.#options.clock.schedule(writeDelayMs, () => void this.#flush());
  }

  /** Shortens the delay of `writeLater`, because somebody relies on what is to be written. Costs next to nothing when nothing waits. */
  flushSoon(): void {
    if (this.#timer === undefined || this.#isFlushingSoon) return;
    this.#isFlushingSoon = true;
    this.#timer.cancel();
    this.#timer = this.#options.clock.schedule(flushDelayMs, () => void this.#flush());
  }

  async close(): Promise<void> {
    // A delayed write may ask for another one.
    do await this.#flush();
    while (this.#delayed.length > 0);
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
    const { clock, logger, isInPlace } = this.#options;
    try {
      const { openStore } = await import("./open-store.ts");
      const store = await openStore({ location, clock, logger, isInPlace });
      if (this.#onChange !== undefined) store.onchange(this.#onChange);
      // Whoever watches has not seen anything of this store yet, and another process may have created it.
      if (isAgain || this.#wasMissing) this.#onChange?.();
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

  /** An error where the store exists: it may define servers, and they are missing now. Otherwise a warning. */
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

  #flush(): Promise<void> {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#isFlushingSoon = false;
    const tasks = this.#delayed.splice(0);
    return this.#inTurn(async () => {
      const begun: Promise<void>[] = [];
      const slice = new TimeSlice();
      for (const task of tasks) {
        // A task with a long list takes a while to make its statements: not all tasks in one turn.
        if (begun.length > 0) await slice.next();
        begun.push(task());
      }
      await Promise.all(begun);
    });
  }

  async #tryTo(what: string, task: (store: Store) => Promise<unknown>): Promise<void> {
    try {
      await this.write(task);
    } catch (error) {
      // A store that cannot be opened has been reported by `onProblem`.
      if (error !== this.#failure)
        this.#options.logger.warn(`${what} could not be stored`, { error: String(error) });
    }
  }
}
