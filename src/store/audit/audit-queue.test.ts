import { describe, expect, it } from "vitest";

import { ManualClock } from "../../../tests/fixtures/protocol/manual-clock.ts";
import { silentLogger } from "../../ports/logger.ts";
import type { AuditRow } from "./audit-entry.ts";
import { maxEntriesPerPage, readAuditPage } from "./audit-page.ts";
import { AuditQueue } from "./audit-queue.ts";

/** A queue whose store can be broken and mended, with everything that was saved or complained about. */
function createQueue() {
  const clock = new ManualClock();
  const batches: number[][] = [];
  const saved: AuditRow[] = [];
  const complaints: string[] = [];
  const state = { isBroken: false };
  const queue = new AuditQueue({
    clock,
    logger: { ...silentLogger, error: (text) => void complaints.push(text) },
    save: async (page) => {
      if (state.isBroken) throw new Error("full");
      const rows = [...readAuditPage({ seq: 1, ...page })];
      saved.push(...rows);
      batches.push(rows.map(({ at }) => at));
    },
  });
  let next = 0;
  const add = (count: number): void => {
    for (let index = 0; index < count; index += 1) {
      queue.add({ at: next, type: "x" });
      next += 1;
    }
  };
  return { clock, batches, saved, complaints, state, queue, add };
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
    const { clock, saved, complaints, state, queue, add } = createQueue();
    state.isBroken = true;
    add(page);
    await queue.flush();
    add(12 * page);
    // The oldest page as a whole.
    expect(queue.lost).toBe(page);
    expect(complaints).toHaveLength(2);
    state.isBroken = false;
    await clock.advance(1_000);
    const kept = saved.filter(({ type }) => type === "x").map(({ at }) => at);
    expect(kept).toEqual(upTo(13 * page).slice(page));
  });

  it("B18: what had to be given up is told by the trail itself, as often as it happens", async () => {
    const { clock, saved, complaints, state, queue, add } = createQueue();
    for (const time of [0, 1]) {
      state.isBroken = true;
      add(page);
      await queue.flush();
      add(13 * page);
      state.isBroken = false;
      await queue.flush();
      const from = time * 14 * page;
      const notes = saved.filter(({ type }) => type === "entries-lost");
      expect(notes).toHaveLength(time + 1);
      const lost = { entries: 2 * page, from, until: from + 2 * page - 1 };
      expect(notes[time]).toMatchObject({ at: clock.now(), detail: lost });
    }
    expect(queue.lost).toBe(4 * page);
    expect(saved.filter(({ type }) => type === "x")).toHaveLength(24 * page);
    expect(complaints.filter((text) => text.includes("lost"))).toHaveLength(2);
    expect(await queue.close()).toBe(0);
  });

  it("B18: long entries that wait do not fill the memory", async () => {
    const { saved, state, queue } = createQueue();
    state.isBroken = true;
    const detail = { text: "é".repeat(4_000) };
    const count = 8_000;
    for (const at of upTo(count)) queue.add({ at, type: "long", detail });
    state.isBroken = false;
    await queue.flush();
    const kept = saved.filter(({ type }) => type === "long");
    expect(kept.length + queue.lost).toBe(count);
    expect(kept.length * 8_000).toBeLessThan(34 * 1024 * 1024);
    expect(kept.length * 8_000).toBeGreaterThan(30 * 1024 * 1024);
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
