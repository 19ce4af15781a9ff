import { readdirSync, readFileSync } from "node:fs";

import { realServer, startEverythingOverHttp } from "../../fixtures/servers/real-servers.ts";
import type { Lab } from "../lab.ts";
import { createBareHost, type Product } from "../product.ts";
import type { Figures, Row } from "../row.ts";

const server = "real";
const intervalMs = 50;
const patienceMs = 20_000;
const mebibyte = 1_048_576;

/** What this process holds on to. */
interface Holdings {
  readonly processes: number;
  readonly handles: number;
  readonly descriptors: number;
  readonly listeners: number;
}

function holdings(): Holdings {
  return {
    processes: childCount(),
    // Timers come and go with the load.
    handles: process.getActiveResourcesInfo().filter((kind) => kind !== "Timeout").length,
    descriptors: readdirSync("/proc/self/fd").length,
    listeners: process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0),
  };
}

/** Children of this process, those included that nobody has reaped. */
function childCount(): number {
  const parents = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        // The name of the program may hold anything, and stands before the last bracket.
        const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
        return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
      } catch {
        return 0;
      }
    });
  return parents.filter((parent) => parent === process.pid).length;
}

/** Memory in use once everything that can be freed has been. */
function memory(): { readonly heapMb: number; readonly residentMb: number } {
  globalThis.gc?.();
  const { heapUsed, rss } = process.memoryUsage();
  return { heapMb: heapUsed / mebibyte, residentMb: rss / mebibyte };
}

/** A server that can be restarted as often as a row likes. */
interface Restartable {
  /** How a call may end while the server is gone; anything else is wrong. */
  readonly codes: readonly string[];
  /** Resolves to the code of its error, if it has one. */
  call(): Promise<string | undefined>;
  toolCount(): number;
  /** Lets go of what is kept for a while to be used again. */
  rest?(): Promise<void>;
  /** Ends the server, and resolves to the time until it was back: infinite when it never was. */
  restart(): Promise<number>;
}

async function restartOften(restartable: Restartable, lab: Lab): Promise<Figures> {
  const figures = { "not restarted": 0, "wrong ends": 0 };
  let warnings = 0;
  const onWarning = ({ name }: Error): void => {
    if (name === "MaxListenersExceededWarning") warnings += 1;
  };
  process.on("warning", onWarning);
  const toolsBefore = restartable.toolCount();
  await restartable.rest?.();
  const before = holdings();
  const calls: Promise<void>[] = [];
  const call = async (): Promise<void> => {
    const code = await restartable.call();
    if (code !== undefined && !restartable.codes.includes(code)) figures["wrong ends"] += 1;
  };
  let early = memory();
  let slowestMs = 0;
  const load = setInterval(() => void calls.push(call()), intervalMs);
  try {
    for (let round = 0; round < lab.count; round += 1) {
      const backMs = await restartable.restart();
      if (Number.isFinite(backMs)) slowestMs = Math.max(slowestMs, backMs);
      else figures["not restarted"] += 1;
      // A server that has answered nothing is in no hurry to come back.
      await call();
      if (round === Math.floor(lab.count / 4)) early = memory();
    }
  } finally {
    clearInterval(load);
    await Promise.all(calls);
    process.off("warning", onWarning);
  }
  await restartable.rest?.();
  const names = Object.keys(before) as (keyof Holdings)[];
  // The system takes a moment to clear away what has been killed.
  await lab.msUntil(() => names.every((name) => holdings()[name] <= before[name]), 3_000);
  const after = holdings();
  const late = memory();
  const perHundred = 100 / (lab.count * 0.75);
  return {
    ...figures,
    "tools lost": toolsBefore - restartable.toolCount(),
    "max ms to be back": slowestMs,
    ...Object.fromEntries(
      names.map((name) => [`${name} left`, Math.max(0, after[name] - before[name])]),
    ),
    "listener warnings": warnings,
    "heap MB per 100 restarts": (late.heapMb - early.heapMb) * perHundred,
    "RSS MB per 100 restarts": (late.residentMb - early.residentMb) * perHundred,
  };
}

const echo = { tool: "echo", args: { message: "load" } };

function restartProcess(lab: Lab): Promise<Figures> {
  const { subject } = lab;
  const restartable: Restartable = {
    codes: ["connection_lost"],
    async call() {
      const { ok, code } = await lab.call({ server, ...echo });
      return ok ? undefined : code;
    },
    toolCount: () => subject.view(server).tools,
    restart() {
      const { pid } = subject.view(server);
      process.kill(pid ?? 0, "SIGKILL");
      const isBack = (): boolean => {
        const view = subject.view(server);
        return view.state === "connected" && view.pid !== pid;
      };
      return lab.msUntil(isBack, patienceMs);
    },
  };
  return restartOften(restartable, lab);
}

/** In a host of its own: the address is known when the server runs. */
async function restartSite(lab: Lab, product: Product): Promise<Figures> {
  let site = await startEverythingOverHttp();
  const { url, port } = site;
  try {
    await using host = await createBareHost(product, {
      servers: { [server]: { url, transport: "streamable-http" } },
    });
    const session = host.session({ level: "yolo" });
    const call = async (): Promise<string | undefined> => {
      const outcome = await session.call(`mcp__${server}__${echo.tool}`, echo.args);
      return outcome.ok ? undefined : outcome.error.code;
    };
    await call();
    return await restartOften(
      {
        codes: ["connection_lost", "unreachable"],
        call,
        toolCount: () => host.server(server).toolCount ?? 0,
        rest: () => host.disconnect(server),
        async restart() {
          await site[Symbol.asyncDispose]();
          site = await startEverythingOverHttp(port);
          const startedAt = performance.now();
          while (performance.now() - startedAt < patienceMs)
            if ((await call()) === undefined) return performance.now() - startedAt;
          return Number.POSITIVE_INFINITY;
        },
      },
      lab,
    );
  } finally {
    await site[Symbol.asyncDispose]();
  }
}

const nothing = [
  "not restarted",
  "wrong ends",
  "tools lost",
  "processes left",
  "handles left",
  "descriptors left",
  "listeners left",
  "listener warnings",
];

const criteria = [
  ...nothing.map((figure) => ({ figure, atMost: 0 })),
  { figure: "heap MB per 100 restarts", atMost: 2, isPhysical: true },
  { figure: "RSS MB per 100 restarts", atMost: 16, isPhysical: true },
];

export const leakRows: readonly Row[] = [
  {
    id: "CON-15",
    trigger: "kill -9 of server-everything at 20 calls/s",
    expected: "back each time with its tools, nothing left behind",
    measured:
      "restarts of the published server under load; what this process holds before and after. Growth is measured from a quarter of the way on",
    criteria,
    servers: { [server]: realServer("server-everything", "stdio") },
    counts: { short: 5, normal: 200, long: 1_000 },
    attack: restartProcess,
  },
  {
    id: "CON-15",
    trigger: "the same over HTTP, on the same port again",
    expected: "found again each time with its tools, nothing left behind",
    measured: "the same; the time to be back is that from when the port is open again",
    criteria,
    servers: {},
    counts: { short: 3, normal: 60, long: 200 },
    attack: restartSite,
  },
];
