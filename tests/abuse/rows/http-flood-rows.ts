import { allKinds, hostileHttpEntries, postKinds } from "../hostile/hostile-http-entry.ts";
import type { Lab } from "../lab.ts";
import { calmCriteria, type Figures, type Row } from "../row.ts";
import { isHonest, makeCalls, type PlannedCall, plannedCriteria } from "./planned-calls.ts";

const floodMs = 25_000;
const together = 5;
const streamKinds = [...postKinds, "sse"] as const;

function atOnce(planned: PlannedCall): readonly PlannedCall[] {
  return Array.from({ length: together }, () => planned);
}

const aborted = {
  id: "F4",
  expected: "aborted at the cap; iso",
  measured: "a call in each dialect, one after another, answered with the count in MiB, decoded",
  criteria: [...calmCriteria, ...plannedCriteria],
  attack: (lab: Lab) =>
    makeCalls(lab, [{ ends: "too_large" }], {
      rounds: 1,
      isOneByOne: true,
      timeoutMs: floodMs,
    }),
} as const;

const flooded = {
  id: "F7",
  criteria: [...calmCriteria, ...plannedCriteria],
} as const;

/** The answer comes after so many events as `lab.count` says. */
async function flood(lab: Lab, kind: string): Promise<Figures> {
  const plan = [{ args: { n: lab.count, kind }, ends: "ok", isRight: isHonest }];
  const figures = await makeCalls(lab, plan, { rounds: 1, timeoutMs: floodMs });
  const { overRate, serverLogs } = lab.subject.counts;
  return { ...figures, "dropped over the rate": overRate, "reached the user": serverLogs };
}

/** Streams that never end; `lab.count` is the time of each call in milliseconds. */
async function endless(lab: Lab): Promise<Figures> {
  const options = { rounds: 1, timeoutMs: lab.count, isParallel: true };
  const figures = await makeCalls(lab, atOnce({ ends: "timeout" }), options);
  return { ...figures, "overrun ms": (figures["max ms to error"] ?? 0) - lab.count };
}

export const httpFloodRows: readonly Row[] = [
  ...["json", "event"].map((as): Row => ({
    ...aborted,
    trigger: `gzip-bomb as ${as}`,
    servers: (mib) =>
      hostileHttpEntries("gzip-bomb", as === "json" ? allKinds : postKinds, {
        parameters: { mib, as },
      }),
    counts: { short: 32, normal: 512, long: 2_048, stock: 512 },
  })),
  ...["json", "event"].map((as): Row => ({
    ...aborted,
    trigger: `tiny-chunks as ${as}`,
    expected: "kept in little more than it holds; iso",
    measured:
      "the count in MiB, in chunks of a byte each: that is not all, so the call waits for more",
    servers: (mib) =>
      hostileHttpEntries("tiny-chunks", ["streamable-http"], { parameters: { mib, as } }),
    counts: { short: 1, normal: 4, long: 8, stock: 1 },
    attack: (lab) =>
      makeCalls(lab, [{ ends: "timeout" }], {
        rounds: 1,
        timeoutMs: lab.form === "short" ? 500 : 12_000,
      }),
  })),
  ...["line", "lines", "empty lines"].map((as): Row => ({
    ...aborted,
    trigger: `sse-huge-event in ${as}`,
    servers: (mib) =>
      hostileHttpEntries("sse-huge-event", streamKinds, { parameters: { mib, as } }),
    counts: { short: 32, normal: 256, long: 1_024, stock: 256 },
  })),
  {
    ...flooded,
    trigger: "sse-endless",
    expected: "fails at its deadline, socket closed; iso",
    measured: `${together} calls at once, the count in ms for each, on streams of comments`,
    criteria: [{ figure: "overrun ms", atMost: 1_000, isPhysical: true }, ...flooded.criteria],
    servers: hostileHttpEntries("sse-endless", streamKinds),
    counts: { short: 300, normal: 3_000, long: 20_000, stock: 3_000 },
    attack: endless,
  },
  ...["notification", "junk", "comment", "return", "field"].map((kind): Row => ({
    ...flooded,
    trigger: `sse-flood of ${kind}s`,
    expected: "reading keeps pace, the rest is dropped; iso",
    measured: "one call whose answer stands behind so many events or lines",
    servers: hostileHttpEntries("sse-flood", streamKinds),
    counts: { short: 20_000, normal: 1_000_000, long: 3_000_000, stock: 100_000 },
    attack: (lab) => flood(lab, kind),
  })),
  {
    ...flooded,
    trigger: "sse-cross-id",
    expected: "every call gets its own answer; iso",
    measured: `rounds of ${together} calls; each stream carries answers to the others first`,
    servers: hostileHttpEntries("sse-cross-id", postKinds),
    counts: { short: 3, normal: 60, long: 600, stock: 60 },
    attack: (lab) =>
      makeCalls(lab, atOnce({ args: { together }, ends: "ok", isRight: isHonest }), {
        isParallel: true,
      }),
  },
];
