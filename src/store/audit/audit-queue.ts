import type { Clock, Timer } from "../../ports/clock.ts";
import type { Logger } from "../../ports/logger.ts";
import type { AuditEntry } from "./audit-entry.ts";
import { type AuditedCall, AuditPageDraft } from "./audit-page-draft.ts";
import type { AuditPage } from "./audit-page.ts";

export interface AuditQueueOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly save: (page: AuditPage) => Promise<void>;
  /** Whether somebody else reports this failure to save, so that it is not logged here. */
  readonly isTold?: ((error: unknown) => boolean) | undefined;
}

/** Entries that were given up. */
interface Losses {
  readonly entries: number;
  /** Milliseconds since the epoch, both inclusive. */
  readonly from: number;
  readonly until: number;
}

/** How long an entry waits before it is saved, and so what is lost at most when the process is killed. */
const maxWaitMs = 250;
const retryAfterMs = 1_000;
/** Limits on full pages while the store cannot be written; with long entries the bytes are reached first. */
const maxWaitingEntries = 50_000;
const maxWaitingBytes = 32 * 1024 * 1024;

/**
 * Saves audit entries in order, a page at a time, after the caller has gone on. Adding never waits and
 * never fails; a crash loses what was added in the last quarter of a second. Where entries had to be given
 * up, an entry of the trail says how many, and of what time.
 */
export class AuditQueue {
  readonly #options: AuditQueueOptions;
  /** Pages that are full and wait to be saved, the oldest first. */
  readonly #pages: AuditPage[] = [];
  readonly #draft = new AuditPageDraft();
  /** The number of entries in `#pages`, and of their bytes. */
  #waiting = 0;
  #waitingBytes = 0;
  #timer: Timer | undefined;
  #draining: Promise<void> | undefined;
  /** The reason why the last attempt to save failed. */
  #failure: { readonly reason: unknown } | undefined;
  #isClosed = false;
  #lost = 0;
  /** Entries given up that no entry of the trail reports yet. */
  #unreported: Losses | undefined;

  constructor(options: AuditQueueOptions) {
    this.#options = options;
  }

  /** How many entries were given up: the store could not be written for too long, or had been closed. */
  get lost(): number {
    return this.#lost;
  }

  /** The reason why nothing can be saved at the moment; undefined while saving works. */
  get failure(): { readonly reason: unknown } | undefined {
    return this.#failure;
  }

  add(entry: AuditEntry): void {
    if (this.#isClosed) return this.#refuse();
    this.#draft.add(entry);
    this.#added();
  }

  addCall(call: AuditedCall): void {
    if (this.#isClosed) return this.#refuse();
    this.#draft.addCall(call);
    this.#added();
  }

  /** Tries to save everything added before; resolves also when that failed and waits for the next try. */
  async flush(): Promise<void> {
    this.#turnPage();
    await this.#drain();
  }

  /** Tries to save everything; returns the number of entries that could not be saved. */
  async close(): Promise<number> {
    this.#isClosed = true;
    await this.flush();
    this.#timer?.cancel();
    if (this.#waiting > 0)
      this.#options.logger.error("audit entries were not saved", { count: this.#waiting });
    return this.#waiting;
  }

  #refuse(): void {
    this.#lost += 1;
  }

  #added(): void {
    if (this.#draft.isFull) {
      this.#turnPage();
      // A drain that is under way takes this page too; after a failure the timer tries again.
      if (this.#failure === undefined) void this.#drain();
    }
    if (this.#timer === undefined)
      this.#arm(this.#failure === undefined ? maxWaitMs : retryAfterMs);
  }

  /**
   * Saves all full pages; callers share one run. The run starts in a microtask, so that even one with
   * nothing to save clears `#draining` after it was set here. It clears it right after its last look at
   * the pages, so a page turned while it is set is saved by this run.
   */
  #drain(): Promise<void> {
    this.#draining ??= Promise.resolve().then(() => this.#savePages());
    return this.#draining;
  }

  async #savePages(): Promise<void> {
    try {
      while (this.#pages.length > 0) {
        await this.#saveOldest();
        this.#reportLosses();
      }
      this.#failure = undefined;
    } catch (error) {
      if (this.#failure === undefined && this.#options.isTold?.(error) !== true)
        this.#options.logger.error("audit entries could not be saved yet", {
          error: String(error),
        });
      this.#failure = { reason: error };
      this.#arm(retryAfterMs);
    } finally {
      this.#draining = undefined;
    }
  }

  async #saveOldest(): Promise<void> {
    const page = this.#takeOldest();
    if (page === undefined) return;
    try {
      await this.#options.save(page);
    } catch (error) {
      this.#pages.unshift(page);
      this.#waiting += page.entries;
      this.#waitingBytes += bytesOf(page);
      throw error;
    }
  }

  #turnPage(): void {
    if (this.#draft.entries === 0) return;
    const page = this.#draft.take();
    this.#pages.push(page);
    this.#waiting += page.entries;
    this.#waitingBytes += bytesOf(page);
    while (this.#waiting > maxWaitingEntries || this.#waitingBytes > maxWaitingBytes)
      this.#dropOldest();
  }

  #takeOldest(): AuditPage | undefined {
    const page = this.#pages.shift();
    this.#waiting -= page?.entries ?? 0;
    this.#waitingBytes -= page === undefined ? 0 : bytesOf(page);
    return page;
  }

  #dropOldest(): void {
    const dropped = this.#takeOldest();
    if (dropped === undefined) return;
    const { entries, first_at: from, last_at: until } = dropped;
    if (this.#unreported === undefined)
      this.#options.logger.error("audit entries are being lost: the store cannot be written");
    this.#unreported = {
      entries: (this.#unreported?.entries ?? 0) + entries,
      from: Math.min(this.#unreported?.from ?? from, from),
      until: Math.max(this.#unreported?.until ?? until, until),
    };
    this.#lost += entries;
  }

  #reportLosses(): void {
    if (this.#unreported === undefined) return;
    const { entries, from, until } = this.#unreported;
    this.#unreported = undefined;
    const at = this.#options.clock.now();
    this.#draft.add({ type: "entries-lost", at, detail: { entries, from, until } });
    this.#turnPage();
  }

  #arm(delayMs: number): void {
    if (this.#isClosed) return;
    this.#timer ??= this.#options.clock.schedule(delayMs, () => {
      this.#timer = undefined;
      void this.flush();
    });
  }
}

function bytesOf({ heads, lines }: AuditPage): number {
  return heads.length + lines.length;
}
