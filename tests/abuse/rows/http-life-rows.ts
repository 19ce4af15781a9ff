import {
  allKinds,
  hostileHttpEntries,
  hostileHttpEntry,
  postKinds,
} from "../hostile/hostile-http-entry.ts";
import type { Lab } from "../lab.ts";
import type { Criterion, Figures, Row } from "../row.ts";
import { fast, makeCalls, type PlannedCall, plannedCriteria } from "./planned-calls.ts";

const together = 5;
const large = "x".repeat(2_000_000);

/** A plan of equal calls. */
function times(count: number, planned: PlannedCall): readonly PlannedCall[] {
  return Array.from({ length: count }, () => planned);
}

/** Calls made together that nobody answers; `lab.count` is the time for each, in milliseconds. */
async function outwait(
  lab: Lab,
  plan: readonly PlannedCall[],
  onCalled?: () => Promise<void>,
): Promise<Figures> {
  const options = { timeoutMs: lab.count, rounds: 1, isParallel: true, onCalled };
  const figures = await makeCalls(lab, plan, options);
  return { ...figures, "overrun ms": (figures["max ms to error"] ?? 0) - lab.count };
}

const inTime: readonly Criterion[] = [
  { figure: "hung calls", atMost: 0 },
  { figure: "overrun ms", atMost: 1_000, isPhysical: true },
  ...plannedCriteria,
];
const waiting = {
  id: "F2",
  expected: "fails at its deadline, socket closed",
  measured: `${together} calls at once with the count in ms for each; what is open 3 s later`,
  criteria: inTime,
  counts: { short: 300, normal: 3_000, long: 20_000, stock: 3_000 },
  attack: (lab: Lab) => outwait(lab, times(together, { ends: "timeout" })),
} as const;

const lost = {
  id: "F3",
  expected: "fast, outcome unknown, not sent again",
  measured: `rounds of ${together} calls at once; their codes, and calls received twice`,
  criteria: [fast, ...plannedCriteria],
  counts: { short: 1, normal: 20, long: 500, stock: 2 },
  attack: (lab: Lab) =>
    makeCalls(lab, times(together, { ends: "connection_lost" }), { isParallel: true }),
} as const;

const cuts: readonly PlannedCall[] = ["events", "gzip"].flatMap((of) =>
  ["reset", "end"].flatMap((how) =>
    [0, 1, 2, 3].map((ms) => ({ args: { of, how, ms }, ends: "connection_lost" })),
  ),
);

/** How a connection to each of these fails, if the time for it suffices. */
const handshakeEnds: Readonly<Record<string, string>> = {
  "slow-headers": "start_timeout",
  "slow-body": "start_timeout",
  "empty-202": "http_error",
  "drop-mid-body": "connection_lost",
  "reset-on-post": "connection_lost",
  "sse-drop": "connection_lost",
  "sse-endless": "start_timeout",
  "gzip-bomb": "too_large",
  "sse-huge-event": "too_large",
  "redirect-loop": "http_error",
};

/** Calls to servers that cannot even be connected to. */
async function meetAtTheDoor(lab: Lab): Promise<Figures> {
  const modes = Object.keys(handshakeEnds);
  const calls = await Promise.all(
    [...modes, ...modes].map(async (mode) => {
      const { code, tookMs } = await lab.call({ server: mode, args: {}, timeoutMs: lab.count });
      const isRight = code === "start_timeout" || handshakeEnds[mode] === code;
      return { tookMs, isWrong: !isRight };
    }),
  );
  const left = await Promise.all(
    modes.map((mode) => lab.site(mode).reportWhen(({ sockets }) => sockets === 0, 3_000)),
  );
  return {
    "wrong ends": calls.filter(({ isWrong }) => isWrong).length,
    "overrun ms": Math.max(...calls.map(({ tookMs }) => tookMs)) - lab.count,
    "sockets left": left.reduce((sum, { sockets }) => sum + sockets, 0),
  };
}

export const httpLifeRows: readonly Row[] = [
  ...["slow-headers", "slow-body"].flatMap((mode) =>
    ["silent", "drip"].map((how): Row => ({
      ...waiting,
      trigger: `${mode} ${how}`,
      servers: hostileHttpEntries(mode, allKinds, { parameters: { how } }),
    })),
  ),
  {
    ...waiting,
    trigger: "never-read, calls of 2 MB",
    measured: `${together} calls at once that are not read; what is open 3 s after it reads on`,
    servers: hostileHttpEntries("never-read", allKinds),
    async attack(lab) {
      const [first = ""] = lab.siteNames;
      await lab.site(first).order({ reads: false });
      const plan = times(together, { args: { large }, ends: "timeout" });
      return await outwait(lab, plan, () => lab.site(first).order({ reads: true }));
    },
  },
  {
    ...waiting,
    trigger: "content-length-lie",
    expected: "fails at the end, or at its deadline",
    measured: "too short and silent; too short and ended; too long, which leaves broken JSON",
    servers: hostileHttpEntries("content-length-lie", postKinds),
    attack: (lab) =>
      outwait(lab, [
        { args: { lie: "more" }, ends: "timeout" },
        { args: { lie: "end" }, ends: "connection_lost" },
        { args: { lie: "less" }, ends: "protocol_violation" },
      ]),
  },
  {
    ...lost,
    id: "F2",
    trigger: "empty-202",
    expected: "fast",
    servers: hostileHttpEntries("empty-202", postKinds),
    attack: (lab) =>
      makeCalls(lab, times(together, { ends: "protocol_violation" }), { isParallel: true }),
  },
  ...["drop-mid-body", "reset-on-post"].map((mode): Row => ({
    ...lost,
    trigger: mode,
    servers: hostileHttpEntries(mode, allKinds),
  })),
  ...[
    { trigger: "sse-drop end", parameters: { how: "end" } },
    { trigger: "sse-drop cut", parameters: { how: "cut" } },
    { trigger: "sse-drop with event ids", parameters: { how: "cut", ids: 1 } },
  ].map(({ trigger, parameters }): Row => ({
    ...lost,
    trigger,
    servers: hostileHttpEntries("sse-drop", [...postKinds, "sse"], { parameters }),
  })),
  {
    ...lost,
    trigger: "cut-flood",
    measured: `rounds of ${cuts.length} calls: events and gzip, reset or ended 0 to 3 ms after the last byte`,
    criteria: [{ figure: "crashes", atMost: 0 }, ...plannedCriteria],
    servers: hostileHttpEntries("cut-flood", postKinds),
    // The official client waits for the end of some of them.
    counts: { short: 1, normal: 20, long: 100 },
    attack: (lab) => makeCalls(lab, cuts),
  },
  {
    id: "F2",
    trigger: "each of these from the handshake on",
    expected: "typed error, connecting is bounded",
    measured: "a server for each; the count in ms to connect, then two calls of each at once",
    criteria: [
      { figure: "hung calls", atMost: 0 },
      { figure: "wrong ends", atMost: 0 },
      { figure: "overrun ms", atMost: 1_000, isPhysical: true },
      { figure: "sockets left", atMost: 0 },
    ],
    servers: Object.fromEntries(
      Object.keys(handshakeEnds).map((mode) => [
        mode,
        hostileHttpEntry(mode, {
          parameters: { at: "handshake", mib: 64 },
          // It has to find out what the server speaks, and so asks more than once.
          access: { transport: "http" },
        }),
      ]),
    ),
    limits: (connectTimeoutMs) => ({ connectTimeoutMs, eraProbeMs: connectTimeoutMs / 3 }),
    counts: { short: 600, normal: 3_000, long: 20_000 },
    attack: meetAtTheDoor,
  },
];
