import { describe, expect, it } from "vitest";

import { ManualClock } from "../../tests/fixtures/protocol/manual-clock.ts";
import { silentLogger } from "../ports/logger.ts";
import { maxEntriesPerPage, toAuditRows } from "./audit-page.ts";
import { AuditQueue } from "./audit-queue.ts";

/** A queue whose store can be broken and mended, with everything that was saved or complained about. */
function createQueue() {
  const clock = new ManualClock();
  const batches: number[][] = [];
  const complaints: string[] = [];
  const state = { isBroken: false };
  const queue = new AuditQueue({
    clock,
    logger: { ...silentLogger, error: (text) => void complaints.push(text) },
    save: async (page) => {
      if (state.isBroken) throw new Error("full");
      batches.push(toAuditRows({ seq: 1, ...page }).map(({ at }) => at));
    },
  });
  let next = 0;
  const add = (count: number): void => {
    for (let index = 0; index < count; index += 1) {
      queue.add({ at: next, type: "x" });
      next += 1;
    }
  };
  return { clock, batches, complaints, state, queue, add };
}

const page = maxEntriesPerPage;
const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

describe("AuditQueue", () => {
  it("saves a full batch at once and a part of one after a moment", async () => {
    const { clock, batches, add } = createQueue();
    add(3);
    expect(batches).toEqual([]);
    await clock.advance(250);
    expect(batches).toEqual([[0, 1, 2]]);
    add(2 * page + 50);
    await clock.advance(0);
    expect(batches.map((batch) => batch.length)).toEqual([3, page, page]);
    await clock.advance(250);
    expect(batches.flat()).toEqual(upTo(2 * page + 53));
    expect(clock.pending).toBe(0);
  });

  it("flush saves what was added before it, also while a batch is under way", async () => {
    const { batches, queue, add } = createQueue();
    add(page + 1);
    const flushed = queue.flush();
    add(1);
    await flushed;
    expect(batches.flat()).toEqual(upTo(page + 1));
    await queue.flush();
    expect(batches.flat()).toEqual(upTo(page + 2));
  });

  it("B18: saves what comes after a flush that found nothing", async () => {
    const { clock, batches, queue, add } = createQueue();
    await queue.flush();
    await Promise.all([queue.flush(), queue.flush()]);
    add(1);
    await queue.flush();
    expect(batches).toEqual([[0]]);
    add(1);
    await clock.advance(250);
    expect(batches).toEqual([[0], [1]]);
    await queue.flush();
    add(1);
    expect(await queue.close()).toBe(0);
    expect(batches).toEqual([[0], [1], [2]]);
  });

  it("B18: saves what comes after exactly one full page and a quiet moment", async () => {
    const { clock, batches, queue, add } = createQueue();
    add(page);
    await clock.advance(1_000);
    expect(batches.flat()).toEqual(upTo(page));
    add(1);
    await clock.advance(250);
    expect(batches.flat()).toEqual(upTo(page + 1));
    add(page);
    await clock.advance(1_000);
    add(1);
    expect(await queue.close()).toBe(0);
    expect(batches.flat()).toEqual(upTo(2 * page + 2));
  });

  it("B18: a flush at any moment of another one saves what was added before it", async () => {
    for (let moment = 0; moment < 12; moment += 1) {
      const { batches, queue, add } = createQueue();
      add(1);
      const first = queue.flush();
      for (let step = 0; step < moment; step += 1) await Promise.resolve();
      add(1);
      await queue.flush();
      expect(batches.flat(), `after ${moment} steps`).toEqual([0, 1]);
      await first;
    }
  });

  it("keeps what cannot be saved, complains once, tries again and keeps the order", async () => {
    const { clock, batches, complaints, state, queue, add } = createQueue();
    state.isBroken = true;
    add(250);
    await queue.flush();
    add(50);
    await clock.advance(3_000);
    expect(batches).toEqual([]);
    expect(complaints).toEqual(["audit entries could not be saved yet"]);
    state.isBroken = false;
    await clock.advance(1_000);
    expect(batches.flat()).toEqual(upTo(300));
    expect(queue.lost).toBe(0);
  });

  it("a page ends when it is large, too", async () => {
    const { batches, queue } = createQueue();
    for (const at of upTo(20)) queue.add({ at, type: "x".repeat(50_000) });
    await queue.flush();
    expect(batches.flat()).toEqual(upTo(20));
    expect(batches.length).toBeGreaterThan(2);
  });

  it("gives up the oldest when too many wait, and counts them", async () => {
    const { clock, batches, complaints, state, queue, add } = createQueue();
    state.isBroken = true;
    add(page);
    await queue.flush();
    add(12 * page);
    // The oldest page as a whole.
    expect(queue.lost).toBe(page);
    expect(complaints).toHaveLength(2);
    state.isBroken = false;
    await clock.advance(1_000);
    expect(batches.flat()).toEqual(upTo(13 * page).slice(page));
  });

  it("says at its end how much is left, and leaves no timer", async () => {
    const { clock, state, queue, add } = createQueue();
    state.isBroken = true;
    add(2);
    expect(await queue.close()).toBe(2);
    expect(clock.pending).toBe(0);
    state.isBroken = false;
    add(1);
    expect(queue.lost).toBe(1);
    expect(await queue.close()).toBe(0);
  });
});
