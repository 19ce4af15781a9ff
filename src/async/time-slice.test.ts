import { connect, createServer } from "node:net";

import { expect, it } from "vitest";

import { LoopTurns, TimeSlice } from "./time-slice.ts";

/** Turns whose time passes only when a step of work takes it. */
function createTurns() {
  let now = 1_000;
  const turns = new LoopTurns(() => now);
  const log: string[] = [];
  const work = async (name: string, steps: number, stepMs: number): Promise<void> => {
    const slice = new TimeSlice(turns);
    for (let step = 0; step < steps; step += 1) {
      if (slice.isOver) await slice.next();
      now += stepMs;
      log.push(name);
    }
  };
  return { turns, log, work };
}

/** Writes a line into the log whenever timers have had their turn. */
function logTimers(log: string[]): Disposable {
  const timer = setInterval(() => log.at(-1) !== "|" && log.push("|"), 1);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

/** What was done between two turns of the timers. */
const turnsOf = (log: readonly string[]): readonly string[] =>
  log.join("").split("|").filter(Boolean);

/** Lets a timer of a millisecond fall due within each turn of the loop. */
function busyMs(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

it("P14: all work of a turn takes one slice of it together", async () => {
  const { turns, log, work } = createTurns();
  const working = Promise.all([work("a", 4, 3), work("b", 2, 3), work("c", 2, 3)]);
  expect(log).toEqual(["a", "a", "a", "a"]);
  await working;
  expect(log.toSorted().join("")).toBe("aaaabbcc");
  // Later work begins a slice of its own.
  await turns.next();
  expect(new TimeSlice(turns).isOver).toBe(false);
});

it("P14: whoever has waited longest goes on first", async () => {
  const { log, work } = createTurns();
  await Promise.all([work("a", 6, 10), work("b", 3, 10), work("c", 3, 10)]);
  expect(log.join("")).toBe("aabcabcabcaa");
});

it("P14: short work ends in the turn in which it goes on, together with other short work", async () => {
  const { turns, log, work } = createTurns();
  let turn = 0;
  const counted = async (name: string): Promise<number> => {
    await turns.next();
    await work(name, 1, 1);
    return turn;
  };
  const working = Promise.all([counted("a"), counted("b"), counted("c")]);
  const count = (): void => {
    turn += 1;
    if (log.length < 3) setImmediate(count);
  };
  setImmediate(count);
  expect(new Set(await working).size).toBe(1);
});

it("P14: timers that are due have their turn before work goes on, also behind a socket", async () => {
  const log: string[] = [];
  using _timers = logTimers(log);
  const server = createServer((socket) => socket.end("x"));
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as { readonly port: number };
  await new Promise<void>((resolve, reject) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("error", reject);
    socket.once("data", () => {
      const slice = new TimeSlice();
      busyMs(3);
      log.push("a");
      void slice.next().then(() => {
        log.push("b");
        resolve();
      });
    });
  });
  server.close();
  expect(turnsOf(log)).toEqual(["a", "b"]);
});

it("work that goes on after a long wait for something else lets others go first", async () => {
  let now = 0;
  const turns = new LoopTurns(() => now);
  const slice = new TimeSlice(turns);
  expect(slice.isOver).toBe(false);
  await turns.next();
  now += 10;
  expect(slice.isOver).toBe(true);
  await slice.next();
  expect(slice.isOver).toBe(false);
});
