import { describe, expect, it } from "vitest";

import { RevocableList } from "./revocable-list.ts";

/** A list whose store answers when the test says so. */
function createList() {
  const stored = new Set<string>();
  const held = new Set<string>();
  const list = new RevocableList<string>((item) => item);
  const failing = { isOn: false };
  const gates: (() => void)[] = [];
  const answered = () => new Promise<void>((resolve) => gates.push(resolve));
  const read = () =>
    list.read(
      async () => {
        const found = [...stored];
        await answered();
        return found;
      },
      (items) => {
        held.clear();
        for (const item of items) held.add(item);
      },
    );
  const add = (item: string) =>
    list.add(
      [item],
      async () => {
        await answered();
        stored.add(item);
      },
      (items) => {
        for (const one of items) held.add(one);
      },
    );
  const revoke = (item: string) => {
    held.delete(item);
    return list.revoke(
      item,
      (other) => other === item,
      async () => {
        await answered();
        if (failing.isOn) throw new Error("full");
        stored.delete(item);
      },
    );
  };
  /** Lets everything under way end, one answer of the store after the other. */
  const finish = async (...work: readonly Promise<unknown>[]): Promise<void> => {
    const state = { isOver: false };
    const all = Promise.allSettled(work).then(() => {
      state.isOver = true;
    });
    while (!state.isOver) {
      await new Promise((resolve) => setImmediate(resolve));
      gates.shift()?.();
    }
    await all;
  };
  return { stored, held, failing, read, add, revoke, finish };
}

describe("RevocableList", () => {
  it("a list that was read before does not bring back what is taken back meanwhile", async () => {
    const { stored, held, read, add, revoke, finish } = createList();
    await finish(add("a"), add("b"));
    const reading = read();
    await new Promise((resolve) => setImmediate(resolve));
    const revoking = revoke("a");
    const snapshots: string[][] = [];
    void reading.then(() => snapshots.push([...held]));
    await finish(reading, revoking, read());
    expect(snapshots).toEqual([["b"]]);
    expect([[...held], [...stored]]).toEqual([["b"], ["b"]]);
  });

  it("nor does a list that is read while the store is being told", async () => {
    const { held, read, add, revoke, finish } = createList();
    await finish(add("a"));
    const revoking = revoke("a");
    await new Promise((resolve) => setImmediate(resolve));
    await finish(revoking, read());
    expect([...held]).toEqual([]);
  });

  it("a list that was read before does not lose what is added meanwhile", async () => {
    const { held, read, add, finish } = createList();
    await finish(read(), add("a"));
    expect([...held]).toEqual(["a"]);
  });

  it("what is on its way into the store is taken back with the rest", async () => {
    const { stored, held, add, revoke, finish } = createList();
    const adding = add("a");
    await new Promise((resolve) => setImmediate(resolve));
    const seen: string[][] = [];
    const revoking = revoke("a");
    void adding.then(() => seen.push([...held]));
    await finish(adding, revoking);
    expect(seen).toEqual([[]]);
    expect([...held, ...stored]).toEqual([]);
    await finish(add("a"));
    expect([...held]).toEqual(["a"]);
  });

  it("what the store could not be told of stays taken back, until it is added again", async () => {
    const { stored, held, failing, read, add, revoke, finish } = createList();
    await finish(add("a"), add("b"));
    failing.isOn = true;
    const revoking = revoke("a");
    await finish(revoking);
    await expect(revoking).rejects.toThrow("full");
    await finish(read());
    expect([[...held], [...stored]]).toEqual([["b"], ["a", "b"]]);
    await finish(add("a"));
    await finish(read());
    expect([...held]).toEqual(["a", "b"]);
  });

  it("or until it was taken back once more, with success, and somebody else added it", async () => {
    const { stored, held, failing, read, add, revoke, finish } = createList();
    await finish(add("a"));
    failing.isOn = true;
    await finish(revoke("a"));
    failing.isOn = false;
    await finish(revoke("a"));
    stored.add("a");
    await finish(read());
    expect([...held]).toEqual(["a"]);
  });
});
