import { type SpawnOptions, spawn, spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import path from "node:path";

import { childMarkerVariable, findMarkedSync, markedProcesses } from "./marked-processes.ts";

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

/** Signals every process that carries `marker`, whatever its group; the number of processes found. */
export async function sweepMarked(marker: string, signal: StopSignal | 0): Promise<number> {
  const pids = await markedProcesses(marker);
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

/** A name for one child and everything that descends from it, to be put into its environment. */
export interface ChildMarker {
  readonly id: string;
  readonly variables: Readonly<Record<string, string>>;
}

export function createChildMarker(): ChildMarker {
  const id = randomUUID();
  // A host that is itself some host's server keeps that one's marker in front, so that whoever
  // stops the outer server finds the inner ones, too.
  const outer = process.env[childMarkerVariable];
  return { id, variables: { [childMarkerVariable]: outer === undefined ? id : `${outer}:${id}` } };
}

const liveTrees = new Set<ProcessTree>();
let isExitHooked = false;

/**
 * A server's process with all its descendants, from its start until `release()`. While it is not
 * released, the end of the host ends it as well; `liveTrees` is also what a watchdog outside this
 * process would have to be told.
 */
export class ProcessTree {
  /** The process the host started; it leads the group. */
  readonly pid: number;
  readonly marker: string;

  constructor(pid: number, marker: ChildMarker) {
    this.pid = pid;
    this.marker = marker.id;
    liveTrees.add(this);
    if (!isExitHooked) process.on("exit", killLiveTrees);
    isExitHooked = true;
  }

  /** For a leader that is alive. */
  signal(signal: StopSignal): void {
    if (process.platform !== "win32") signalGroup(this.pid, signal);
    // A failure shows in what follows: the leader does not end.
    else spawn(...taskkill(this.pid)).on("error", () => {});
  }

  /**
   * For a leader that is gone: signals what it left behind and says whether anything is still there.
   * On Linux the marker decides, because a group may live on as zombies that nobody collects; what
   * dropped the marker but stayed in the group is killed without notice. Windows keeps no link from
   * a process to a parent that is gone.
   */
  async signalLeftovers(signal: StopSignal | 0): Promise<boolean> {
    if (process.platform === "win32") return false;
    if (process.platform !== "linux") return signalGroup(this.pid, signal);
    const marked = await sweepMarked(this.marker, signal);
    if (marked === 0) signalGroup(this.pid, "SIGKILL");
    return marked > 0;
  }

  /** Once nothing of the tree is left. */
  release(): void {
    liveTrees.delete(this);
  }
}

/** Windows knows no groups; `taskkill` follows the links from child to parent, and always by force. */
function taskkill(pid: number): [command: string, args: string[], options: SpawnOptions] {
  const system = path.join(process.env["SystemRoot"] ?? String.raw`C:\Windows`, "System32");
  const args = ["/pid", String(pid), "/t", "/f"];
  return [path.join(system, "taskkill.exe"), args, { stdio: "ignore", windowsHide: true }];
}

function killLiveTrees(): void {
  if (liveTrees.size === 0) return;
  for (const { pid } of liveTrees) {
    if (process.platform === "win32") spawnSync(...taskkill(pid));
    else signalGroup(pid, "SIGKILL");
  }
  const markers = new Set([...liveTrees].map((tree) => tree.marker));
  for (const pid of findMarkedSync(markers)) signalProcess(pid, "SIGKILL");
}
