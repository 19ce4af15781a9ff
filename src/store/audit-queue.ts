import type { Clock, Timer } from "../ports/clock.ts";
import type { Logger } from "../ports/logger.ts";
import type { AuditEntry } from "./audit-entry.ts";
import { type AuditedCall, AuditPageDraft } from "./audit-page-draft.ts";
import type { AuditPage } from "./audit-page.ts";

export interface AuditQueueOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly save: (page: AuditPage) => Promise<void>;
}

/** What is older than this is being saved: so much is lost at most when the process is killed. */
const maxWaitMs = 250;
const retryAfterMs = 1_000;
/** What is kept in full pages while the store cannot be written. */
const maxWaitingEntries = 50_000;

/**
 * Takes entries at once and saves them behind the caller's back, in order, a page at a time. Adding
 * never waits and never fails; a crash loses what was added in the last quarter of a second.
 */
export class AuditQueue {
  readonly #options: AuditQueueOptions;
  /** Pages that are full and wait to be saved, the oldest first. */
  readonly #pages: AuditPage[] = [];
  readonly #draft = new AuditPageDraft();
  /** Entries of those pages. */
  #waiting = 0;
  #timer: Timer | undefined;
  #draining: Promise<void> | undefined;
  #isFailing = false;
  #isClosed = false;
  #lost = 0;

  constructor(options: AuditQueueOptions) {
    this.#options = options;
  }

  /** Entries given up: the store could not be written for too long, or had been closed. */
  get lost(): number {
    return this.#lost;
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
      if (!this.#isFailing) void this.#drain();
    }
    if (this.#timer === undefined) this.#arm(this.#isFailing ? retryAfterMs : maxWaitMs);
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
      while (this.#pages.length > 0) await this.#saveOldest();
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing)
        this.#options.logger.error("audit entries could not be saved yet", {
          error: String(error),
        });
      this.#isFailing = true;
      this.#arm(retryAfterMs);
    } finally {
      this.#draining = undefined;
    }
  }

  async #saveOldest(): Promise<void> {
    const page = this.#pages.shift();
    if (page === undefined) return;
    this.#waiting -= page.entries;
    try {
      await this.#options.save(page);
    } catch (error) {
      this.#pages.unshift(page);
      this.#waiting += page.entries;
      throw error;
    }
  }

  #turnPage(): void {
    if (this.#draft.entries === 0) return;
    const page = this.#draft.take();
    this.#pages.push(page);
    this.#waiting += page.entries;
    while (this.#waiting > maxWaitingEntries) this.#dropOldest();
  }

  #dropOldest(): void {
    const dropped = this.#pages.shift()?.entries ?? 0;
    this.#waiting -= dropped;
    if (this.#lost === 0 && dropped > 0)
      this.#options.logger.error("audit entries are being lost: the store cannot be written");
    this.#lost += dropped;
  }

  #arm(delayMs: number): void {
    this.#timer ??= this.#options.clock.schedule(delayMs, () => {
      this.#timer = undefined;
      void this.flush();
    });
  }
}
