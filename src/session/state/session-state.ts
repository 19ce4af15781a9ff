import { createError } from "../../errors/families.ts";
import { isJsonObject } from "../../text/json-object.ts";
import {
  applyTo,
  type PendingChange,
  type StateEntry,
  stateEntry,
  stateTooLarge,
  type StateUpdate,
} from "./state-entry.ts";
import { AnyState, checkedKey, type StateView } from "./state-view.ts";

/** What a session remembers: for the program and its native tools, never sent to a server. */
export interface SessionState extends StateView {
  /** Makes `snapshot` the whole state. */
  restore(snapshot: Readonly<Record<string, unknown>>): void;
}

export interface SessionStateOptions {
  readonly maxBytes: number;
  readonly onChange: (keys: readonly string[]) => void;
}

/** The state itself. What is written here holds at once; calls and transactions write to drafts of it. */
export class CommittedState extends AnyState implements SessionState {
  readonly maxBytes: number;
  readonly #onChange: (keys: readonly string[]) => void;
  #entries = new Map<string, StateEntry>();
  #bytes = 0;

  constructor({ maxBytes, onChange }: SessionStateOptions) {
    super();
    this.maxBytes = maxBytes;
    this.#onChange = onChange;
  }

  entry(key: string): StateEntry | undefined {
    return this.#entries.get(key);
  }

  keys(): readonly string[] {
    return [...this.#entries.keys()];
  }

  restore(snapshot: Readonly<Record<string, unknown>>): void {
    if (!isJsonObject(snapshot))
      throw createError("invalid_arguments", "a snapshot of the state is a plain object");
    const entries = Object.entries(snapshot).map(([key, value]): [string, StateEntry] => [
      checkedKey(key),
      stateEntry(key, value, this.maxBytes),
    ]);
    const bytes = entries.reduce((sum, [, entry]) => sum + entry.bytes, 0);
    if (bytes > this.maxBytes) throw stateTooLarge(this.maxBytes);
    const keys = new Set([...this.#entries.keys(), ...entries.map(([key]) => key)]);
    this.#entries = new Map(entries);
    this.#bytes = bytes;
    this.#onChange([...keys]);
  }

  /** Applies what a draft holds to what is here now: all of it, or nothing and an error. */
  accept(changes: ReadonlyMap<string, PendingChange>): void {
    if (changes.size === 0) return;
    this.#store(
      [...changes].map(([key, change]) => [key, applyTo(change, this.#entries.get(key)).result]),
    );
  }

  protected put(key: string, entry: StateEntry | undefined): void {
    this.#store([[key, entry]]);
  }

  protected change(key: string, update: StateUpdate): StateEntry | undefined {
    const entry = update(this.#entries.get(key));
    this.#store([[key, entry]]);
    return entry;
  }

  #store(entries: readonly (readonly [string, StateEntry | undefined])[]): void {
    let bytes = this.#bytes;
    for (const [key, entry] of entries)
      bytes += (entry?.bytes ?? 0) - (this.#entries.get(key)?.bytes ?? 0);
    if (bytes > this.maxBytes) throw stateTooLarge(this.maxBytes);
    for (const [key, entry] of entries)
      if (entry === undefined) this.#entries.delete(key);
      else this.#entries.set(key, entry);
    this.#bytes = bytes;
    this.#onChange(entries.map(([key]) => key));
  }
}
