import { readdirSync, readlinkSync, statSync } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";

import {
  childMarkerVariable,
  isLimitOfDeadHost,
  isMarkerOfDeadHost,
  readProcessState,
} from "./child-mark.ts";
import { readProcEnvironment, readProcText } from "./read-proc-file.ts";

const assignment = Buffer.from(`${childMarkerVariable}=`);
const lockLimitTitle = "\nMax file locks ";
/** About a millisecond of reading; then other work gets its turn. */
const processesPerTurn = 32;

/** What the processes of one server carry: a name in their environment, and a limit where one was set. */
export interface FamilyMark {
  readonly id: string;
  readonly lockLimit?: bigint | undefined;
}

type Pass<T> = Generator<void, T>;

/**
 * One pass over `/proc`: the processes that carry any of `marks`, by the name of the mark. Zombies are not among
 * them. On systems without `/proc` nothing is ever found. Adds the processes whose host is gone to `orphans`, if given.
 */
function* findMarked(
  marks: readonly FamilyMark[],
  orphans?: number[],
): Pass<Map<string, readonly number[]>> {
  const ids = new Set(marks.map(({ id }) => id));
  const idOfLimit = new Map(marks.map(({ id, lockLimit }) => [lockLimit, id]));
  const found = new Map<string, number[]>();
  for (const process of markedProcessesOnce()) {
    if (process === undefined) {
      yield;
      continue;
    }
    const { pid, markers, lockLimit } = process;
    const byLimit = lockLimit === undefined ? undefined : idOfLimit.get(lockLimit);
    for (const id of new Set([...markers, ...(byLimit === undefined ? [] : [byLimit])]))
      if (ids.has(id)) found.set(id, [...(found.get(id) ?? []), pid]);
    if (orphans !== undefined && isOfThisUser(pid) && isOrphan(process)) orphans.push(pid);
  }
  return found;
}

interface MarkedProcess {
  readonly pid: number;
  readonly markers: readonly string[];
  readonly lockLimit: bigint | undefined;
}

/** A family that moves on from process to process faster than this is looked for again by whoever stops it. */
const maxLists = 10;

/**
 * Every living process with a mark of any host, as far as `isWanted`; `undefined` when other work should get
 * its turn. A process that ends between the list and the look may have left a child that the list does not have,
 * so what is new is looked at again until none ends meanwhile.
 */
function* markedProcessesOnce(
  isWanted: (pid: number) => boolean = () => true,
): Generator<MarkedProcess | undefined> {
  const seen = new Set<number>();
  let hasOneEnded = true;
  for (let lists = 0; hasOneEnded && lists < maxLists; lists += 1) {
    hasOneEnded = false;
    for (const pid of processIds()) {
      if (seen.has(pid)) continue;
      seen.add(pid);
      if (seen.size % processesPerTurn === 0) yield undefined;
      if (!isWanted(pid)) continue;
      const environment = readProcEnvironment(pid);
      // A zombie has no environment any more, or none that can be read; nor has another user's process.
      const mayHaveEnded = environment === undefined || environment.length === 0;
      const markers = environment === undefined ? [] : markersIn(environment);
      const limits = readProcText(pid, "limits");
      const lockLimit = limits === undefined ? undefined : lockLimitIn(limits);
      const isMarked = markers.length > 0 || lockLimit !== undefined;
      const hasEnded = limits === undefined || ((isMarked || mayHaveEnded) && !isRunning(pid));
      if (hasEnded) hasOneEnded = true;
      else if (isMarked) yield { pid, markers, lockLimit };
    }
  }
}

/** Zombies have ended. */
function isRunning(pid: number): boolean {
  return readProcessState(pid)?.isZombie === false;
}

function processIds(): readonly number[] {
  if (process.platform !== "linux") return [];
  try {
    return readdirSync("/proc").map(Number).filter(Number.isInteger);
  } catch {
    return [];
  }
}

function markersIn(environment: Buffer): readonly string[] {
  const start = startOfValue(environment);
  if (start === -1) return [];
  const end = environment.indexOf(0, start);
  return environment.toString("latin1", start, end === -1 ? undefined : end).split(":");
}

function startOfValue(environment: Buffer): number {
  let at = environment.indexOf(assignment);
  while (at > 0 && environment[at - 1] !== 0) at = environment.indexOf(assignment, at + 1);
  return at === -1 ? -1 : at + assignment.length;
}

/** The limit that a process has; `gone` when there is no such process, or no `/proc`. */
export function readLockLimit(pid: number): bigint | "gone" | undefined {
  const limits = readProcText(pid, "limits");
  return limits === undefined ? "gone" : lockLimitIn(limits);
}

/** Nothing for the processes that have no such limit, which is nearly all. */
function lockLimitIn(limits: string): bigint | undefined {
  const start = limits.indexOf(lockLimitTitle);
  if (start === -1) return undefined;
  const line = limits.slice(start + lockLimitTitle.length, limits.indexOf("\n", start + 1));
  const match = /^ *\d+ +(\d+) /.exec(line);
  return match === null ? undefined : BigInt(match[1]!);
}

/** The processes that carry any of `marks`, for a process that is about to end. */
export function findMarkedSync(marks: readonly FamilyMark[]): readonly number[] {
  return [...new Set([...atOnce(findMarked(marks)).values()].flat())];
}

function atOnce<T>(pass: Pass<T>): T {
  let step = pass.next();
  while (step.done !== true) step = pass.next();
  return step.value;
}

interface PlannedPass {
  readonly marks: FamilyMark[];
  /** Filled by the pass, if somebody asked for them before it began. */
  orphans?: number[];
  readonly found: Promise<Map<string, readonly number[]>>;
}

let running: Promise<unknown> = Promise.resolve();
let planned: PlannedPass | undefined;

/**
 * The processes that carry `mark` now. Callers that ask while a pass is under way share the next
 * one, so that stopping a hundred servers at once does not read `/proc` a hundred times.
 */
export async function markedProcesses(mark: FamilyMark): Promise<readonly number[]> {
  planned ??= planPass();
  planned.marks.push(mark);
  const found = await planned.found;
  return found.get(mark.id) ?? [];
}

function planPass(): PlannedPass {
  const marks: FamilyMark[] = [];
  const found = running.then(async () => {
    await nextTurn();
    planned = undefined;
    return await inTurns(findMarked(marks, pass.orphans));
  });
  const pass: PlannedPass = { marks, found };
  running = found;
  return pass;
}

async function inTurns<T>(pass: Pass<T>): Promise<T> {
  let step = pass.next();
  while (step.done !== true) {
    await nextTurn();
    step = pass.next();
  }
  return step.value;
}

/**
 * The processes whose host is gone, started by any host of this user in this process namespace. In another
 * namespace, such as a container's, the numbers in a mark mean other processes. Shares a pass as `markedProcesses` does.
 */
export async function orphanedProcesses(): Promise<readonly number[]> {
  planned ??= planPass();
  const { found } = planned;
  const orphans = (planned.orphans ??= []);
  await found;
  return orphans;
}

/** `orphanedProcesses`, for a process that is about to end. */
export function orphanedProcessesSync(): readonly number[] {
  return atOnce(findOrphans());
}

function* findOrphans(): Pass<readonly number[]> {
  const orphans: number[] = [];
  for (const process of markedProcessesOnce(isOfThisUser))
    if (process === undefined) yield;
    else if (isOrphan(process)) orphans.push(process.pid);
  return orphans;
}

function isOrphan({ pid, markers, lockLimit }: MarkedProcess): boolean {
  const isOfDeadHost =
    markers.some(isMarkerOfDeadHost) || (lockLimit !== undefined && isLimitOfDeadHost(lockLimit));
  if (!isOfDeadHost) return false;
  const namespace = pidNamespace("self");
  return namespace !== undefined && pidNamespace(pid) === namespace;
}

function isOfThisUser(pid: number): boolean {
  return statSync(`/proc/${pid}`, { throwIfNoEntry: false })?.uid === process.getuid?.();
}

function pidNamespace(pid: number | "self"): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/ns/pid`);
  } catch {
    // It ended meanwhile.
    return undefined;
  }
}
