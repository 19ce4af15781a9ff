import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";

import { afterEach, describe, expect, it, onTestFinished } from "vitest";

import { isAlive } from "../../../tests/fixtures/is-alive.ts";
import { fixtures } from "../../../tests/fixtures/stdio/observe-server.ts";
import { childMarkerVariable, createChildMarker, readStartTicks } from "./child-mark.ts";
import { orphanedProcesses } from "./marked-processes.ts";
import { signalGroup, sweepMarked } from "./process-tree.ts";

const started: ChildProcess[] = [];

afterEach(() => {
  for (const child of started.splice(0)) child.kill("SIGKILL");
});

/** A process that stays, its environment all its own. */
async function startMarked(variables: Readonly<Record<string, string>>): Promise<ChildProcess> {
  return await startCommand("/bin/sleep", ["600"], variables);
}

async function startCommand(
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<ChildProcess> {
  const child = spawn(command, args, { env, stdio: "ignore", detached: true });
  started.push(child);
  await once(child, "spawn");
  return child;
}

/** The watchdog of a host. */
function watchdogOf(host: ChildProcess): number {
  const children = readFileSync(`/proc/${host.pid}/task/${host.pid}/children`, "utf8");
  const found = children
    .trim()
    .split(" ")
    .find((pid) => readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("plugboard-watchdog"));
  return Number(found ?? Number.NaN);
}

describe.skipIf(process.platform === "win32")("signalling a group", () => {
  it("STD-09: reaches the group and says when nobody is left", async () => {
    const child = await startMarked({});
    const exit = once(child, "exit");
    expect(signalGroup(child.pid!, 0)).toBe(true);
    expect(signalGroup(child.pid!, "SIGTERM")).toBe(true);
    await expect(exit).resolves.toStrictEqual([null, "SIGTERM"]);
    expect(signalGroup(child.pid!, 0)).toBe(false);
  });
});

describe.skipIf(process.platform !== "linux")("finding processes by their marker", () => {
  it("B9: signals the marked ones in whatever group, and no others", async () => {
    const [marker, other] = [createChildMarker(), createChildMarker()];
    const marked = [await startMarked(marker.variables), await startMarked(marker.variables)];
    const stranger = await startMarked(other.variables);
    const exits = marked.map((child) => once(child, "exit"));
    await expect(sweepMarked(marker, 0)).resolves.toBe(2);
    await expect(sweepMarked(marker, "SIGKILL")).resolves.toBe(2);
    await Promise.all(exits);
    await expect(sweepMarked(marker, 0)).resolves.toBe(0);
    expect(isAlive(stranger.pid!)).toBe(true);
  });

  it("many searches at once each find their own", async () => {
    const markers = Array.from({ length: 5 }, createChildMarker);
    for (const { variables } of markers) await startMarked(variables);
    const found = await Promise.all(markers.map(({ id }) => sweepMarked({ id }, 0)));
    expect(found).toStrictEqual([1, 1, 1, 1, 1]);
  });

  it("a value that only mentions the marker's variable is not the marker", async () => {
    const { id } = createChildMarker();
    await startMarked({ OTHER: `${childMarkerVariable}=${id}`, [`X${childMarkerVariable}`]: id });
    await expect(sweepMarked({ id }, 0)).resolves.toBe(0);
  });

  it("the servers of a host that is a server itself carry both markers", async () => {
    const outer = createChildMarker();
    process.env[childMarkerVariable] = outer.id;
    const inner = createChildMarker();
    delete process.env[childMarkerVariable];
    await startMarked({ A: "1", ...inner.variables, Z: "1" });
    await expect(sweepMarked(inner, 0)).resolves.toBe(1);
    await expect(sweepMarked(outer, 0)).resolves.toBe(1);
  });
});

/** The next process to start gets the number after the one written here. */
const lastPidFile = "/proc/sys/kernel/ns_last_pid";

/** A process with this number, as far as nobody else takes it first; nothing where it cannot be chosen. */
async function startWithPid(pid: number): Promise<ChildProcess | undefined> {
  for (let attempt = 0; attempt < 200; attempt += 1) {
    try {
      writeFileSync(lastPidFile, String(pid - 1));
    } catch {
      return undefined;
    }
    const child = await startMarked({});
    if (child.pid === pid) return child;
    child.kill("SIGKILL");
  }
  return undefined;
}

/** A program of the fixtures that has said its first line. */
async function startProgram(
  program: string,
  argument: string,
): Promise<ChildProcess & { readonly line: string }> {
  const args = ["--import", "tsx", path.join(fixtures, program), argument];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "ignore"] });
  started.push(child);
  const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  return Object.assign(child, { line });
}

/** A host with a server and its three children, one of them without an environment; their ids. */
async function startHost(how: string): Promise<{ host: ChildProcess; pids: number[] }> {
  const host = await startProgram("exiting-host.mjs", how);
  return { host, pids: JSON.parse(host.line) as number[] };
}

describe.skipIf(process.platform !== "linux" || !existsSync("/usr/bin/prlimit"))(
  "the limit on file locks",
  () => {
    /** A folder with a `prlimit` that first does something else. */
    async function delayedBy(command: string): Promise<string> {
      const folder = await mkdtemp(path.join(tmpdir(), "prlimit-"));
      onTestFinished(() => rm(folder, { recursive: true }));
      const script = `#!/bin/sh\n${command}\nexec /usr/bin/prlimit "$@"\n`;
      await writeFile(path.join(folder, "prlimit"), script, { mode: 0o755 });
      return folder;
    }

    it("B1: is set before the first message of a server is heard", async () => {
      const { line } = await startProgram("hearing-host.mjs", await delayedBy("sleep 0.1"));
      expect(line).toMatch(/^\d{19}$/);
    });

    it("STD-24: is taken in the first thread only: workers would have to agree on their limits", async () => {
      const { line } = await startProgram("limited-threads.mjs", "");
      expect(JSON.parse(line)).toStrictEqual({ first: true, worker: false });
    });

    it("B1: is not waited for where it cannot be set", async () => {
      const { line } = await startProgram("hearing-host.mjs", await delayedBy("exit 1"));
      expect(line).toBe("unlimited");
    });
  },
);

describe.skipIf(process.platform !== "linux")("the end of the host", () => {
  it.each([
    ["by process.exit", "exit"],
    ["by an uncaught error", "throw"],
    ["after it closed the connection", "close"],
  ])("STD-24: ends every process of its servers, %s", async (_name, how) => {
    const { pids } = await startHost(how);
    expect(pids).toHaveLength(4);
    await expect.poll(() => pids.filter(isAlive)).toStrictEqual([]);
  });

  it.each(["SIGKILL", "SIGTERM", "SIGINT", "SIGHUP"] as const)(
    "STD-24, B12: ends every process of its servers, by %s that it does not handle",
    async (signal) => {
      const { host, pids } = await startHost("wait");
      host.kill(signal);
      await expect.poll(() => pids.filter(isAlive)).toStrictEqual([]);
    },
  );

  /** The processes of a host that was killed together with its watchdog. */
  async function leaveOrphans(): Promise<readonly number[]> {
    const { host, pids } = await startHost("wait");
    // A host that stands still cannot replace it.
    host.kill("SIGSTOP");
    process.kill(watchdogOf(host), "SIGKILL");
    host.kill("SIGKILL");
    await once(host, "exit");
    expect(pids.filter(isAlive)).toStrictEqual(pids);
    return pids;
  }

  it("STD-24: what a host left that was killed with its watchdog ends at the next start", async () => {
    const pids = await leaveOrphans();
    const next = await startHost("wait");
    await expect.poll(() => pids.filter(isAlive)).toStrictEqual([]);
    expect(next.pids.filter(isAlive)).toStrictEqual(next.pids);
    next.host.kill("SIGTERM");
  });

  it("STD-24: a next host that is closed at once ends them, too", async () => {
    const pids = await leaveOrphans();
    await startHost("close");
    await expect.poll(() => pids.filter(isAlive)).toStrictEqual([]);
  });

  it("STD-24: processes that only look like ours are left alone", async () => {
    const { host, pids } = await startHost("wait");
    const ticks = readStartTicks(host.pid!);
    const strangers = [
      // Named by a host that lives, by something that is no host, and by nobody.
      await startMarked({ [childMarkerVariable]: createChildMarker().id }),
      await startMarked({ [childMarkerVariable]: `${host.pid}-${ticks}-00000000` }),
      await startMarked({ OTHER: `${childMarkerVariable}=${host.pid}-${ticks}-00000000.1` }),
      // A limit on locks that somebody else set.
      await startCommand("/bin/sh", ["-c", "ulimit -w 4711; exec sleep 600"]),
      // A name in its command line.
      await startCommand("/bin/sh", [
        "-c",
        "sleep 600; :",
        `${childMarkerVariable}=${host.pid}-${ticks}-00000000.1`,
      ]),
    ];
    host.kill("SIGKILL");
    await expect.poll(() => pids.filter(isAlive)).toStrictEqual([]);
    const orphans = await orphanedProcesses();
    expect(strangers.filter(({ pid }) => orphans.includes(pid!))).toStrictEqual([]);
    expect(strangers.map(({ pid }) => isAlive(pid!))).not.toContain(false);
  });

  it("STD-24: a watchdog that was killed is replaced", async () => {
    const { host, pids } = await startHost("wait");
    const watchdog = watchdogOf(host);
    process.kill(watchdog, "SIGKILL");
    await expect.poll(() => watchdogOf(host)).not.toBeOneOf([watchdog, Number.NaN]);
    // The host starts the new one and tells it everything in one turn: when it answers, that is over.
    const answer = once(host.stdout!, "data");
    host.kill("SIGUSR2");
    await answer;
    host.kill("SIGKILL");
    await expect.poll(() => pids.filter(isAlive)).toStrictEqual([]);
  });

  it("STD-24: a process that got the number of one of ours is left alone", async ({ skip }) => {
    const ours = await startMarked({});
    const host = await startProgram("watching-host.mjs", String(ours.pid));
    const watchdog = watchdogOf(host);
    const end = once(ours, "exit");
    ours.kill("SIGKILL");
    await end;
    const stranger = await startWithPid(ours.pid!);
    if (stranger === undefined) return skip("only root can choose the number of a process");
    host.kill("SIGKILL");
    await expect.poll(() => isAlive(watchdog)).toBe(false);
    expect(isAlive(stranger.pid!)).toBe(true);
  });
});
