import { readlinkSync } from "node:fs";
import path from "node:path";

import { readProcText } from "./read-proc-file.ts";

/** Carries the names of the server a process belongs to; children inherit it, whatever group they move to. */
export const childMarkerVariable = "PLUGBOARD_CHILD";

/** A name for one child and everything that descends from it, to be put into its environment. */
export interface ChildMarker {
  readonly id: string;
  readonly variables: Readonly<Record<string, string>>;
}

/** When the process started, in ticks since the machine did; nothing where there is no such process, or no `/proc`. */
export function readStartTicks(pid: number): number | undefined {
  return readProcessState(pid)?.startTicks;
}

export function readProcessState(
  pid: number,
): { readonly startTicks: number; readonly isZombie: boolean } | undefined {
  const text = readProcText(pid, "stat");
  if (text === undefined) return undefined;
  // The second field is the program's name, which may contain anything.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return { isZombie: fields[0] === "Z", startTicks: Number(fields[19]) };
}

const ownStartTicks = process.platform === "linux" ? readStartTicks(process.pid) : undefined;

/** Whether this is the thread that a process begins with. `node:worker_threads` says it too, but takes 2 ms to load. */
const isMainThread = ownStartTicks !== undefined && readThreadId() === process.pid;

/** Linux numbers threads like processes: the first thread of a process has its number. */
function readThreadId(): number | undefined {
  try {
    return Number(path.posix.basename(readlinkSync("/proc/thread-self")));
  } catch {
    return undefined;
  }
}

/** Tells threads of a process apart. It is no secret: `node:crypto` would take 2 ms to load. */
const threadPart = Math.floor(Math.random() * 2 ** 32)
  .toString(16)
  .padStart(8, "0");

/** What all markers of this thread begin with; the process in front, so that others see whether it still lives. */
export const hostId = `${process.pid}-${ownStartTicks ?? ""}-${threadPart}`;

let childrenNamed = 0;

export function createChildMarker(): ChildMarker {
  childrenNamed += 1;
  const id = `${hostId}.${childrenNamed}`;
  // A host that is itself some host's server keeps that one's marker in front, so that whoever
  // stops the outer server finds the inner ones, too.
  const outer = process.env[childMarkerVariable];
  return { id, variables: { [childMarkerVariable]: outer === undefined ? id : `${outer}:${id}` } };
}

/*
 * The second mark is a limit on file locks, which Linux hands down to children and has not enforced since 2.4: a
 * process may empty its environment and leave its session, but no unprivileged one can raise such a limit again.
 * The number says who set it. Later processes have lower ones, because the servers of a host that is itself a server
 * can only lower what they inherit.
 */
const ours = 2n ** 62n;
const slots = 2n ** 9n;
const pidSpan = 2n ** 22n;
const tickSpan = 2n ** 31n;

/** The limits of this process's children; there is one of it in a process, so that no two living children share one. */
export class LockLimits {
  readonly #takenSlots = new Set<bigint>();

  /**
   * A limit that no living child of this process has; nothing when all are taken, or where there is no `/proc`.
   * Workers do without: they would have to agree with each other.
   */
  take(): bigint | undefined {
    if (ownStartTicks === undefined || !isMainThread) return undefined;
    const lateness = tickSpan - 1n - (BigInt(ownStartTicks) % tickSpan);
    const host = ours + (lateness * pidSpan + BigInt(process.pid)) * slots;
    for (let slot = 0n; slot < slots; slot += 1n) {
      if (this.#takenSlots.has(slot)) continue;
      this.#takenSlots.add(slot);
      return host + slot;
    }
    return undefined;
  }

  giveBack(limit: bigint): void {
    this.#takenSlots.delete(limit % slots);
  }
}

/** Whether the limit was set by a process that is gone; false for limits that are none of ours. */
export function isLimitOfDeadHost(limit: bigint): boolean {
  if (limit < ours || limit >= 2n * ours) return false;
  const host = (limit - ours) / slots;
  const startTicks = readStartTicks(Number(host % pidSpan));
  if (startTicks === undefined) return true;
  return tickSpan - 1n - (BigInt(startTicks) % tickSpan) !== host / pidSpan;
}

/** Whether the child was named by a process that is gone; false for names of another form. */
export function isMarkerOfDeadHost(id: string): boolean {
  const match = /^(\d+)-(\d+)-[0-9a-f]+\.\d+$/.exec(id);
  return match !== null && readStartTicks(Number(match[1])) !== Number(match[2]);
}
