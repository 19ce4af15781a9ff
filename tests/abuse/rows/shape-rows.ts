import { hostileEntry } from "../hostile/hostile-entry.ts";
import type { Lab } from "../lab.ts";
import type { Figures, Row } from "../row.ts";

const server = "hostile";
const deepPlaces = ["result", "error", "notification", "id", "batch"];

/** Every call must fail, at once and as what it is. */
async function failFast(lab: Lab): Promise<Figures> {
  let slowestMs = 0;
  let wrongEnds = 0;
  for (let index = 0; index < lab.count; index += 1) {
    const { code, tookMs } = await lab.call({ server, args: {} });
    slowestMs = Math.max(slowestMs, tookMs);
    if (code !== "protocol_violation") wrongEnds += 1;
  }
  return {
    "max ms to error": slowestMs,
    "ends other than protocol_violation": wrongEnds,
    "dead afterwards": Number(!(await lab.isAlive(server))),
  };
}

/** Several calls in flight at the end of the process, then one that needs a new process. */
async function failAndRestart(lab: Lab): Promise<Figures> {
  const figures = {
    "max ms to error": 0,
    "max ms to restart": 0,
    "ends other than connection_lost": 0,
    "dead afterwards": 0,
  };
  for (let round = 0; round < lab.count; round += 1) {
    const ends = await Promise.all(Array.from({ length: 5 }, () => lab.call({ server, args: {} })));
    figures["ends other than connection_lost"] += ends.filter(
      ({ code }) => code !== "connection_lost",
    ).length;
    const slowestMs = Math.max(...ends.map(({ tookMs }) => tookMs));
    figures["max ms to error"] = Math.max(figures["max ms to error"], slowestMs);
    const restartedAt = performance.now();
    if (!(await lab.isAlive(server))) figures["dead afterwards"] += 1;
    figures["max ms to restart"] = Math.max(
      figures["max ms to restart"],
      performance.now() - restartedAt,
    );
  }
  return figures;
}

/** Depth at every place of a message: what cannot be read ends the connection, so every call fails at once. */
async function goDeep(lab: Lab): Promise<Figures> {
  const figures = { "max ms to error": 0, "wrong ends": 0, "dead afterwards": 0 };
  for (let round = 0; round < lab.count; round += 1)
    for (const where of deepPlaces) {
      const { ok, code, tookMs } = await lab.call({ server, args: { where } });
      if (ok || code === "timeout") figures["wrong ends"] += 1;
      figures["max ms to error"] = Math.max(figures["max ms to error"], tookMs);
      if (!(await lab.isAlive(server))) figures["dead afterwards"] += 1;
    }
  return figures;
}

const fast = { figure: "max ms to error", atMost: 1_000, isPhysical: true } as const;
const alive = { figure: "dead afterwards", atMost: 0 } as const;

export const shapeRows: readonly Row[] = [
  ...["result-and-error", "wrong-jsonrpc", "batch"].map((mode): Row => ({
    id: "A9",
    trigger: mode,
    expected: "fast",
    measured: "calls one after another with 4 s each; time and code of their errors",
    criteria: [fast, { figure: "ends other than protocol_violation", atMost: 0 }, alive],
    servers: { [server]: hostileEntry(mode) },
    counts: { short: 4, normal: 40, long: 400, stock: 2 },
    attack: failFast,
  })),
  {
    id: "A10",
    trigger: "half-json-then-exit",
    expected: "fast, restart",
    measured: "rounds of five calls in flight at the exit and one that needs a new process",
    criteria: [
      fast,
      { figure: "hung calls", atMost: 0 },
      { figure: "ends other than connection_lost", atMost: 0 },
      alive,
    ],
    servers: { [server]: hostileEntry("half-json-then-exit") },
    counts: { short: 1, normal: 10, long: 100, stock: 3 },
    attack: failAndRestart,
  },
  {
    id: "A11",
    trigger: "deep-json depth=100000",
    expected: "fast; no RangeError escapes",
    measured: `rounds of one call for each place: ${deepPlaces.join(", ")}; errors that nobody caught`,
    criteria: [{ figure: "crashes", atMost: 0 }, fast, { figure: "wrong ends", atMost: 0 }, alive],
    servers: { [server]: hostileEntry("deep-json", { depth: 100_000 }) },
    counts: { short: 1, normal: 5, long: 50, stock: 1 },
    attack: goDeep,
  },
];
