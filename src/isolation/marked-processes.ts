import { closeSync, openSync, readdirSync, readSync } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";

/** Carries a server's marker; children inherit it, so it also names those that left the process group. */
export const childMarkerVariable = "PLUGBOARD_CHILD";

const assignment = Buffer.from(`${childMarkerVariable}=`);
/** Linux refuses to start a program with a larger environment than this by default. */
const maxEnvironmentBytes = 2 * 1_024 * 1_024;
/** About a millisecond of reading; then other work gets its turn. */
const processesPerTurn = 64;

type Pass = Generator<void, Map<string, number[]>>;

/**
 * One pass over `/proc`: the processes that carry any of `markers`, by marker. Zombies have no
 * environment and are not among them. On systems without `/proc` nothing is ever found.
 */
function* findMarked(markers: ReadonlySet<string>): Pass {
  const found = new Map<string, number[]>();
  const environment = Buffer.allocUnsafe(maxEnvironmentBytes);
  let sinceYield = 0;
  for (const pid of processIds()) {
    for (const marker of readMarkers(pid, environment)) {
      if (!markers.has(marker)) continue;
      const pids = found.get(marker) ?? [];
      found.set(marker, [...pids, pid]);
    }
    sinceYield += 1;
    if (sinceYield % processesPerTurn === 0) yield;
  }
  return found;
}

function processIds(): readonly number[] {
  if (process.platform !== "linux") return [];
  try {
    return readdirSync("/proc").map(Number).filter(Number.isInteger);
  } catch {
    return [];
  }
}

function readMarkers(pid: number, buffer: Buffer): readonly string[] {
  let file: number | undefined;
  try {
    file = openSync(`/proc/${pid}/environ`, "r");
    const environment = buffer.subarray(0, readSync(file, buffer));
    const start = startOfValue(environment);
    if (start === -1) return [];
    const end = environment.indexOf(0, start);
    return environment.toString("latin1", start, end === -1 ? undefined : end).split(":");
  } catch {
    // Gone in the meantime, or not ours to read and therefore not started by us.
    return [];
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

function startOfValue(environment: Buffer): number {
  let at = environment.indexOf(assignment);
  while (at > 0 && environment[at - 1] !== 0) at = environment.indexOf(assignment, at + 1);
  return at === -1 ? -1 : at + assignment.length;
}

/** The same pass without a pause, for a process that is about to end. */
export function findMarkedSync(markers: ReadonlySet<string>): readonly number[] {
  const pass = findMarked(markers);
  let step = pass.next();
  while (step.done !== true) step = pass.next();
  return [...step.value.values()].flat();
}

interface PlannedPass {
  readonly markers: Set<string>;
  readonly found: Promise<Map<string, number[]>>;
}

let running: Promise<unknown> = Promise.resolve();
let planned: PlannedPass | undefined;

/**
 * The processes that carry `marker` now. Callers that ask while a pass is under way share the next
 * one, so that stopping a hundred servers at once does not read `/proc` a hundred times.
 */
export async function markedProcesses(marker: string): Promise<readonly number[]> {
  planned ??= planPass(new Set());
  planned.markers.add(marker);
  const found = await planned.found;
  return found.get(marker) ?? [];
}

function planPass(markers: Set<string>): PlannedPass {
  const found = running.then(async () => {
    await nextTurn();
    planned = undefined;
    const pass = findMarked(markers);
    let step = pass.next();
    while (step.done !== true) {
      await nextTurn();
      step = pass.next();
    }
    return step.value;
  });
  running = found;
  return { markers, found };
}
