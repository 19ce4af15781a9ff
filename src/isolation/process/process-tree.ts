import { type SpawnOptions, spawn, spawnSync } from "node:child_process";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";

import { systemClock } from "../../ports/clock.ts";
import { type ChildMarker, LockLimits } from "./child-mark.ts";
import {
  type FamilyMark,
  findMarkedSync,
  markedProcesses,
  orphanedProcesses,
  orphanedProcessesSync,
  readLockLimit,
} from "./marked-processes.ts";
import { Watchdog } from "./watchdog.ts";

type StopSignal = "SIGTERM" | "SIGKILL";

/**
 * Signals every process of the group that `pid` leads; `0` only asks. False when nobody is left.
 * Only for a leader that is alive or whose group was last seen alive: the number of a group that
 * is gone may belong to a stranger.
 */
export function signalGroup(pid: number, signal: StopSignal | 0): boolean {
  try {
    process.kill(-pid, signal);
    return true;
  } catch (error) {
    // EPERM: someone is there who changed user, such as a setuid program.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** Signals every process that carries `mark`, whatever its group; the number of processes found. */
export async function sweepMarked(mark: FamilyMark, signal: StopSignal | 0): Promise<number> {
  const pids = await markedProcesses(mark);
  for (const pid of pids) signalProcess(pid, signal);
  return pids.length;
}

function signalProcess(pid: number, signal: StopSignal | 0): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It ended between being found and being signalled.
  }
}

const liveTrees = new Set<ProcessTree>();
const lockLimits = new LockLimits();
const watchdog = new Watchdog();
let isPrepared = false;
/** Set while what an earlier host left has not been looked for. */
let orphanTimer: NodeJS.Timeout | undefined;

/**
 * Makes sure that what is started next ends with this process. What an earlier host left is ended, once: some time
 * after the first start, or together with the first server.
 */
export function prepareToStart(): void {
  watchdog.start();
  if (isPrepared) return;
  isPrepared = true;
  process.on("exit", killAtExit);
  orphanTimer = setTimeout(endOrphansNow, orphanDelayMs).unref();
}

/** The limit is set in milliseconds; on a machine with ten times as much work as it can do, in a tenth of a second. */
const longestMarkingMs = 250;
/** So many leaders in a row without their limit: it cannot be set here. */
const missesToGiveUp = 3;
let misses = 0;

/**
 * A server's process with all its descendants, from its start until `release()`. While it is not
 * released, the end of the host ends it as well. `prepareToStart` comes before.
 */
export class ProcessTree {
  /** The process the host started; it leads the group. */
  readonly pid: number;
  readonly mark: FamilyMark;
  readonly #startedAt = systemClock.monotonic();

  constructor(pid: number, marker: ChildMarker) {
    this.pid = pid;
    this.mark = { id: marker.id, lockLimit: lockLimits.take() };
    liveTrees.add(this);
    watchdog.watch(pid, this.mark.lockLimit);
  }

  /**
   * Whether what the leader starts from now on carries its limit. True as well where no limit can be set, for a
   * leader that is gone, and after a while in any case: nobody waits for this in vain.
   */
  isMarked(): boolean {
    const { lockLimit } = this.mark;
    if (lockLimit === undefined || misses >= missesToGiveUp) return true;
    const limit = readLockLimit(this.pid);
    if (limit === lockLimit) misses = 0;
    if (limit === lockLimit || limit === "gone") return true;
    if (systemClock.monotonic() - this.#startedAt < longestMarkingMs) return false;
    misses += 1;
    return true;
  }

  /** For a leader that is alive. */
  signal(signal: StopSignal): void {
    if (process.platform !== "win32") signalGroup(this.pid, signal);
    // A failure shows in what follows: the leader does not end.
    else spawn(...taskkill(this.pid)).on("error", () => {});
  }

  /**
   * For a leader that is gone: signals what it left behind and says whether anything is still there.
   * On Linux the marks decide, because a group may live on as zombies that nobody collects; what
   * dropped them but stayed in the group is killed without notice. Windows keeps no link from
   * a process to a parent that is gone.
   */
  async signalLeftovers(signal: StopSignal | 0): Promise<boolean> {
    endOrphansNow();
    if (process.platform === "win32") return false;
    if (process.platform !== "linux") return signalGroup(this.pid, signal);
    const marked = await sweepMarked(this.mark, signal);
    if (marked === 0) signalGroup(this.pid, "SIGKILL");
    return marked > 0;
  }

  /** Once nothing of the tree is left. */
  release(): void {
    if (!liveTrees.delete(this)) return;
    watchdog.forget(this.pid);
    if (this.mark.lockLimit !== undefined) lockLimits.giveBack(this.mark.lockLimit);
  }
}

/** Windows knows no groups; `taskkill` follows the links from child to parent, and always by force. */
function taskkill(pid: number): [command: string, args: string[], options: SpawnOptions] {
  const system = path.join(process.env["SystemRoot"] ?? String.raw`C:\Windows`, "System32");
  const args = ["/pid", String(pid), "/t", "/f"];
  return [path.join(system, "taskkill.exe"), args, { stdio: "ignore", windowsHide: true }];
}

function killAtExit(): void {
  killLiveTrees();
  if (takeOrphanTimer()) for (const pid of orphanedProcessesSync()) signalProcess(pid, "SIGTERM");
}

function killLiveTrees(): void {
  if (liveTrees.size === 0) return;
  for (const { pid } of liveTrees) {
    if (process.platform === "win32") spawnSync(...taskkill(pid));
    else signalGroup(pid, "SIGKILL");
  }
  for (const pid of findMarkedSync([...liveTrees].map(({ mark }) => mark)))
    signalProcess(pid, "SIGKILL");
}

/**
 * The watchdog of a host that was killed a moment ago has done its work by then, and the first servers of this one
 * have mostly started.
 */
const orphanDelayMs = 2_000;
/** Orphans get about as long as the watchdog gives them. */
const orphanGraceMs = 1_000;

/** True for the first who asks. */
function takeOrphanTimer(): boolean {
  const isFirst = orphanTimer !== undefined;
  clearTimeout(orphanTimer);
  orphanTimer = undefined;
  return isFirst;
}

function endOrphansNow(): void {
  if (takeOrphanTimer()) void endOrphans();
}

/** Ends what a host left behind that was killed together with its watchdog. */
async function endOrphans(): Promise<void> {
  const orphans = await orphanedProcesses();
  for (const pid of orphans) signalProcess(pid, "SIGTERM");
  if (orphans.length === 0) return;
  await delay(orphanGraceMs, undefined, { ref: false });
  for (const pid of await orphanedProcesses()) signalProcess(pid, "SIGKILL");
}
