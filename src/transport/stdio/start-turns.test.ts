import { expect, it, vi } from "vitest";

import { LoopTurns, TimeSlice } from "../../async/time-slice.ts";
import { StartTurns } from "./start-turns.ts";

/** Starts that take so long each; says in which turn of the loop each of them ran. */
async function turnsOf(count: number, startMs: number): Promise<readonly number[]> {
  let now = 1_000;
  const turns = new StartTurns(new TimeSlice(new LoopTurns(() => now)));
  let turn = 0;
  let isOver = false;
  const next = (): void => {
    turn += 1;
    if (!isOver) setImmediate(next);
  };
  setImmediate(next);
  const started = Array.from({ length: count }, () =>
    turns.run(() => {
      now += startMs;
      return turn;
    }),
  );
  const ran = await Promise.all(started);
  isOver = true;
  return ran;
}

it("B17: no two slow processes start in one turn of the loop", async () => {
  const ran = await turnsOf(4, 10);
  expect(new Set(ran).size).toBe(4);
});

it("B17: quick ones start in one turn, until they have held the loop for a slice of time", async () => {
  const ran = await turnsOf(9, 3);
  const first = ran.filter((turn) => turn === ran[0]);
  expect(first).toHaveLength(4);
  expect(ran.filter((turn) => turn === ran[4])).toHaveLength(4);
  expect(new Set(ran).size).toBe(3);
});

it("B17: a start that fails holds up nobody, and its error is its own", async () => {
  const turns = new StartTurns();
  const failed = turns.run(() => {
    throw new Error("no");
  });
  const after = turns.run(() => "after");
  await expect(failed).rejects.toThrow("no");
  await expect(after).resolves.toBe("after");
});

it("PRM-21: a command is looked for again once the slice is over, and until it is found", async () => {
  let now = 0;
  const turns = new StartTurns(new TimeSlice(new LoopTurns(() => now)));
  const find = vi.fn<() => string | undefined>(() => "/bin/run");
  const start = (): Promise<string | undefined> => turns.run(() => turns.commandFile("run", find));
  find.mockReturnValueOnce(undefined);
  await expect(start()).resolves.toBeUndefined();
  await expect(start()).resolves.toBe("/bin/run");
  await expect(start()).resolves.toBe("/bin/run");
  expect(find).toHaveBeenCalledTimes(2);
  now += 10;
  find.mockReturnValue("/usr/bin/run");
  await expect(start()).resolves.toBe("/usr/bin/run");
});
