import { createError } from "../../errors/families.ts";
import { checkPlainJson, parseFrozen } from "../../schema/validate/plain-json.ts";

/** One value of a session's state. Frozen and never changed: another value is another entry. */
export interface StateEntry {
  readonly value: unknown;
  /** Size of its key and its JSON text. */
  readonly bytes: number;
}

/** Makes the next entry of a key from the present one; undefined stands for none. Called again when it changed meanwhile. */
export type StateUpdate = (current: StateEntry | undefined) => StateEntry | undefined;

/** What a draft will do to one key. */
export interface PendingChange {
  /** Empty: whatever is there is replaced by `result`. */
  readonly updates: readonly StateUpdate[];
  /** The entry that `result` was computed from; not used without updates. */
  readonly base: StateEntry | undefined;
  readonly result: StateEntry | undefined;
}

/** The change with its result for what is there now. Entries never change, so the same one means the same result. */
export function applyTo(change: PendingChange, current: StateEntry | undefined): PendingChange {
  if (change.updates.length === 0 || change.base === current) return change;
  let result = current;
  for (const update of change.updates) result = update(result);
  return { updates: change.updates, base: current, result };
}

/** A frozen copy of `value`, or an error: `invalid_arguments` for what is no JSON, `too_large` for too much of it. */
export function stateEntry(key: string, value: unknown, maxBytes: number): StateEntry {
  const flaw = checkPlainJson(value);
  if (flaw !== undefined)
    throw createError(
      "invalid_arguments",
      `the state "${key}" must be plain JSON: ${flaw.message}`,
      {
        details: { key, problems: flaw.problems },
      },
    );
  const text = JSON.stringify(value);
  const bytes = Buffer.byteLength(key) + Buffer.byteLength(text);
  if (bytes > maxBytes) throw stateTooLarge(maxBytes);
  return { value: parseFrozen(text), bytes };
}

export function stateTooLarge(maxBytes: number) {
  return createError("too_large", `a session keeps at most ${maxBytes} bytes of state`, {
    details: { maxBytes },
    hint: "keep large values elsewhere, and in the state where they are",
  });
}
