import type { Clock, Timer } from "../ports/clock.ts";
import type { Logger } from "../ports/logger.ts";
import type { AuditEntry } from "./audit-entry.ts";
import { maxEntriesPerPage } from "./audit-page.ts";

export interface AuditQueueOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Saves some of them, beginning with the first; gives their number. */
  readonly save: (entries: readonly AuditEntry[]) => Promise<number>;
}

/** What is older than this is being saved: so much is lost at most when the process is killed. */
const maxWaitMs = 250;
const retryAfterMs = 1_000;
/** What is kept while the store cannot be written. */
const maxQueued = 10_000;

/** Takes entries at once and saves them behind the caller's back, in order, a batch at a time. */
export class AuditQueue {
  readonly #options: AuditQueueOptions;
  #entries: AuditEntry[] = [];
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
    if (this.#isClosed) {
      this.#lost += 1;
      return;
    }
    this.#entries.push(entry);
    if (this.#entries.length > maxQueued) this.#dropOldest();
    // What is under way takes this one along, or says when to try again.
    if (this.#draining !== undefined) return;
    if (this.#isFailing) this.#arm(retryAfterMs);
    else if (this.#entries.length >= maxEntriesPerPage) void this.flush();
    else this.#arm(maxWaitMs);
  }

  /** Resolves when everything added before is saved, or could not be and waits for the next try. */
  flush(): Promise<void> {
    this.#draining ??= this.#drain();
    return this.#draining;
  }

  /** Saves what it can; gives the number of entries that are left. */
  async close(): Promise<number> {
    this.#isClosed = true;
    await this.flush();
    this.#timer?.cancel();
    return this.#entries.length;
  }

  async #drain(): Promise<void> {
    this.#timer?.cancel();
    this.#timer = undefined;
    try {
      while (this.#entries.length > 0) await this.#saveBatch();
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

  async #saveBatch(): Promise<void> {
    const batch = this.#entries.splice(0, maxEntriesPerPage);
    let saved = 0;
    try {
      saved = await this.#options.save(batch);
    } finally {
      if (saved < batch.length) this.#entries = [...batch.slice(saved), ...this.#entries];
    }
  }

  #dropOldest(): void {
    this.#entries.shift();
    this.#lost += 1;
    if (this.#lost === 1)
      this.#options.logger.error("audit entries are being lost: the store cannot be written");
  }

  #arm(delayMs: number): void {
    this.#timer ??= this.#options.clock.schedule(delayMs, () => {
      this.#timer = undefined;
      void this.flush();
    });
  }
}
