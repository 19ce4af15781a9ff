import { createError } from "../../errors/families.ts";
import { McpError } from "../../errors/mcp-error.ts";
import { reasonText } from "../../text/untrusted/bounded-text.ts";
import { applyTo, type PendingChange, type StateEntry, type StateUpdate } from "./state-entry.ts";
import { AnyState, type StateBase } from "./state-view.ts";

/** Takes the changes of a draft that ended well. */
export interface DraftBase extends StateBase {
  accept(changes: ReadonlyMap<string, PendingChange>): void;
}

interface DraftChange extends PendingChange {
  readonly updates: StateUpdate[];
}

/**
 * Changes that do not hold yet. A draft is no copy: it reads what lies under it as that is now, with
 * its own changes applied on top, and a commit applies them to what is there then. Drafts that live
 * at the same time therefore never undo each other's work, and dropping one is merely forgetting it.
 */
export class StateDraft extends AnyState implements DraftBase {
  readonly #base: DraftBase;
  readonly #changes = new Map<string, DraftChange>();
  #end: "committed" | "dropped" | undefined;

  constructor(base: DraftBase) {
    super();
    this.#base = base;
  }

  get maxBytes(): number {
    return this.#base.maxBytes;
  }

  /** How many other drafts it lies on. */
  get depth(): number {
    return this.#base instanceof StateDraft ? this.#base.depth + 1 : 0;
  }

  get hasChanges(): boolean {
    return this.#changes.size > 0;
  }

  entry(key: string): StateEntry | undefined {
    const below = this.#base.entry(key);
    const change = this.#changes.get(key);
    return change === undefined ? below : this.#apply(key, change, below).result;
  }

  keys(): readonly string[] {
    const changed = [...this.#changes.keys()];
    const below = this.#base.keys().filter((key) => !this.#changes.has(key));
    return [...below, ...changed.filter((key) => this.entry(key) !== undefined)];
  }

  /** The error that kept the changes from being made, if any. */
  commit(): McpError | undefined {
    if (this.#end !== undefined) return undefined;
    try {
      this.#base.accept(this.#changes);
      this.#end = "committed";
      this.#changes.clear();
      return undefined;
    } catch (error) {
      this.#end = "dropped";
      return McpError.is(error)
        ? error
        : createError("tool_error", `a change of the state failed: ${reasonText(error)}`, {
            cause: error,
          });
    }
  }

  drop(): void {
    this.#changes.clear();
    this.#end ??= "dropped";
  }

  /** Takes over the changes of a draft that lies on this one. */
  accept(changes: ReadonlyMap<string, PendingChange>): void {
    // The nested call that made these changes fails, so its caller learns that they are lost.
    if (this.#end !== undefined) throw isOver();
    // All of them first: one that fails must not leave the others behind.
    const applied = [...changes].map(([key, change]): [string, PendingChange] => [
      key,
      applyTo(change, this.entry(key)),
    ]);
    for (const [key, change] of applied) this.#add(key, change);
  }

  protected put(key: string, result: StateEntry | undefined): void {
    if (this.#isOpen()) this.#add(key, { updates: [], base: undefined, result });
  }

  protected change(key: string, update: StateUpdate): StateEntry | undefined {
    const base = this.entry(key);
    if (!this.#isOpen()) return base;
    const result = update(base);
    this.#add(key, { updates: [update], base, result });
    return result;
  }

  #add(key: string, { updates, result }: PendingChange): void {
    const base = this.#base.entry(key);
    const before = this.#changes.get(key)?.updates;
    const isReplacement = updates.length === 0 || before?.length === 0;
    const all = isReplacement ? [] : (before ?? []);
    if (!isReplacement) for (const update of updates) all.push(update);
    this.#changes.set(key, { updates: all, base, result });
  }

  #apply(key: string, change: DraftChange, below: StateEntry | undefined): PendingChange {
    const { base, result } = applyTo(change, below);
    if (base !== change.base) this.#changes.set(key, { updates: change.updates, base, result });
    return { updates: change.updates, base, result };
  }

  /** Writes after a drop go nowhere: whoever makes them was given up and may not know it yet. */
  #isOpen(): boolean {
    if (this.#end !== "committed") return this.#end === undefined;
    throw isOver();
  }
}

function isOver(): McpError {
  return createError("closed", "what this state belonged to is over");
}
