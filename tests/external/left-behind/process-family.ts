import { readdirSync, readFileSync } from "node:fs";

interface RunningProcess {
  readonly pid: number;
  readonly parent: number;
  /** When it started; with the number it tells a process from a later one that got its number. */
  readonly startTicks: number;
  readonly command: string;
  /** In bytes; Linux hands it down to children and has not enforced it since 2.4.30. */
  readonly residentLimit: number;
}

/**
 * Finds all that a program started, without what Plugboard marks its servers with: by a limit on resident memory that
 * the program was started with and everything after it inherits, and by the links from child to parent.
 */
export class ProcessFamily {
  readonly #residentLimit: number;
  readonly #seen = new Set<string>();

  constructor(residentLimit: number) {
    this.#residentLimit = residentLimit;
  }

  /** Looks again; who was a member once is one until it is gone. The program, while it lives, comes first. */
  living(): readonly RunningProcess[] {
    const running = readProcesses();
    const isMember = (process: RunningProcess): boolean =>
      process.residentLimit === this.#residentLimit || this.#seen.has(keyOf(process));
    const members = withDescendants(running.filter(isMember), running);
    for (const member of members) this.#seen.add(keyOf(member));
    return members.toSorted((a, b) => a.startTicks - b.startTicks);
  }
}

function keyOf({ pid, startTicks }: RunningProcess): string {
  return `${pid} ${startTicks}`;
}

function withDescendants(
  members: readonly RunningProcess[],
  running: readonly RunningProcess[],
): readonly RunningProcess[] {
  const found = new Set(members);
  // A set that grows while it is walked is walked to its new end.
  for (const { pid } of found)
    for (const process of running) if (process.parent === pid) found.add(process);
  return [...found];
}

function readProcesses(): readonly RunningProcess[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => readProcess(Number(name)) ?? []);
}

/** Nothing for a process that is gone; a zombie is. */
function readProcess(pid: number): RunningProcess | undefined {
  try {
    const stat = readAbout(pid, "stat");
    // The second field is the program's name in parentheses, which may contain anything.
    const [state = "", parent, ...more] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    if ("ZX".includes(state)) return undefined;
    const limit = /^Max resident set +\d+ +(\d+) /m.exec(readAbout(pid, "limits"))?.[1];
    return {
      pid,
      parent: Number(parent),
      startTicks: Number(more[17]),
      command: readAbout(pid, "cmdline").replaceAll("\0", " ").trim(),
      residentLimit: Number(limit ?? Number.NaN),
    };
  } catch {
    // It ended meanwhile.
    return undefined;
  }
}

function readAbout(pid: number, file: string): string {
  return readFileSync(`/proc/${pid}/${file}`, "latin1");
}
