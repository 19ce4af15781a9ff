import { joinSignals } from "../../async/stop.ts";
import type { Caller, CallOptions, ToolArguments } from "../../call/call-contract.ts";
import type { CallPath } from "../../call/call-path.ts";
import type { Outcome } from "../../call/outcome.ts";
import type { ToolReference } from "../../catalog/tool-origin.ts";
import type { Limits } from "../../config/keys/limits.ts";
import { createError } from "../../errors/families.ts";
import type { McpError } from "../../errors/mcp-error.ts";
import type { EventBus } from "../../events/event-bus.ts";
import type { Clock } from "../../ports/clock.ts";
import { reasonText } from "../../text/untrusted/bounded-text.ts";
import { type DraftBase, StateDraft } from "../state/state-draft.ts";
import type { StateView } from "../state/state-view.ts";
import type { HandlerRuns } from "./handler-runs.ts";
import { DraftCaller, refusingCaller } from "./nested-callers.ts";

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
  /** Once the transaction has ended the outcome is `closed`. */
  call(
    tool: ToolReference,
    args?: ToolArguments,
    options?: TransactionCallOptions,
  ): Promise<Outcome>;
  /** Runs if the transaction is rolled back: the latest hook first, each once. */
  onRollback(hook: () => unknown): void;
  /** Joins this one: there is one end for both. */
  transaction<T>(work: (transaction: Transaction) => T | Promise<T>): Promise<T>;
}

/** The end of a transaction whose work did not throw. */
export interface TransactionResult<T> {
  readonly committed: boolean;
  readonly value: T;
  /** Outcomes of the calls made in it, in order; each says whether it was rolled back and what may remain of it. */
  readonly outcomes: readonly Outcome[];
}

export interface TransactionParts {
  readonly caller: Caller;
  readonly calls: CallPath;
  readonly state: DraftBase;
  readonly events: EventBus;
  readonly clock: Clock;
  readonly handlers: HandlerRuns;
  readonly limits: Pick<Limits, "callTimeoutMs">;
}

/** Runs `work`. Commits when nothing failed in it; otherwise rolls back, and what `work` threw is thrown again. */
export async function runTransaction<T>(
  work: (transaction: Transaction) => T | Promise<T>,
  parts: TransactionParts,
): Promise<TransactionResult<T>> {
  const transaction = new OpenTransaction(parts);
  try {
    const value = await transaction.run(work);
    const outcomes = await transaction.end();
    return { committed: transaction.isCommitted, value, outcomes };
  } catch (error) {
    await transaction.fail();
    throw error;
  }
}

class OpenTransaction implements Transaction {
  readonly state: StateDraft;
  readonly #parts: TransactionParts;
  readonly #caller: DraftCaller;
  readonly #hooks: (() => unknown)[] = [];
  readonly #outcomes: (Outcome | undefined)[] = [];
  /** Calls, and the work of transactions that joined. */
  readonly #underWay = new Set<Promise<unknown>>();
  readonly #stop = new AbortController();
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
    tool: ToolReference,
    args: ToolArguments = {},
    { compensate, ...options }: TransactionCallOptions = {},
  ): Promise<Outcome> {
    const { calls, caller } = this.#parts;
    if (this.#isOver)
      return await calls.call(refusingCaller(caller, isOver()), tool, args, {
        callId: options.callId,
      });
    const place = this.#outcomes.push(undefined) - 1;
    const calling = calls.call(this.#caller, tool, args, {
      ...options,
      signal: joinSignals(this.#stop.signal, options.signal),
    });
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
    if (this.#isOver) throw isOver();
    this.#hooks.push(hook);
  }

  transaction<T>(work: (transaction: Transaction) => T | Promise<T>): Promise<T> {
    if (this.#isOver) return Promise.reject(isOver());
    const joined = this.run(work);
    this.#underWay.add(joined);
    const leave = (): boolean => this.#underWay.delete(joined);
    void joined.then(leave, leave);
    return joined;
  }

  async run<T>(work: (transaction: Transaction) => T | Promise<T>): Promise<T> {
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
    // Calls that the work did not await belong to the transaction, too.
    while (this.#underWay.size > 0) await Promise.allSettled(this.#underWay);
    if (!this.#hasFailed) {
      const error = this.state.commit();
      if (error !== undefined) throw error;
    }
    return await this.#close();
  }

  async fail(): Promise<void> {
    this.#hasFailed = true;
    // Nobody is there any more for whom they could be of use.
    this.#stop.abort();
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

  /** Runs one hook. A hook that fails or does not end is a warning: the other hooks run, and the first error stays. */
  async #run(hook: () => unknown): Promise<void> {
    const { events, clock, handlers, limits, caller } = this.#parts;
    const { sessionId } = caller;
    const timeoutMs = limits.callTimeoutMs;
    try {
      await handlers.runLast(hook, { toolName: "the hook", signal: undefined, timeoutMs });
    } catch (error) {
      const text = `a hook of a transaction that was rolled back failed: ${reasonText(error)}`;
      events.emit({ type: "warning", sessionId, text, at: clock.now() });
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

function isOver(): McpError {
  return createError("closed", "the transaction is over");
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
