import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { bundleProgram } from "../../../scripts/bundle-program.mjs";
import { openStore } from "../../../src/store/open-store.ts";
import type { Lab } from "../lab.ts";
import type { Figures, Row } from "../row.ts";

const root = path.resolve(import.meta.dirname, "../../..");
const program = "tests/fixtures/store/failing-host.mjs";

/** What `failing-host.mjs` answers. */
interface Attempt {
  readonly approved: readonly string[];
  readonly added: readonly string[];
  readonly problems: readonly string[];
  readonly untyped: number;
  readonly kept: number;
  readonly calls: number;
  readonly failed: number;
}

/** A place for a store that can be broken and mended while a host uses it. */
interface Place {
  /** What the host must say about it. */
  readonly problems: readonly string[];
  /** Only while no host has it open: it starts again each time. */
  readonly isReopened?: boolean;
  readonly folder: string;
  readonly breakIt: (host: ChildProcess) => void;
  readonly mend: (host: ChildProcess) => void;
  readonly remove: () => void;
}

/** Undefined where this machine, or this user, cannot make such a place. */
type MakePlace = () => Place | undefined;

/** A disk of 2 MB; undefined when this user may not make one. */
function mountSmallDisk(): { readonly folder: string; readonly remove: () => void } | undefined {
  const folder = mkdtempSync(path.join(tmpdir(), "plugboard-abuse-disk-"));
  const options = ["-t", "tmpfs", "-o", "size=2m,mode=0700", "tmpfs", folder];
  const isMounted = spawnSync("/bin/mount", options).status === 0;
  const remove = (): void => {
    if (isMounted) spawnSync("/bin/umount", ["-l", folder]);
    rmSync(folder, { recursive: true, force: true });
  };
  if (isMounted) return { folder, remove };
  remove();
  return undefined;
}

const fullDisk: MakePlace = () => {
  const disk = mountSmallDisk();
  if (disk === undefined) return undefined;
  const ballast = path.join(disk.folder, "ballast");
  return {
    ...disk,
    problems: ["disk-full"],
    breakIt: () => fillDisk(ballast),
    mend: () => rmSync(ballast),
  };
};

function fillDisk(file: string): void {
  try {
    for (;;) writeFileSync(file, Buffer.alloc(4_096), { flag: "a" });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
  }
}

const readOnly: MakePlace = () => {
  const disk = mountSmallDisk();
  if (disk === undefined) return undefined;
  const remount = (mode: "ro" | "rw"): void => {
    const { status } = spawnSync("/bin/mount", ["-o", `remount,${mode}`, disk.folder]);
    if (status !== 0) throw new Error("the disk could not be mounted anew");
  };
  return {
    ...disk,
    problems: ["read-only", "cannot-open"],
    isReopened: true,
    breakIt: () => remount("ro"),
    mend: () => remount("rw"),
  };
};

/** No file of the host may grow to more than nothing: each write of it fails. */
const failingDisk: MakePlace = () => {
  if (spawnSync("/usr/bin/prlimit", ["--version"]).status !== 0) return undefined;
  const folder = mkdtempSync(path.join(tmpdir(), "plugboard-abuse-disk-"));
  const limit = (host: ChildProcess, bytes: string): void => {
    const { status } = spawnSync("/usr/bin/prlimit", [
      "--pid",
      String(host.pid),
      `--fsize=${bytes}:`,
    ]);
    if (status !== 0) throw new Error("the limit could not be set");
  };
  return {
    problems: ["input-output"],
    folder,
    breakIt: (host) => limit(host, "0"),
    mend: (host) => limit(host, "unlimited"),
    remove: () => rmSync(folder, { recursive: true }),
  };
};

/** A host with its store in `place`, in a process of its own. */
class FailingHost {
  readonly child: ChildProcess;

  private constructor(child: ChildProcess) {
    this.child = child;
  }

  static async start({ folder }: Place, project: string): Promise<FailingHost> {
    const args = [await bundleProgram(program), path.join(folder, "plugboard.db"), project];
    const child = spawn(process.execPath, args, {
      cwd: root,
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    });
    const host = new FailingHost(child);
    await host.#answer();
    return host;
  }

  async attempt(from: number, count: number): Promise<Attempt> {
    this.child.send({ from, count });
    return (await this.#answer()) as Attempt;
  }

  async close(): Promise<void> {
    const exit = once(this.child, "exit");
    this.child.send("close");
    await exit;
  }

  #answer(): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const settle = (task: () => void) => (): void => {
        this.child.off("message", onMessage).off("exit", onExit);
        task();
      };
      const onExit = settle(() => reject(new Error("the host has ended")));
      const onMessage = (message: unknown): void => settle(() => resolve(message))();
      this.child.on("message", onMessage).on("exit", onExit);
    });
  }
}

/** Three times as many servers as are approved in each of the phases. */
function makeProject(count: number): string {
  const folder = mkdtempSync(path.join(tmpdir(), "plugboard-abuse-project-"));
  const names = Array.from({ length: count * 3 }, (_, index) => `pending-${index}`);
  const servers = Object.fromEntries(names.map((name) => [name, { command: `serve-${name}` }]));
  mkdirSync(path.join(folder, ".plugboard"));
  writeFileSync(path.join(folder, ".plugboard", "mcp.json"), JSON.stringify({ servers }));
  return folder;
}

interface Survived {
  readonly sound: Attempt;
  readonly broken: Attempt;
  readonly mended: Attempt;
}

async function survive(place: Place, project: string, count: number): Promise<Survived> {
  let host = await FailingHost.start(place, project);
  const change = async (task: (child: ChildProcess) => void, from: number): Promise<Attempt> => {
    if (place.isReopened === true) await host.close();
    task(host.child);
    if (place.isReopened === true) host = await FailingHost.start(place, project);
    return await host.attempt(from, count);
  };
  try {
    const sound = await host.attempt(0, count);
    const broken = await change(place.breakIt, count);
    const mended = await change(place.mend, count * 2);
    await host.close();
    return { sound, broken, mended };
  } finally {
    host.child.kill("SIGKILL");
  }
}

/** What the host was told is saved, and is not there; and what it said about the calls it made. */
async function countLosses(place: Place, attempts: readonly Attempt[]): Promise<number> {
  await using store = await openStore({ location: path.join(place.folder, "plugboard.db") });
  const approved = new Set((await store.approvals.list()).map(({ serverName }) => serverName));
  const added = new Set((await store.servers.list()).map(({ name }) => name));
  let audited = 0;
  for await (const { server } of store.audit.export({ type: "call" }))
    if (server === "good") audited += 1;
  const calls = attempts.reduce((sum, attempt) => sum + attempt.calls, 0);
  // What a host that never could write has to say about its calls ends with it.
  const expected = place.isReopened === true ? calls - (attempts[1]?.calls ?? 0) : calls;
  return (
    attempts.flatMap((attempt) => attempt.approved).filter((name) => !approved.has(name)).length +
    attempts.flatMap((attempt) => attempt.added).filter((name) => !added.has(name)).length +
    Math.max(0, expected - audited)
  );
}

/** One way for a store to fail, from before until after. */
async function failInOneWay(place: Place, project: string, count: number): Promise<Figures> {
  try {
    const { sound, broken, mended } = await survive(place, project, count);
    const attempts = [sound, broken, mended];
    const unexpected = broken.problems.filter((problem) => !place.problems.includes(problem));
    return {
      "silent losses": await countLosses(place, attempts),
      "kept all the same": broken.kept,
      "unclear errors": unexpected.length + broken.untyped,
      "without effect": broken.problems.length === 0 ? 1 : 0,
      "not mended": sound.problems.length + mended.problems.length + mended.untyped,
      "failed calls": attempts.reduce((sum, { failed }) => sum + failed, 0),
      refused: broken.problems.length,
    };
  } finally {
    place.remove();
  }
}

async function failToWrite(lab: Lab): Promise<Figures> {
  const project = makeProject(lab.count);
  const ways = [fullDisk, readOnly, failingDisk].map((makePlace) => makePlace());
  const places = ways.filter((place) => place !== undefined);
  try {
    const all = await Promise.all(places.map((place) => failInOneWay(place, project, lab.count)));
    const names = Object.keys(all[0] ?? {});
    const sums = names.map((name) => [
      name,
      all.reduce((sum, figures) => sum + (figures[name] ?? 0), 0),
    ]);
    return { ...Object.fromEntries(sums), "ways not tried": ways.length - places.length };
  } finally {
    rmSync(project, { recursive: true });
  }
}

export const storeFailureRows: readonly Row[] = [
  {
    id: "J2",
    trigger: "a store on a full disk of 2 MB, on one that fails, and one that is read-only",
    expected:
      "calls go on; what cannot be saved is refused with the reason; nothing is lost unsaid",
    measured:
      "approvals, servers and calls, so many each, before, while and after the store cannot be written, held against what is in it in the end. A way that takes rights this user does not have is not tried",
    criteria: [
      { figure: "silent losses", atMost: 0 },
      { figure: "kept all the same", atMost: 0 },
      { figure: "unclear errors", atMost: 0 },
      { figure: "without effect", atMost: 0 },
      { figure: "not mended", atMost: 0 },
      { figure: "failed calls", atMost: 0 },
    ],
    servers: {},
    counts: { short: 2, normal: 10, long: 15 },
    attack: failToWrite,
  },
];
