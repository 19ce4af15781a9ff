import type { CallOptions, CallPath, Caller, ToolArguments } from "../call/call-path.ts";
import type { Outcome } from "../call/outcome.ts";
import { createError } from "../errors/families.ts";
import type { EventBus } from "../events/event-bus.ts";
import type { Clock } from "../ports/clock.ts";
import { neutralizeLine } from "../text/neutralize.ts";
import { redact } from "../text/redact.ts";
import { truncate } from "../text/truncate.ts";
import { DraftCaller } from "./draft-caller.ts";
import { type DraftBase, StateDraft } from "./state-draft.ts";
import type { StateView } from "./state-view.ts";

export interface TransactionCallOptions extends CallOptions {
  /** Makes up for the call in the world outside if the transaction is rolled back after it was sent. */
  readonly compensate?: ((outcome: Outcome) => unknown) | undefined;
}

/**
 * Several calls as one step: what they and the program write to the state holds when all of them
 * succeeded, or not at all. What servers did is not undone by that; `compensate` is for it.
 */
export interface Transaction {
  readonly state: StateView;
  call(name: string, args?: ToolArguments, options?: TransactionCallOptions): Promise<Outcome>;
  /** Runs if the transaction is rolled back: the latest hook first, each once. */
  onRollback(hook: () => unknown): void;
  /** Joins this one: there is one end for both. */
  transaction<T>(work: (transaction: Transaction) => T | Promise<T>): Promise<T>;
}

/** What became of a transaction whose work did not throw. */
export interface TransactionResult<T> {
  readonly committed: boolean;
  readonly value: T;
  /** Of the calls made in it, in order; each says whether it was rolled back and what may remain of it. */
  readonly outcomes: readonly Outcome[];
}

export interface TransactionParts {
  readonly caller: Caller;
  readonly calls: CallPath;
  readonly state: DraftBase;
  readonly events: EventBus;
  readonly clock: Clock;
}

/** Runs `work`. Commits when nothing failed in it; otherwise rolls back, and what `work` threw is thrown again. */
export async function runTransaction<T>(
  work: (transaction: Transaction) => T | Promise<T>,
  parts: TransactionParts,
): Promise<TransactionResult<T>> {
  const transaction = new OpenTransaction(parts);
  try {
    const value = await transaction.transaction(work);
    const outcomes = await transaction.end();
    return { committed: transaction.isCommitted, value, outcomes };
  } catch (error) {
    await transaction.fail();
    throw error;
  }
}

const maxReasonText = 500;

class OpenTransaction implements Transaction {
  readonly state: StateDraft;
  readonly #parts: TransactionParts;
  readonly #caller: DraftCaller;
  readonly #hooks: (() => unknown)[] = [];
  readonly #outcomes: (Outcome | undefined)[] = [];
  readonly #underWay = new Set<Promise<Outcome>>();
  #hasFailed = false;
  #isOver = false;

  constructor(parts: TransactionParts) {
    this.#parts = parts;
    this.state = new StateDraft(parts.state);
    this.#caller = new DraftCaller(parts.caller, this.state);
  }

  get isCommitted(): boolean {
    return this.#isOver && !this.#hasFailed;
  }

  async call(
    name: string,
    args: ToolArguments = {},
    { compensate, ...options }: TransactionCallOptions = {},
  ): Promise<Outcome> {
    if (this.#isOver) throw createError("closed", "the transaction is over");
    const place = this.#outcomes.push(undefined) - 1;
    const calling = this.#parts.calls.call(this.#caller, name, args, options);
    this.#underWay.add(calling);
    const outcome = await calling;
    this.#outcomes[place] = outcome;
    if (!outcome.ok) this.#hasFailed = true;
    // A call without an answer may have been carried out all the same.
    const mayHaveHappened = outcome.ok || outcome.sideEffects === "possible";
    if (compensate !== undefined && mayHaveHappened) this.#hooks.push(() => compensate(outcome));
    this.#underWay.delete(calling);
    return outcome;
  }

  onRollback(hook: () => unknown): void {
    if (this.#isOver) throw createError("closed", "the transaction is over");
    this.#hooks.push(hook);
  }

  async transaction<T>(work: (transaction: Transaction) => T | Promise<T>): Promise<T> {
    try {
      const value = await work(this);
      if (isFailedOutcome(value)) this.#hasFailed = true;
      return value;
    } catch (error) {
      this.#hasFailed = true;
      throw error;
    }
  }

  /** Commits, or rolls back what failed. Throws when the changes could not be made. */
  async end(): Promise<readonly Outcome[]> {
    // Calls that nobody waited for belong to it as well.
    while (this.#underWay.size > 0) await Promise.all(this.#underWay);
    if (!this.#hasFailed) {
      const error = this.state.commit();
      if (error !== undefined) throw error;
    }
    return await this.#close();
  }

  async fail(): Promise<void> {
    this.#hasFailed = true;
    await this.end();
  }

  async #close(): Promise<readonly Outcome[]> {
    if (this.#isOver) return [];
    this.#isOver = true;
    const isRolledBack = this.#hasFailed;
    if (isRolledBack) {
      this.state.drop();
      for (const hook of this.#hooks.toReversed()) await this.#run(hook);
    }
    const made = this.#outcomes.filter((outcome) => outcome !== undefined);
    this.#publishEnd(made);
    return isRolledBack ? made.map((outcome) => ({ ...outcome, rolledBack: true })) : made;
  }

  /** One that fails is reported; it hides neither the others nor why the transaction was rolled back. */
  async #run(hook: () => unknown): Promise<void> {
    const { events, clock } = this.#parts;
    try {
      await hook();
    } catch (error) {
      const reason = error instanceof Error ? error.message : "unknown reason";
      const shown = truncate(redact(neutralizeLine(reason)), maxReasonText);
      const text = `a hook of a transaction that was rolled back failed: ${shown}`;
      events.emit({ type: "warning", text, at: clock.now() });
    }
  }

  #publishEnd(outcomes: readonly Outcome[]): void {
    const { events, clock, caller } = this.#parts;
    const hasEffects = outcomes.some(({ sideEffects }) => sideEffects === "possible");
    events.emit({
      type: "transaction-end",
      sessionId: caller.sessionId,
      committed: !this.#hasFailed,
      callIds: outcomes.map(({ callId }) => callId),
      sideEffects: hasEffects ? "possible" : "none",
      at: clock.now(),
    });
  }
}

function isFailedOutcome(value: unknown): boolean {
  return (
    typeof value === "object" &&
    value !== null &&
    "ok" in value &&
    value.ok === false &&
    "callId" in value &&
    "error" in value
  );
}
