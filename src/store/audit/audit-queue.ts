import type { Clock, Timer } from "../../ports/clock.ts";
import type { Logger } from "../../ports/logger.ts";
import type { AuditEntry } from "./audit-entry.ts";
import { type AuditedCall, AuditPageDraft } from "./audit-page-draft.ts";
import type { AuditPage } from "./audit-page.ts";

export interface AuditQueueOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly save: (page: AuditPage) => Promise<void>;
  /** Whether a failure to save has been told by somebody else. */
  readonly isTold?: ((error: unknown) => boolean) | undefined;
}

interface Losses {
  readonly entries: number;
  /** Milliseconds since the epoch, both inclusive. */
  readonly from: number;
  readonly until: number;
}

/** What is older than this is being saved: so much is lost at most when the process is killed. */
const maxWaitMs = 250;
const retryAfterMs = 1_000;
/** What is kept in full pages while the store cannot be written: far fewer entries where they are long. */
const maxWaitingEntries = 50_000;
const maxWaitingBytes = 32 * 1024 * 1024;

/**
 * Takes entries at once and saves them behind the caller's back, in order, a page at a time. Adding
 * never waits and never fails; a crash loses what was added in the last quarter of a second. Where
 * entries had to be given up, the trail says so: how many, and of what time.
 */
export class AuditQueue {
  readonly #options: AuditQueueOptions;
  /** Pages that are full and wait to be saved, the oldest first. */
  readonly #pages: AuditPage[] = [];
  readonly #draft = new AuditPageDraft();
  /** Entries of those pages, and their bytes. */
  #waiting = 0;
  #waitingBytes = 0;
  #timer: Timer | undefined;
  #draining: Promise<void> | undefined;
  /** Why the last try failed. */
  #failure: { readonly reason: unknown } | undefined;
  #isClosed = false;
  #lost = 0;
  /** Of what was given up, what the trail does not say yet. */
  #untold: Losses | undefined;

  constructor(options: AuditQueueOptions) {
    this.#options = options;
  }

  /** Entries given up: the store could not be written for too long, or had been closed. */
  get lost(): number {
    return this.#lost;
  }

  /** Why nothing can be saved at the moment; undefined while all is well. */
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

  /** Resolves when everything added before is saved, or could not be and waits for the next try. */
  async flush(): Promise<void> {
    this.#turnPage();
    await this.#drain();
  }

  /** Saves what it can; gives the number of entries that are left. */
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
      // What is under way saves full pages as well, or says when to try again.
      if (this.#failure === undefined) void this.#drain();
    }
    if (this.#timer === undefined)
      this.#arm(this.#failure === undefined ? maxWaitMs : retryAfterMs);
  }

  /**
   * Begins a moment later, never at once: its end, which clears what is kept here, then comes after
   * this was kept however little there is to save. And it ends with its last look at the pages, so
   * that whoever finds it under way can rely on it.
   */
  #drain(): Promise<void> {
    this.#draining ??= Promise.resolve().then(() => this.#savePages());
    return this.#draining;
  }

  async #savePages(): Promise<void> {
    try {
      while (this.#pages.length > 0) {
        await this.#saveOldest();
        this.#tellLosses();
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
      this.#waitingBytes += page.content.length;
      throw error;
    }
  }

  #turnPage(): void {
    if (this.#draft.entries === 0) return;
    const page = this.#draft.take();
    this.#pages.push(page);
    this.#waiting += page.entries;
    this.#waitingBytes += page.content.length;
    while (this.#waiting > maxWaitingEntries || this.#waitingBytes > maxWaitingBytes)
      this.#dropOldest();
  }

  #takeOldest(): AuditPage | undefined {
    const page = this.#pages.shift();
    this.#waiting -= page?.entries ?? 0;
    this.#waitingBytes -= page?.content.length ?? 0;
    return page;
  }

  #dropOldest(): void {
    const dropped = this.#takeOldest();
    if (dropped === undefined) return;
    const { entries, first_at: from, last_at: until } = dropped;
    if (this.#untold === undefined)
      this.#options.logger.error("audit entries are being lost: the store cannot be written");
    this.#untold = {
      entries: (this.#untold?.entries ?? 0) + entries,
      from: Math.min(this.#untold?.from ?? from, from),
      until: Math.max(this.#untold?.until ?? until, until),
    };
    this.#lost += entries;
  }

  #tellLosses(): void {
    if (this.#untold === undefined) return;
    const { entries, from, until } = this.#untold;
    this.#untold = undefined;
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
