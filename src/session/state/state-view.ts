import { callback, checkArguments, text } from "../../errors/check-arguments.ts";
import { createError } from "../../errors/families.ts";
import { checkPlainJson, frozenCopy } from "../../schema/validate/plain-json.ts";
import { type StateEntry, type StateUpdate, stateEntry } from "./state-entry.ts";

/** A typed place in a session's state, with what it holds before anything is put there. */
export interface StateSlice<T> {
  readonly key: string;
  readonly initial: T;
}

const maxKeyLength = 128;

export function defineSlice<T>(key: string, initial: T): StateSlice<T> {
  checkArguments("defineSlice", { key: text }, [key]);
  const flaw = checkPlainJson(initial);
  if (flaw !== undefined)
    throw createError(
      "invalid_arguments",
      `the initial value of "${key}" must be plain JSON: ${flaw.message}`,
    );
  return Object.freeze({ key: checkedKey(key), initial: frozenCopy(initial) });
}

/**
 * JSON values by key. What is put in is copied and frozen, so that nobody else can change it; nothing
 * is left out or masked: only put in what a snapshot may show.
 */
export interface StateView {
  get<T>(slice: StateSlice<T>): T;
  /** Undefined when there is none. */
  get(key: string): unknown;
  set<T>(slice: StateSlice<T>, value: T): void;
  set(key: string, value: unknown): void;
  /**
   * Puts what `change` makes of the present value. Inside a call or a transaction `change` runs again
   * when that ends, if the value was changed from outside meanwhile: it must depend on its argument only.
   */
  update<T>(slice: StateSlice<T>, change: (value: T) => T): T;
  update(key: string, change: (value: unknown) => unknown): unknown;
  delete(at: string | StateSlice<unknown>): void;
  keys(): readonly string[];
  /** All values as one frozen, plain object. */
  snapshot(): Readonly<Record<string, unknown>>;
}

type Place = string | StateSlice<unknown>;

/** The state that a draft lies upon: the session's own, or another draft. */
export interface StateBase {
  readonly maxBytes: number;
  entry(key: string): StateEntry | undefined;
  keys(): readonly string[];
}

/** Reading and writing as everybody does it, over the few operations in which states differ. */
export abstract class AnyState implements StateView, StateBase {
  abstract readonly maxBytes: number;
  abstract entry(key: string): StateEntry | undefined;
  abstract keys(): readonly string[];
  /** Puts the entry, or removes it. */
  protected abstract put(key: string, entry: StateEntry | undefined): void;
  protected abstract change(key: string, update: StateUpdate): StateEntry | undefined;

  get<T>(slice: StateSlice<T>): T;
  get(key: string): unknown;
  get(at: Place): unknown {
    const entry = this.entry(keyOf(at));
    return entry === undefined ? initialOf(at) : entry.value;
  }

  set<T>(slice: StateSlice<T>, value: T): void;
  set(key: string, value: unknown): void;
  set(at: Place, value: unknown): void {
    const key = keyOf(at);
    this.put(key, stateEntry(key, value, this.maxBytes));
  }

  update<T>(slice: StateSlice<T>, change: (value: T) => T): T;
  update(key: string, change: (value: unknown) => unknown): unknown;
  update(at: Place, change: (value: never) => unknown): unknown {
    const key = keyOf(at);
    checkArguments("state.update", { change: callback }, [change]);
    const compute = change as (value: unknown) => unknown;
    const entry = this.change(key, (current) =>
      stateEntry(
        key,
        compute(current === undefined ? initialOf(at) : current.value),
        this.maxBytes,
      ),
    );
    return entry === undefined ? initialOf(at) : entry.value;
  }

  delete(at: Place): void {
    this.put(keyOf(at), undefined);
  }

  snapshot(): Readonly<Record<string, unknown>> {
    return Object.freeze(
      Object.fromEntries(this.keys().map((key) => [key, this.entry(key)?.value])),
    );
  }
}

function keyOf(at: Place): string {
  return checkedKey(typeof at === "string" ? at : at?.key);
}

function initialOf(at: Place): unknown {
  return typeof at === "string" ? undefined : at.initial;
}

export function checkedKey(key: string): string {
  if (typeof key === "string" && key !== "" && key.length <= maxKeyLength) return key;
  throw createError("invalid_arguments", `a key of the state has 1 to ${maxKeyLength} characters`);
}
