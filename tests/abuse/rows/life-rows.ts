import { hostileEntry } from "../hostile/hostile-entry.ts";
import type { Lab } from "../lab.ts";
import type { Figures, Row } from "../row.ts";

const connectTimeoutMs = 1_000;
const patienceMs = 20_000;

/** The start of a server that behaves, alone and beside others that do not. */
async function startBeside(lab: Lab): Promise<Figures> {
  const { subject } = lab;
  const echo = (server: string) =>
    lab.call({ server, tool: "echo", args: { message: "up" }, timeoutMs: patienceMs });
  await Promise.all(["slow", "silent", "other"].map((server) => subject.disconnect(server)));
  const alone = await echo("other");
  await subject.disconnect("other");
  const starting = Promise.all([echo("slow"), echo("silent")]);
  const beside = await echo("other");
  const [slow, silent] = await starting;
  return {
    "delay of others ms": beside.tookMs - alone.tookMs,
    "late others": Number(beside.tookMs >= Math.min(slow.tookMs, silent.tookMs)),
    "failed starts": [alone, beside, slow].filter(({ ok }) => !ok).length,
    "ends other than start_timeout": Number(silent.code !== "start_timeout"),
    "reasons missing": Number(!/no answer to [a-z/]+ within/.test(silent.message)),
    "ms to start_timeout": silent.tookMs,
  };
}

interface ExpectedEnd {
  readonly code: string;
  readonly reason: RegExp;
}

/** How servers end, by name. */
const ends: Readonly<Record<string, ExpectedEnd>> = {
  exit: { code: "connection_lost", reason: /exit code 0\b/ },
  signal: { code: "connection_lost", reason: /signal SIGSEGV\b/ },
  exitAtStart: { code: "start_exit", reason: /exit code 0\b/ },
  signalAtStart: { code: "start_exit", reason: /signal SIGSEGV\b/ },
};

async function hearReasons(lab: Lab): Promise<Figures> {
  const figures = {
    "wrong ends": 0,
    "reasons missing": 0,
    "max ms to error": 0,
    "max ms to error at start": 0,
  };
  for (let round = 0; round < lab.count; round += 1)
    for (const [server, { code, reason }] of Object.entries(ends)) {
      const end = await lab.call({ server, args: {} });
      if (end.code !== code) figures["wrong ends"] += 1;
      if (!reason.test(end.message)) figures["reasons missing"] += 1;
      // A server that never started is tried again before its caller is told, and not at once.
      const slowest = code === "start_exit" ? "max ms to error at start" : "max ms to error";
      figures[slowest] = Math.max(figures[slowest], end.tookMs);
    }
  return figures;
}

async function noticeEnds(lab: Lab): Promise<Figures> {
  const figures = {
    "max ms to error": 0,
    "ends other than connection_lost": 0,
    "dead afterwards": 0,
  };
  for (let round = 0; round < lab.count; round += 1)
    for (const server of ["holding", "voiceless"]) {
      const calls = Array.from({ length: 5 }, () => lab.call({ server, args: {} }));
      for (const { code, tookMs } of await Promise.all(calls)) {
        if (code !== "connection_lost") figures["ends other than connection_lost"] += 1;
        figures["max ms to error"] = Math.max(figures["max ms to error"], tookMs);
      }
      if (!(await lab.isAlive(server))) figures["dead afterwards"] += 1;
    }
  return figures;
}

async function waitInVain(lab: Lab): Promise<Figures> {
  const calls = Array.from({ length: lab.count }, () =>
    lab.call({ server: "hostile", args: {}, timeoutMs: 500 }),
  );
  const codes = (await Promise.all(calls)).map(({ code }) => code);
  return {
    "ends other than timeout": codes.filter((code) => code !== "timeout").length,
    "dead afterwards": Number(!(await lab.isAlive("hostile"))),
  };
}

const fast = { figure: "max ms to error", atMost: 1_000, isPhysical: true } as const;

export const lifeRows: readonly Row[] = [
  {
    id: "B6",
    trigger: "slow-start; never-init, ms",
    expected: "waits; start timeout with a clear reason",
    measured:
      "first calls of three servers at once, one that starts late by the count, one that never does, one that behaves, which is also started alone",
    criteria: [
      { figure: "late others", atMost: 0 },
      { figure: "delay of others ms", atMost: 200, isPhysical: true },
      { figure: "failed starts", atMost: 0 },
      { figure: "ends other than start_timeout", atMost: 0 },
      { figure: "reasons missing", atMost: 0 },
    ],
    servers: (ms) => ({
      slow: hostileEntry("slow-start", { ms }),
      silent: hostileEntry("never-init"),
      other: hostileEntry("healthy"),
    }),
    limits: (ms) => ({ connectTimeoutMs: ms + connectTimeoutMs }),
    counts: { short: 500, normal: 3_000, long: 10_000, stock: 3_000 },
    attack: startBeside,
  },
  {
    id: "B7",
    trigger: "exit-zero, kill-self SIGSEGV",
    expected: "reason shown (code or signal)",
    measured: "calls that the server ends on, and servers that end at once; the text of each error",
    criteria: [{ figure: "wrong ends", atMost: 0 }, { figure: "reasons missing", atMost: 0 }, fast],
    servers: {
      exit: hostileEntry("exit-zero"),
      signal: hostileEntry("kill-self"),
      exitAtStart: hostileEntry("exit-zero", { at: "start" }),
      signalAtStart: hostileEntry("kill-self", { at: "start" }),
    },
    counts: { short: 1, normal: 10, long: 100, stock: 3 },
    attack: hearReasons,
  },
  {
    id: "B10",
    trigger: "crash-hold-stdout, close-stdout",
    expected: "noticed by exit or end of output",
    measured: "rounds of five calls in flight at the end and one that needs a new process",
    criteria: [
      fast,
      { figure: "ends other than connection_lost", atMost: 0 },
      { figure: "dead afterwards", atMost: 0 },
    ],
    servers: {
      holding: hostileEntry("crash-hold-stdout"),
      voiceless: hostileEntry("close-stdout"),
    },
    counts: { short: 1, normal: 10, long: 100, stock: 1 },
    attack: noticeEnds,
  },
  {
    id: "TST-07",
    trigger: "hang",
    expected: "calls fail by deadline, server kept",
    measured: "parallel calls with 500 ms that are never answered, then one that is",
    criteria: [
      { figure: "ends other than timeout", atMost: 0 },
      { figure: "dead afterwards", atMost: 0 },
    ],
    servers: { hostile: hostileEntry("hang") },
    counts: { short: 5, normal: 50, long: 500, stock: 50 },
    attack: waitInVain,
  },
];
