import type { Clock, Timer } from "../ports/clock.ts";
import type { Logger } from "../ports/logger.ts";
import { type AuditPage, AuditPageDraft } from "./audit-page.ts";

export interface AuditQueueOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly save: (page: AuditPage) => Promise<void>;
}

/** What is older than this is being saved: so much is lost at most when the process is killed. */
const maxWaitMs = 250;
const retryAfterMs = 1_000;
/** What is kept while the store cannot be written. */
const maxWaitingEntries = 50_000;

/**
 * Takes entries at once and saves them behind the caller's back, in order, a page at a time. Adding
 * never waits and never fails; a crash loses what was added in the last quarter of a second.
 */
export class AuditQueue {
  readonly #options: AuditQueueOptions;
  /** Pages that are full and wait to be saved, the oldest first. */
  #pages: AuditPageDraft[] = [];
  #draft: AuditPageDraft | undefined;
  #spareBuffer: Buffer | undefined;
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

  /** `members` and `text` as a page takes them. */
  add(at: number, members: string, text?: string): void {
    if (this.#isClosed) {
      this.#lost += 1;
      return;
    }
    this.#draft ??= this.#newPage(at);
    this.#draft.add(at, members, text);
    this.#waiting += 1;
    if (this.#draft.isFull) this.#turnPage();
    if (this.#waiting > maxWaitingEntries) this.#dropOldest();
    // What is under way saves full pages as well, or says when to try again.
    if (this.#pages.length > 0 && !this.#isFailing) void this.#drain();
    this.#arm(this.#isFailing ? retryAfterMs : maxWaitMs);
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

  #drain(): Promise<void> {
    this.#draining ??= this.#savePages();
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
      await this.#options.save(page.finish());
      this.#spareBuffer = page.buffer;
    } catch (error) {
      this.#pages.unshift(page);
      this.#waiting += page.entries;
      throw error;
    }
  }

  #newPage(at: number): AuditPageDraft {
    const buffer = this.#spareBuffer;
    this.#spareBuffer = undefined;
    return new AuditPageDraft(at, buffer);
  }

  #turnPage(): void {
    if (this.#draft !== undefined) this.#pages.push(this.#draft);
    this.#draft = undefined;
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
