import { array, assert, constantFrom, nat, oneof, property, record } from "fast-check";
import { describe, expect, it } from "vitest";

import { CommittedState } from "./session-state.ts";
import { StateDraft } from "./state-draft.ts";
import { defineSlice } from "./state-view.ts";

function newState(maxBytes = 1_000): { state: CommittedState; changes: string[][] } {
  const changes: string[][] = [];
  const state = new CommittedState({ maxBytes, onChange: (keys) => changes.push([...keys]) });
  return { state, changes };
}

const counter = defineSlice("count", 0);
const increment = (value: number): number => value + 1;

describe("a session's state", () => {
  it("keeps a frozen copy, so that nobody changes it from outside", () => {
    const { state } = newState();
    const list = [1];
    state.set("list", list);
    list.push(2);
    expect(state.get("list")).toEqual([1]);
    expect(Object.isFrozen(state.get("list"))).toBe(true);
  });

  it("a slice has its initial value until something else is put there", () => {
    const { state } = newState();
    expect(state.get(counter)).toBe(0);
    expect(state.update(counter, increment)).toBe(1);
    state.delete(counter);
    expect(state.get(counter)).toBe(0);
    expect(state.get("count")).toBeUndefined();
    expect(state.keys()).toEqual([]);
  });

  it("SES-16: a snapshot is plain JSON of exactly what was put in, and brings the state back", () => {
    const { state } = newState();
    state.set("plan", { steps: ["a", "b"] });
    state.set("__proto__", { polluted: true });
    const snapshot = state.snapshot();
    const text = JSON.stringify(snapshot);
    expect(text).toBe('{"plan":{"steps":["a","b"]},"__proto__":{"polluted":true}}');
    const { state: other, changes } = newState();
    other.set("gone", 1);
    other.restore(JSON.parse(text) as Record<string, unknown>);
    expect(JSON.stringify(other.snapshot())).toBe(text);
    expect(changes.at(-1)).toEqual(["gone", "plan", "__proto__"]);
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });

  it.each([[undefined], [() => 1], [1n], [Number.NaN], [new Date(0)], [{ at: new Map() }]])(
    "SES-16: %s is no JSON and is refused",
    (value) => {
      const { state, changes } = newState();
      expect(() => state.set("x", value)).toThrow(
        expect.objectContaining({ code: "invalid_arguments" }),
      );
      expect(changes).toEqual([]);
    },
  );

  it.each([[""], ["k".repeat(129)]])("the key %j is refused", (key) => {
    const { state } = newState();
    expect(() => state.set(key, 1)).toThrow(expect.objectContaining({ code: "invalid_arguments" }));
    expect(() => state.restore({ [key]: 1 })).toThrow(
      expect.objectContaining({ code: "invalid_arguments" }),
    );
  });

  it("is bounded in bytes as a whole, and stays as it was when that is exceeded", () => {
    const { state } = newState(100);
    state.set("a", "x".repeat(60));
    const tooMuch = expect.objectContaining({ code: "too_large" });
    expect(() => state.set("b", "é".repeat(30))).toThrow(tooMuch);
    expect(() => state.restore({ a: "x".repeat(60), b: "y".repeat(60) })).toThrow(tooMuch);
    expect(() => state.set("c", "x".repeat(200))).toThrow(tooMuch);
    expect(state.keys()).toEqual(["a"]);
    state.set("a", "");
    state.set("b", "é".repeat(30));
    expect(state.keys()).toEqual(["a", "b"]);
  });

  it("tells which keys changed, once for each step", () => {
    const { state, changes } = newState();
    state.set("a", 1);
    const draft = new StateDraft(state);
    draft.set("b", 1);
    draft.set("c", 1);
    expect(changes).toEqual([["a"]]);
    draft.commit();
    expect(changes).toEqual([["a"], ["b", "c"]]);
  });
});

describe("a draft", () => {
  it("SES-06: its changes are seen in it at once and elsewhere after the commit", () => {
    const { state } = newState();
    state.set("kept", 1);
    const draft = new StateDraft(state);
    draft.set("new", 1);
    draft.delete("kept");
    expect(draft.snapshot()).toEqual({ new: 1 });
    expect(state.snapshot()).toEqual({ kept: 1 });
    expect(draft.commit()).toBeUndefined();
    expect(state.snapshot()).toEqual({ new: 1 });
  });

  it("SES-06: a drop leaves the state as if nothing had been written", () => {
    const { state, changes } = newState();
    const draft = new StateDraft(state);
    draft.set("a", 1);
    draft.update(counter, increment);
    draft.drop();
    expect(state.snapshot()).toEqual({});
    expect(changes).toEqual([]);
  });

  it("SES-14: two drafts that count the same thing both count", () => {
    const { state } = newState();
    const one = new StateDraft(state);
    const other = new StateDraft(state);
    one.update(counter, increment);
    other.update(counter, increment);
    expect([one.get(counter), other.get(counter)]).toEqual([1, 1]);
    one.commit();
    expect(other.get(counter)).toBe(2);
    other.commit();
    expect(state.get(counter)).toBe(2);
  });

  it("SES-14: a drop undoes nothing that another draft committed meanwhile", () => {
    const { state } = newState();
    const failing = new StateDraft(state);
    failing.update(counter, increment);
    state.update(counter, increment);
    failing.drop();
    expect(state.get(counter)).toBe(1);
  });

  it("an update runs once when nothing came between", () => {
    const { state } = newState();
    const draft = new StateDraft(state);
    let runs = 0;
    draft.update(counter, (value) => {
      runs += 1;
      return value + 1;
    });
    draft.get(counter);
    draft.commit();
    expect([runs, state.get(counter)]).toEqual([1, 1]);
  });

  it("commits all of its changes or none", () => {
    const { state } = newState(100);
    const draft = new StateDraft(state);
    draft.set("small", 1);
    draft.set("one", "x".repeat(60));
    state.set("other", "y".repeat(60));
    expect(draft.commit()).toMatchObject({ code: "too_large" });
    expect(draft.hasChanges).toBe(true);
    expect(state.keys()).toEqual(["other"]);
  });

  it("an update that fails when it runs again fails the commit", () => {
    const { state } = newState();
    const draft = new StateDraft(state);
    draft.update(counter, (value) => {
      if (value > 0) throw new Error("only from zero");
      return value + 1;
    });
    state.set(counter, 5);
    expect(draft.commit()).toMatchObject({
      code: "tool_error",
      message: "a change of the state failed: only from zero",
    });
    expect(state.get(counter)).toBe(5);
  });

  it("SES-06: writes after a drop go nowhere, and after a commit are misuse", () => {
    const { state } = newState();
    const dropped = new StateDraft(state);
    dropped.drop();
    dropped.set("late", 1);
    expect(dropped.update(counter, increment)).toBe(0);
    expect(dropped.commit()).toBeUndefined();
    expect(state.snapshot()).toEqual({});
    const committed = new StateDraft(state);
    committed.commit();
    expect(() => committed.set("late", 1)).toThrow(expect.objectContaining({ code: "closed" }));
  });

  it("SES-06: what lies on a draft that has ended is told that its changes are lost", () => {
    for (const end of ["commit", "drop"] as const) {
      const outer = new StateDraft(newState().state);
      const inner = new StateDraft(outer);
      inner.set("a", 1);
      outer[end]();
      expect(inner.commit()).toMatchObject({ code: "closed" });
    }
  });

  it("says how deep it lies", () => {
    const outer = new StateDraft(newState().state);
    expect([outer.depth, new StateDraft(new StateDraft(outer)).depth]).toEqual([0, 2]);
  });

  it("an initial value that is no JSON is refused by its name", () => {
    expect(() => defineSlice("when", new Date(0))).toThrow(
      /^the initial value of "when" must be plain JSON: /,
    );
  });

  it("a draft on a draft hands its changes over to it", () => {
    const { state } = newState();
    const outer = new StateDraft(state);
    outer.update(counter, increment);
    const inner = new StateDraft(outer);
    inner.update(counter, increment);
    inner.set("a", 1);
    expect(inner.commit()).toBeUndefined();
    expect(state.snapshot()).toEqual({});
    state.set(counter, 10);
    expect(outer.get(counter)).toBe(12);
    outer.commit();
    expect(state.snapshot()).toEqual({ count: 12, a: 1 });
  });
});

const keys = ["a", "b"] as const;

type Step =
  | { readonly op: "set"; readonly draft: number; readonly key: string; readonly value: number }
  | { readonly op: "add"; readonly draft: number; readonly key: string; readonly value: number }
  | { readonly op: "delete" | "commit" | "drop"; readonly draft: number; readonly key: string };

const step = oneof(
  record({
    op: constantFrom("set", "add"),
    draft: nat(2),
    key: constantFrom(...keys),
    value: nat(9),
  }),
  record({
    op: constantFrom("delete", "commit", "drop"),
    draft: nat(2),
    key: constantFrom(...keys),
  }),
);

/** The same by the simplest means: what a draft did, done again in order when it commits. */
function expectedState(steps: readonly Step[]): ReadonlyMap<string, number> {
  const state = new Map<string, number>();
  const logs = new Map<number, Step[]>();
  for (const taken of steps) {
    const log = logs.get(taken.draft) ?? [];
    logs.set(taken.draft, taken.op === "commit" || taken.op === "drop" ? [] : [...log, taken]);
    if (taken.op !== "commit") continue;
    for (const done of log)
      if (done.op === "set") state.set(done.key, done.value);
      else if (done.op === "add") state.set(done.key, (state.get(done.key) ?? 0) + done.value);
      else state.delete(done.key);
  }
  return state;
}

describe("drafts that live at the same time", () => {
  it("SES-14: in any interleaving the state is what the committed ones did, one after the other", () => {
    assert(
      property(array(step, { maxLength: 40 }), (steps) => {
        const { state } = newState(100_000);
        const drafts = [0, 1, 2].map(() => new StateDraft(state));
        for (const taken of steps as readonly Step[]) {
          const draft = drafts[taken.draft] as StateDraft;
          if (taken.op === "set") draft.set(taken.key, taken.value);
          else if (taken.op === "add")
            draft.update(defineSlice(taken.key, 0), (value) => value + taken.value);
          else if (taken.op === "delete") draft.delete(taken.key);
          else {
            if (taken.op === "commit") expect(draft.commit()).toBeUndefined();
            else draft.drop();
            drafts[taken.draft] = new StateDraft(state);
          }
        }
        expect(new Map(Object.entries(state.snapshot()))).toEqual(
          expectedState(steps as readonly Step[]),
        );
      }),
    );
  });
});
