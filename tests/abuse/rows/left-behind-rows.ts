import { once } from "node:events";
import { cpus } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";

import { isAlive } from "../../fixtures/is-alive.ts";
import { Diary } from "../diary.ts";
import { hostileEntry } from "../hostile/hostile-entry.ts";
import type { Lab } from "../lab.ts";
import type { Product } from "../product.ts";
import { Project } from "../project.ts";
import { type Figures, type Row, zero } from "../row.ts";
import { startProgram } from "../start-program.ts";

const program = path.resolve(import.meta.dirname, "../../fixtures/agent/left-host.mjs");
/** The server and the four it starts. */
const familySize = 5;
const signals = ["SIGKILL", "SIGTERM", "SIGINT", "SIGHUP"] as const;

/** Each server with its diary; every second one starts others. */
function makeServers(count: number) {
  const diaries = Array.from({ length: count }, () => new Diary());
  const entries = diaries.map(({ file }, index) =>
    index % 2 === 0
      ? hostileEntry("family", { diary: file })
      : hostileEntry("noted-start", { diary: file }),
  );
  return {
    entries: Object.fromEntries(entries.map((entry, index) => [`server-${index}`, entry])),
    families: diaries.filter((_, index) => index % 2 === 0),
  };
}

function idsIn(diaries: readonly Diary[]): readonly number[] {
  return diaries.flatMap((diary) => diary.entries().map(({ text }) => Number(text)));
}

async function until(isSo: () => boolean, patienceMs: number): Promise<void> {
  const deadline = performance.now() + patienceMs;
  while (!isSo() && performance.now() < deadline) await delay(20);
}

/** Starts a program with ten servers, ends it that way, and counts what is left. */
async function endProgram(lab: Lab, how: string): Promise<Figures> {
  using project = new Project();
  const { entries, families } = makeServers(10);
  const args = [project.home, JSON.stringify(entries), how];
  const child = startProgram(lab, program, args, { stderr: "ignore" });
  const exit = once(child, "exit");
  if (child.stdout === null) throw new Error("the program has no stdout");
  await once(createInterface({ input: child.stdout }), "line");
  const isStarting = how === "starting";
  const all = families.length * familySize;
  // What is killed while it starts is killed at another moment each time.
  if (isStarting) await until(() => idsIn(families).length > 0, 60_000);
  else await until(() => idsIn(families).length === all, 60_000);
  const startedAt = performance.now();
  if (isStarting) child.kill("SIGKILL");
  else if (signals.includes(how as never)) child.kill(how as NodeJS.Signals);
  await exit;
  const exitS = (performance.now() - startedAt) / 1_000;
  await until(() => idsIn(families).filter(isAlive).length === 0, 2_000);
  // What starts others while it is being ended has written their ids down by now.
  const left = idsIn(families).filter(isAlive);
  for (const pid of left) process.kill(pid, "SIGKILL");
  return {
    "programs ended": 1,
    "processes started": idsIn(families).length,
    survivors: left.length,
    "s to exit": exitS,
  };
}

async function endPrograms(lab: Lab, ways: readonly string[], rounds: number): Promise<Figures> {
  const sum: Record<string, number> = {};
  for (let round = 0; round < rounds; round += 1)
    for (const how of ways)
      for (const [figure, value] of Object.entries(await endProgram(lab, how)))
        sum[figure] =
          figure === "s to exit" ? Math.max(sum[figure] ?? 0, value) : (sum[figure] ?? 0) + value;
  return sum;
}

/** Stops servers of a host that goes on. */
async function stopServers(lab: Lab, product: Product): Promise<Figures> {
  let survivors = 0;
  let slowestS = 0;
  for (let round = 0; round < lab.count; round += 1) {
    using project = new Project();
    const { entries, families } = makeServers(2);
    await using host = await project.open(product, { servers: entries });
    await Promise.all(Object.keys(entries).map((name) => host.connect(name)));
    await until(() => idsIn(families).length === familySize, 60_000);
    const startedAt = performance.now();
    await host.disconnect("server-0");
    slowestS = Math.max(slowestS, (performance.now() - startedAt) / 1_000);
    const left = idsIn(families).filter(isAlive);
    for (const pid of left) process.kill(pid, "SIGKILL");
    survivors += left.length;
  }
  return { survivors, "s to stop": slowestS };
}

/** Makes one call, after which there is much to end, and stops the server while the host goes on. */
async function stopHog(
  lab: Lab,
  product: Product,
  { mode, settings, count }: Hog,
): Promise<Figures> {
  using project = new Project();
  const diary = new Diary();
  const servers = { hog: hostileEntry(mode, { ...settings, diary: diary.file }) };
  await using host = await project.open(product, { servers });
  const session = host.session({ agent: "a", level: "yolo" });
  const { ok } = await session.call({ server: "hog", tool: "attack" }, {}, { timeoutMs: 60_000 });
  await until(() => idsIn([diary]).length === count, 60_000);
  // While it hogs, H is called.
  await delay(lab.form === "short" ? 0 : 5_000);
  const startedAt = performance.now();
  await host.disconnect("hog");
  const stopS = (performance.now() - startedAt) / 1_000;
  const left = idsIn([diary]).filter(isAlive);
  for (const pid of left) process.kill(pid, "SIGKILL");
  const started = idsIn([diary]).length;
  return {
    "failed calls": Number(!ok),
    "processes started": started,
    survivors: left.length,
    "s to stop": stopS,
  };
}

interface Hog {
  readonly mode: string;
  readonly settings: Readonly<Record<string, number>>;
  /** How many ids it writes down. */
  readonly count: number;
}

const whole = { servers: {}, ownModes: ["family", "noted-start"], isBusy: true } as const;

/** What a server takes of the machine is its user's to limit, until it is isolated; here it must end with it. */
const hogging = {
  servers: {},
  isBusy: true,
  expected: "ends with its server",
  criteria: zero("failed calls", "survivors"),
} as const;

/** Whatever a host started is gone when the host is, and a server's when the server is. */
export const leftBehindRows: readonly Row[] = [
  {
    ...whole,
    id: "B8",
    trigger: "a server and its children take no notice of being told to end",
    expected: "end of input, SIGTERM, SIGKILL",
    measured: "a program with ten servers closes its host, ends",
    criteria: [{ figure: "s to exit", atMost: 5, isPhysical: true }, ...zero("survivors")],
    counts: { short: 1, normal: 5, long: 20 },
    attack: (lab) => endPrograms(lab, ["close"], lab.count),
  },
  {
    ...whole,
    id: "B9",
    trigger: "children in other sessions, without environment, without parent",
    expected: "all gone when the server is stopped",
    measured: "processes of a server that is disconnected while the host goes on",
    criteria: zero("survivors"),
    counts: { short: 1, normal: 5, long: 20 },
    attack: stopServers,
  },
  {
    ...whole,
    id: "B12",
    trigger: "kill -9 of a program with ten servers",
    expected: "the watchdog ends everything",
    measured: "survivors two seconds later",
    criteria: zero("survivors"),
    counts: { short: 1, normal: 50, long: 50 },
    attack: (lab) => endPrograms(lab, ["SIGKILL"], lab.count),
  },
  {
    ...whole,
    id: "B12",
    trigger: "every other way to end a program, and a kill while servers start",
    expected: "nothing is left",
    measured: "survivors two seconds later",
    criteria: zero("survivors"),
    counts: { short: 1, normal: 5, long: 50 },
    attack: (lab) =>
      endPrograms(lab, ["starting", "process.exit", "an error", ...signals.slice(1)], lab.count),
  },
  {
    ...hogging,
    id: "B13",
    trigger: "fork-bomb, processes",
    measured: "processes in other sessions, without environment, when the server is stopped",
    ownModes: ["fork-bomb"],
    counts: { short: 50, normal: 2_000, long: 2_000 },
    attack: (lab, product) =>
      stopHog(lab, product, { mode: "fork-bomb", settings: { n: lab.count }, count: lab.count }),
  },
  {
    ...hogging,
    id: "B14",
    trigger: "cpu-hog on all processors, seconds",
    measured: "its processes when the server is stopped; H meanwhile",
    ownModes: ["cpu-hog"],
    counts: { short: 5, normal: 30, long: 30 },
    attack: (lab, product) =>
      stopHog(lab, product, { mode: "cpu-hog", settings: { s: lab.count }, count: cpus().length }),
  },
  {
    ...hogging,
    id: "B15",
    trigger: "mem-hog, MB",
    measured: "its processes when the server is stopped; H meanwhile",
    ownModes: ["mem-hog"],
    counts: { short: 128, normal: 4_096, long: 4_096 },
    attack: (lab, product) =>
      stopHog(lab, product, { mode: "mem-hog", settings: { mb: lab.count }, count: 1 }),
  },
];
