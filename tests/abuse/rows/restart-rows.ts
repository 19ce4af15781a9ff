import { randomUUID } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";

import { Diary } from "../diary.ts";
import { percentile } from "../healthy-load.ts";
import { hostileEntry } from "../hostile/hostile-entry.ts";
import type { Lab } from "../lab.ts";
import type { Figures, Row } from "../row.ts";
import { watchSpawns } from "../spawns.ts";

const server = "hostile";
const lastWords = "fatal: out of luck";
/** Each server that ends on a call has started a child of such a name before. */
const childNames = { crashed: `left-${randomUUID()}`, killed: `left-${randomUUID()}` };

/** What servers that are gone started, once the host had its time to end it. It does not outlive the count. */
async function countLeft(lab: Lab, name: string): Promise<Figures> {
  await lab.msUntil(() => processesNamed(name).length === 0, 5_000);
  const left = processesNamed(name);
  for (const pid of left) process.kill(pid, "SIGKILL");
  return { "processes left": left.length };
}

/** Those whose command line begins with the name; none where there is no `/proc`. */
function processesNamed(name: string): readonly number[] {
  if (process.platform !== "linux") return [];
  const pids = readdirSync("/proc").map(Number).filter(Number.isInteger);
  return pids.filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "latin1").startsWith(`${name}\0`);
    } catch {
      // It ended meanwhile.
      return false;
    }
  });
}

/** One server is used between its crashes, the other never answers anything. */
async function crashOften(lab: Lab): Promise<Figures> {
  const figures = { "ends other than connection_lost": 0, "max ms to error": 0 };
  const backMs: number[] = [];
  const crash = async (name: string): Promise<void> => {
    const { code, tookMs } = await lab.call({ server: name, args: {} });
    if (code !== "connection_lost") figures["ends other than connection_lost"] += 1;
    figures["max ms to error"] = Math.max(figures["max ms to error"], tookMs);
  };
  const crashUsed = async (): Promise<void> => {
    for (let round = 0; round < lab.count; round += 1) {
      await crash("used");
      const startedAt = performance.now();
      const isBack = await lab.isAlive("used");
      backMs.push(isBack ? performance.now() - startedAt : Number.POSITIVE_INFINITY);
    }
  };
  const crashUseless = async (): Promise<void> => {
    for (let round = 0; round < lab.count; round += 1) await crash("useless");
  };
  await Promise.all([crashUsed(), crashUseless()]);
  return {
    ...figures,
    "reconnect p95 ms": percentile(backMs, 0.95),
    "never back": backMs.filter((ms) => !Number.isFinite(ms)).length,
    ...(await countLeft(lab, childNames.crashed)),
  };
}

const inFlight = 50;
const executed = new Diary();

async function killMidCall(lab: Lab): Promise<Figures> {
  const figures = {
    "ends other than connection_lost": 0,
    "max ms to error": 0,
    "dead afterwards": 0,
  };
  for (let round = 0; round < lab.count; round += 1) {
    const calls = Array.from({ length: inFlight }, (_, index) =>
      lab.call({ server, args: { nonce: `${round}-${index}` } }),
    );
    for (const { code, tookMs } of await Promise.all(calls)) {
      if (code !== "connection_lost") figures["ends other than connection_lost"] += 1;
      figures["max ms to error"] = Math.max(figures["max ms to error"], tookMs);
    }
    if (!(await lab.isAlive(server))) figures["dead afterwards"] += 1;
  }
  const nonces = executed.entries().map(({ text }) => text);
  return {
    ...figures,
    executed: nonces.length,
    "duplicates executed": nonces.length - new Set(nonces).size,
    ...(await countLeft(lab, childNames.killed)),
  };
}

/** Calls every so often for a while, none waiting for the others. */
async function keepCalling(
  forMs: number,
  everyMs: number,
  call: () => Promise<unknown>,
): Promise<void> {
  const calls: Promise<unknown>[] = [];
  for (const endAt = performance.now() + forMs; performance.now() < endAt;) {
    calls.push(call());
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
  await Promise.all(calls);
}

const loopStarts = new Diary();

async function callCrashLoop(lab: Lab): Promise<Figures> {
  const figures = { "ends other than start_exit": 0, "errors without its last words": 0 };
  let slowestMs = 0;
  await keepCalling(lab.count * 1_000, 1_000, async () => {
    const { code, details, tookMs } = await lab.call({ server, args: {} });
    const { stderrTail = [] } = details as { readonly stderrTail?: readonly string[] };
    if (code !== "start_exit") figures["ends other than start_exit"] += 1;
    if (!stderrTail.includes(lastWords)) figures["errors without its last words"] += 1;
    slowestMs = Math.max(slowestMs, tookMs);
  });
  const isDown = (): boolean => lab.subject.view(server).state === "disconnected";
  const hasGivenUp = Number.isFinite(await lab.msUntil(isDown, 10_000));
  return {
    ...figures,
    spawns: loopStarts.entries().length,
    "not given up": Number(!hasGivenUp),
    "reasons missing": Number(!lab.subject.logs(server).includes(lastWords)),
    "max ms to error": slowestMs,
  };
}

const flapMs = { short: 200, full: 1_000 };
const flaps = { used: new Diary(), unused: new Diary() };

async function letFlap(lab: Lab): Promise<Figures> {
  const lifeMs = lab.form === "short" ? flapMs.short : flapMs.full;
  const startedAt = performance.now();
  const cpu = process.cpuUsage();
  let untyped = 0;
  await keepCalling(lab.count * 1_000, 50, async () => {
    const { ok, code } = await lab.call({ server: "used", tool: "echo", args: { message: "" } });
    if (!ok && code !== "connection_lost") untyped += 1;
  });
  const tookMs = performance.now() - startedAt;
  const { user, system } = process.cpuUsage(cpu);
  const spawns = flaps.used.entries().length;
  return {
    "spawns, unused": flaps.unused.entries().length,
    "spawns, used": spawns,
    // One before the attack, which may have ended by then.
    "spawns over one for each life": Math.max(0, spawns - Math.ceil(tookMs / lifeMs) - 2),
    "ends other than connection_lost": untyped,
    "CPU %": (user + system) / 10 / tookMs,
  };
}

const lateStarts = new Diary();

async function awaitRecovery(lab: Lab): Promise<Figures> {
  const isReady = (): boolean => lab.subject.view(server).state === "connected";
  const isBack = Number.isFinite(await lab.msUntil(isReady, 20_000));
  const [first] = lateStarts.all("start");
  const [ready] = lateStarts.all("ready");
  return {
    "not recovered": Number(!isBack),
    "failed starts": lateStarts.all("start").length - 1,
    "ms to ready": (ready?.at ?? Number.POSITIVE_INFINITY) - (first?.at ?? 0),
    "dead afterwards": Number(!(await lab.isAlive(server))),
  };
}

const stopped = new Diary();
const zombieTimeoutMs = 500;

async function waitForZombie(lab: Lab): Promise<Figures> {
  const startedAt = performance.now();
  const calls = Array.from({ length: 10 }, () =>
    lab.call({ server, args: {}, timeoutMs: zombieTimeoutMs }),
  );
  const ends = await Promise.all(calls);
  const isReplaced = (): boolean => stopped.entries().length > 1;
  await lab.msUntil(isReplaced, lab.count * 3 + 10_000);
  const replacedMs = performance.now() - startedAt;
  const [zombie] = stopped.entries();
  return {
    "ends other than timeout": ends.filter(({ code }) => code !== "timeout").length,
    "overrun ms": Math.max(...ends.map(({ tookMs }) => tookMs)) - zombieTimeoutMs,
    "zombies left": Number(isRunning(Number(zombie?.text))),
    "s to replacement": replacedMs / 1_000,
    "dead afterwards": Number(!(await lab.isAlive(server))),
  };
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

const manyStarts = new Diary();
const maxStarting = 8;

function crowd(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `s${index}`);
}

async function startTogether(lab: Lab): Promise<Figures> {
  const names = crowd(lab.count);
  await Promise.all(names.map((name) => lab.subject.disconnect(name)));
  const startedAt = performance.now();
  let failed = 0;
  const spawns = await watchSpawns(async () => {
    const areAlive = await Promise.all(
      names.map(async (name) => {
        const args = { message: name };
        return await lab.call({ server: name, tool: "echo", args, timeoutMs: 20_000 });
      }),
    );
    failed = areAlive.filter(({ ok }) => !ok).length;
  });
  const readyMs = performance.now() - startedAt;
  const readyAt = new Map(manyStarts.entries().map(({ text, at }) => [Number(text), at]));
  const starts = spawns.map(({ process: { pid = 0 }, at }) => ({ pid, at }));
  return {
    "failed calls": failed,
    spawns: starts.length,
    "starting at once": mostAtOnce(
      starts.map(({ pid, at }) => ({ from: at, to: readyAt.get(pid) ?? at })),
    ),
    "s until all are ready": readyMs / 1_000,
    "RSS of the servers MB": await residentMb(starts.map(({ pid }) => pid)),
  };
}

interface Span {
  readonly from: number;
  readonly to: number;
}

function mostAtOnce(spans: readonly Span[]): number {
  const around = spans.map(({ from }) => spans.filter((it) => it.from <= from && from < it.to));
  return Math.max(...around.map(({ length }) => length));
}

/** Of all these together, shared memory counted once; zero where the system does not tell. */
async function residentMb(pids: readonly number[]): Promise<number> {
  let kilobytes = 0;
  // Away from the event loop, and one by one: the system takes a millisecond for each.
  for (const pid of pids) {
    const rollup = await readFile(`/proc/${pid}/smaps_rollup`, "utf8").catch(() => "");
    kilobytes += Number(/^Pss:\s+(\d+)/m.exec(rollup)?.[1] ?? 0);
  }
  return kilobytes / 1_024;
}

const fast = { figure: "max ms to error", atMost: 1_000, isPhysical: true } as const;
const lost = { figure: "ends other than connection_lost", atMost: 0 } as const;
const noneLeft = { figure: "processes left", atMost: 0 } as const;
const alive = { figure: "dead afterwards", atMost: 0 } as const;

export const restartRows: readonly Row[] = [
  {
    id: "B1",
    trigger: "crash-on-call",
    expected: "every call fast; server back",
    measured:
      "two servers crashed so often, at once: one that is used in between, and the time until it answers again; one that is not; what they started",
    criteria: [
      lost,
      fast,
      { figure: "reconnect p95 ms", atMost: 1_000, isPhysical: true },
      { figure: "never back", atMost: 0 },
      noneLeft,
    ],
    servers: {
      used: hostileEntry("crash-on-call", { child: childNames.crashed }),
      useless: hostileEntry("crash-on-call", { child: childNames.crashed }),
    },
    counts: { short: 3, normal: 200, long: 1_000, stock: 20 },
    attack: crashOften,
  },
  {
    id: "B2",
    trigger: `kill -9 mid-call, ${inFlight} in flight`,
    expected: "all fast, none sent again",
    measured:
      "the server notes what it is asked and is killed while it reads the 25th call; what it started",
    criteria: [lost, fast, { figure: "duplicates executed", atMost: 0 }, alive, noneLeft],
    servers: {
      [server]: hostileEntry("killed-mid-call", {
        diary: executed.file,
        child: childNames.killed,
      }),
    },
    counts: { short: 3, normal: 50, long: 1_000 },
    attack: killMidCall,
  },
  {
    id: "B3",
    trigger: "crash-loop, s",
    expected: "backoff, then given up with its last words",
    measured: "one call each second for so long; every process notes its start",
    criteria: [
      { figure: "spawns", atMost: 8 },
      { figure: "ends other than start_exit", atMost: 0 },
      { figure: "errors without its last words", atMost: 0 },
      { figure: "not given up", atMost: 0 },
      { figure: "reasons missing", atMost: 0 },
    ],
    servers: { [server]: hostileEntry("crash-loop", { diary: loopStarts.file }) },
    counts: { short: 2, normal: 60, long: 60 },
    attack: callCrashLoop,
  },
  {
    id: "B4",
    trigger: `flap ms=${flapMs.full}, s`,
    expected: "backoff, not a hot loop",
    measured:
      "two servers that end a second after each start, for so long: one is called 20 times a second, the other never",
    criteria: [
      { figure: "spawns, unused", atMost: 4 },
      { figure: "spawns over one for each life", atMost: 0 },
      lost,
      { figure: "CPU %", atMost: 50, isPhysical: true },
    ],
    servers: (seconds) => {
      const ms = seconds < 10 ? flapMs.short : flapMs.full;
      return {
        used: hostileEntry("flap", { ms, diary: flaps.used.file }),
        unused: hostileEntry("flap", { ms, diary: flaps.unused.file }),
      };
    },
    counts: { short: 1, normal: 60, long: 300 },
    attack: letFlap,
  },
  {
    id: "B5",
    trigger: "crash-first-n",
    expected: "recovers without help",
    measured: "nobody calls; the time from the first start to the one that works",
    criteria: [{ figure: "not recovered", atMost: 0 }, alive],
    servers: (n) => ({ [server]: hostileEntry("crash-first-n", { n, diary: lateStarts.file }) }),
    counts: { short: 3, normal: 3, long: 3 },
    attack: awaitRecovery,
  },
  {
    id: "B11",
    trigger: "zombie (SIGSTOP), ms for a sign of life",
    expected: "call deadline, then killed and replaced",
    measured: "ten calls with 500 ms to a process that stands still; then nobody calls",
    criteria: [
      { figure: "hung calls", atMost: 0 },
      { figure: "ends other than timeout", atMost: 0 },
      { figure: "overrun ms", atMost: 1_000, isPhysical: true },
      { figure: "zombies left", atMost: 0 },
      alive,
    ],
    servers: { [server]: hostileEntry("zombie", { diary: stopped.file }) },
    limits: (proofOfLifeMs) => ({
      proofOfLifeMs,
      stopTermAfterMs: proofOfLifeMs / 10,
      stopGraceMs: proofOfLifeMs / 2,
    }),
    counts: { short: 300, normal: 10_000, long: 10_000 },
    attack: waitForZombie,
  },
  {
    id: "B17",
    trigger: "servers start at once",
    expected: "bounded parallel start",
    measured:
      "a call to each at once; processes between their start and the end of their handshake",
    criteria: [
      { figure: "failed calls", atMost: 0 },
      { figure: "starting at once", atMost: maxStarting },
    ],
    servers: (count) =>
      Object.fromEntries(
        crowd(count).map((name) => [
          name,
          hostileEntry("noted-start", { diary: manyStarts.file, tag: name }),
        ]),
      ),
    // Every processor is busy with starting them, so H waits its turn.
    isBusy: true,
    counts: { short: 10, normal: 100, long: 100 },
    attack: startTogether,
  },
];
