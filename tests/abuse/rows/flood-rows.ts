import { setImmediate as nextTurn } from "node:timers/promises";

import { hostileEntry } from "../hostile/hostile-entry.ts";
import type { Lab } from "../lab.ts";
import { calmCriteria, type Figures, type Row } from "../row.ts";

const server = "hostile";
const burst = 1_000;
const perSecond = 200;
const patienceMs = 25_000;

/** How many messages that nobody asked for may get through in that time. */
function allowedIn(ms: number): number {
  return burst + (perSecond * ms) / 1_000 + 1;
}

/** Notifications the host has a use for: the answer behind them arrives, and so do those of other calls. */
async function hearFlood(lab: Lab): Promise<Figures> {
  const { counts } = lab.subject;
  const startedAt = performance.now();
  const flood = lab.call({ server, args: { n: lab.count, nonce: 1 }, timeoutMs: patienceMs });
  const progress = { isOver: false };
  void flood.finally(() => void (progress.isOver = true));
  let failedBeside = 0;
  while (!progress.isOver) {
    const message = "beside";
    const { text } = await lab.call({
      server,
      tool: "echo",
      args: { message },
      timeoutMs: patienceMs,
    });
    if (text !== message) failedBeside += 1;
  }
  const { ok } = await flood;
  const tookMs = performance.now() - startedAt;
  await lab.subject.disconnect(server);
  return {
    "failed calls": Number(!ok),
    "failed beside": failedBeside,
    dropped: counts.overRate,
    heard: counts.serverLogs,
    "heard over the rate": Math.max(0, counts.serverLogs - allowedIn(tookMs)),
    "not accounted for": Math.max(0, lab.count - counts.overRate - counts.serverLogs),
  };
}

/** Notifications nobody has a use for: whoever waits is told, and the server can be used when it is done. */
async function hearNoise(lab: Lab): Promise<Figures> {
  const startedAt = performance.now();
  const { code, tookMs } = await lab.call({
    server,
    args: { n: lab.count },
    timeoutMs: patienceMs,
  });
  // Answered when the flood is over, and not waited for while it lasts.
  const isOver = async () => (await lab.call({ server, args: { n: 0 } })).ok;
  let isAlive = false;
  while (!isAlive && performance.now() - startedAt < patienceMs) isAlive = await isOver();
  await lab.subject.disconnect(server);
  return {
    "ms to error": tookMs,
    "ends other than protocol_violation": Number(code !== "protocol_violation"),
    "dead afterwards": Number(!isAlive),
    dropped: lab.subject.counts.overRate,
  };
}

interface Answers {
  readonly answered: number;
  readonly granted: number;
}

async function hearRequests(lab: Lab): Promise<Figures> {
  const startedAt = performance.now();
  const { ok } = await lab.call({ server, args: { n: lab.count }, timeoutMs: patienceMs });
  const tookMs = performance.now() - startedAt;
  // By the time this one is answered, the server has read what was written before.
  const { structured } = await lab.call({ server, args: { n: 0 }, timeoutMs: patienceMs });
  const { answered = 0, granted = 0 } = (structured ?? {}) as Partial<Answers>;
  return {
    "failed calls": Number(!ok) + Number(structured === undefined),
    "answers written": answered,
    "answers over the rate": Math.max(0, answered - allowedIn(tookMs)),
    granted,
  };
}

const askers = ["legacy", "modern"] as const;

async function hearQuestions(lab: Lab): Promise<Figures> {
  const figures = { granted: 0, "failed calls": 0 };
  const answered = { legacy: 0, modern: 0 };
  for (const era of askers)
    for (let round = 0; round < lab.count; round += 1) {
      const { ok, structured } = await lab.call({ server: era, args: {} });
      const answers = (structured ?? {}) as Partial<Answers>;
      if (!ok) figures["failed calls"] += 1;
      figures.granted = Math.max(figures.granted, answers.granted ?? 0);
      answered[era] = Math.max(answered[era], answers.answered ?? 0);
    }
  return { ...figures, "answers, legacy": answered.legacy, "answers, modern": answered.modern };
}

const payload = "x".repeat(100_000);
const callsAtOnce = 20;

/** Calls that together are more than the pipe and the queue take; to make them all at once would take a while. */
async function writeMuch(lab: Lab, timeoutMs: number) {
  const calls: ReturnType<Lab["call"]>[] = [];
  for (let nonce = 0; nonce < lab.count; nonce += 1) {
    if (nonce % callsAtOnce === 0) await nextTurn();
    calls.push(lab.call({ server, args: { nonce, payload }, timeoutMs }));
  }
  return await Promise.all(calls);
}

async function writeInVain(lab: Lab): Promise<Figures> {
  const ends = await writeMuch(lab, lab.form === "short" ? 500 : 4_000);
  const startedAt = performance.now();
  await lab.subject.disconnect(server);
  return {
    answered: ends.filter(({ ok }) => ok).length,
    "ends other than timeout": ends.filter(({ ok, code }) => !ok && code !== "timeout").length,
    "ms to stop": performance.now() - startedAt,
  };
}

async function writeLate(lab: Lab): Promise<Figures> {
  const ends = await writeMuch(lab, 20_000);
  return {
    "failed calls": ends.filter(({ text }, nonce) => text !== `never-read ${nonce}`).length,
  };
}

export const floodRows: readonly Row[] = [
  {
    id: "A14",
    trigger: "notification-flood kind=log",
    expected: "read no faster than fits, then dropped",
    measured:
      "one call answered behind so many log messages, others beside it; what the host counted and what its user heard",
    criteria: [
      { figure: "failed calls", atMost: 0 },
      { figure: "failed beside", atMost: 0 },
      { figure: "heard over the rate", atMost: 0 },
      { figure: "not accounted for", atMost: 0 },
      ...calmCriteria,
    ],
    servers: { [server]: hostileEntry("notification-flood", { kind: "log" }) },
    counts: { short: 20_000, normal: 1_000_000, long: 3_000_000, stock: 100_000 },
    attack: hearFlood,
  },
  {
    id: "A14",
    trigger: "notification-flood kind=unknown",
    expected: "calls that wait fail, usable afterwards",
    measured:
      "one call answered behind so many notifications without a meaning; then calls until one succeeds",
    criteria: [
      { figure: "ms to error", atMost: 1_000, isPhysical: true },
      { figure: "ends other than protocol_violation", atMost: 0 },
      { figure: "dead afterwards", atMost: 0 },
      ...calmCriteria,
    ],
    servers: { [server]: hostileEntry("notification-flood", { kind: "unknown" }) },
    counts: { short: 20_000, normal: 1_000_000, long: 3_000_000, stock: 100_000 },
    attack: hearNoise,
  },
  {
    id: "A15",
    trigger: "request-flood",
    expected: "bounded, refused",
    measured:
      "one call answered behind so many pings and questions; the server counts what it is answered",
    criteria: [
      { figure: "failed calls", atMost: 0 },
      { figure: "answers over the rate", atMost: 0 },
      { figure: "granted", atMost: 0 },
      ...calmCriteria,
    ],
    servers: { [server]: hostileEntry("request-flood") },
    counts: { short: 5_000, normal: 100_000, long: 1_000_000, stock: 100_000 },
    attack: hearRequests,
  },
  {
    id: "A16",
    trigger: "unsolicited-requests",
    expected: "modern: not answered; legacy: refused",
    measured:
      "four questions in and after the handshake and in each call; the server counts what it is answered",
    criteria: [
      { figure: "granted", atMost: 0 },
      { figure: "answers, modern", atMost: 0 },
      { figure: "failed calls", atMost: 0 },
    ],
    servers: Object.fromEntries(
      askers.map((era) => [era, hostileEntry("unsolicited-requests", { era, tag: era })]),
    ),
    counts: { short: 3, normal: 50, long: 200, stock: 50 },
    attack: hearQuestions,
  },
  {
    id: "A19",
    trigger: "never-read, calls of 100 KB",
    expected: "calls fail by deadline, memory bounded",
    measured: "so many calls at once to a server that reads the first few only; then its end",
    criteria: [
      { figure: "hung calls", atMost: 0 },
      { figure: "ends other than timeout", atMost: 0 },
      { figure: "ms to stop", atMost: 5_500, isPhysical: true },
      ...calmCriteria,
    ],
    servers: { [server]: hostileEntry("never-read") },
    counts: { short: 200, normal: 200, long: 400, stock: 200 },
    attack: writeInVain,
  },
  {
    id: "A19",
    trigger: "never-read ms=500, calls of 100 KB",
    expected: "every call waits its turn and is answered",
    measured: "so many calls at once to a server that reads again after half a second",
    criteria: [{ figure: "failed calls", atMost: 0 }, ...calmCriteria],
    servers: { [server]: hostileEntry("never-read", { ms: 500 }) },
    counts: { short: 200, normal: 200, long: 400, stock: 200 },
    attack: writeLate,
  },
];
