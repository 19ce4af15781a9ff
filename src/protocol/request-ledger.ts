import type { RequestId } from "./incoming-message.ts";

/** Responses nobody asked for that a lenient connection drops before it gives up on the server. */
const maxUnmatched = 100;
/** How many finished ids are remembered, so that a late or second answer is recognised as such. */
const maxRemembered = 1_000;

export type LedgerMatch<Entry> =
  | { readonly kind: "open"; readonly entry: Entry }
  /** Answers a request that was given up (`late`) or answered before (`duplicate`): drop it. */
  | { readonly kind: "late" | "duplicate" | "unmatched" }
  /** One unmatched response too many: the connection must close. */
  | { readonly kind: "violation" };

/**
 * Which requests wait for an answer. Ids match by type and value: `"7"` never answers `7`. Whoever
 * sends unmatched answers may be guessing ids, so past a bound they end the connection.
 */
export class RequestLedger<Entry> {
  readonly #strict: boolean;
  readonly #open = new Map<RequestId, Entry>();
  readonly #finished = new Map<RequestId, "late" | "duplicate">();
  #unmatched = 0;

  constructor(options: { readonly strict: boolean }) {
    this.#strict = options.strict;
  }

  get unmatched(): number {
    return this.#unmatched;
  }

  /** The entry that waits under this id, by type and value. */
  get(id: RequestId): Entry | undefined {
    return this.#open.get(id);
  }

  openIds(): RequestId[] {
    return [...this.#open.keys()];
  }

  open(id: RequestId, entry: Entry): void {
    this.#open.set(id, entry);
  }

  /** Nobody waits any longer; the answer may still come and is no offence. Returns what was open. */
  abandon(id: RequestId): Entry | undefined {
    const entry = this.#open.get(id);
    if (this.#open.delete(id)) this.#remember(id, "late");
    return entry;
  }

  /** Removes all open entries, when the connection ends. */
  drain(): Entry[] {
    const entries = [...this.#open.values()];
    this.#open.clear();
    return entries;
  }

  /** What a response with this id is; an open entry is handed out exactly once. */
  match(id: RequestId): LedgerMatch<Entry> {
    const entry = this.#open.get(id);
    if (entry !== undefined) {
      this.#open.delete(id);
      this.#remember(id, "duplicate");
      return { kind: "open", entry };
    }
    const finished = this.#finished.get(id);
    if (finished === "late" || (finished === "duplicate" && !this.#strict))
      return { kind: finished };
    this.#unmatched += 1;
    return { kind: this.#strict || this.#unmatched > maxUnmatched ? "violation" : "unmatched" };
  }

  #remember(id: RequestId, kind: "late" | "duplicate"): void {
    this.#finished.set(id, kind);
    if (this.#finished.size <= maxRemembered) return;
    const oldest = this.#finished.keys().next();
    if (oldest.done !== true) this.#finished.delete(oldest.value);
  }
}
