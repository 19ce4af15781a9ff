import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";

import { bundleProgram } from "../../../scripts/bundle-program.mjs";
import { McpError } from "../../../src/errors/mcp-error.ts";
import { openStore } from "../../../src/store/open-store.ts";
import type { Store } from "../../../src/store/store.ts";
import { auditWriter } from "../../fixtures/store/audit-writer.ts";
import { killConversions } from "../../fixtures/store/kill-conversions.ts";
import { consentId, launchId } from "../../fixtures/store/made-up-ids.ts";
import {
  binaryPages,
  createVersion2Store,
  readTrail,
} from "../../fixtures/store/version-2-store.ts";
import type { Lab } from "../lab.ts";
import type { Figures, Row } from "../row.ts";

const root = path.resolve(import.meta.dirname, "../../..");
const programs = "tests/fixtures/store";
const hosts = 4;

async function withStoreFile<T>(task: (file: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(path.join(tmpdir(), "plugboard-abuse-store-"));
  try {
    return await task(path.join(folder, "plugboard.db"));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The store is no part of the public API, so every form runs it from source. */
async function startProgram(program: string, args: readonly string[]): Promise<ChildProcess> {
  const file = await bundleProgram(`${programs}/${program}`);
  // Threads that help to collect garbage are waited for; on a busy machine that would drown the figures.
  return spawn(process.execPath, ["--single-threaded-gc", file, ...args], {
    cwd: root,
    stdio: ["ignore", "pipe", "inherit"],
  });
}

/** Park and Miller: the same kills in every run. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

/** Runs a writing host until it has been told `count` times that something is saved, and kills it there. */
async function killAfter(child: ChildProcess, count: number): Promise<readonly string[]> {
  let said = "";
  let lines = 0;
  child.stdout?.setEncoding("utf8");
  child.stdout?.on("data", (chunk: string) => {
    said += chunk;
    lines += chunk.split("\n").length - 1;
    if (lines >= count) child.kill("SIGKILL");
  });
  await new Promise((resolve) => {
    child.once("close", resolve);
  });
  return said.split("\n").slice(0, -1);
}

/** What one generation was told, held against what is there. */
async function judge(
  store: Store,
  generation: number,
  said: readonly string[],
): Promise<{ readonly lost: number; readonly torn: number }> {
  const told = (what: string): string[] =>
    said.filter((line) => line.startsWith(`${what} `)).map((line) => line.slice(what.length + 1));
  let lost = 0;
  let torn = 0;
  for (const id of told("approval"))
    if ((await store.approvals.find(launchId(id))) === undefined) lost += 1;
  const lastToken = told("token").at(-1);
  const token = await store.secrets.get(`token ${generation}`);
  if (lastToken !== undefined && !(Number(token) >= Number(lastToken))) lost += 1;
  const pinned = told("pins");
  for (const id of pinned) if ((await store.pins.list(consentId(id))).length !== 3) lost += 1;
  const unfinished = await store.pins.list(consentId(`${generation}.${pinned.length}`));
  if (![0, 3].includes(unfinished.length)) torn += 1;
  let audited = 0;
  for await (const _ of store.audit.export({ type: `kill ${generation}` })) audited += 1;
  if (audited < Number(told("audit").at(-1) ?? -1) + 1) lost += 1;
  return { lost, torn };
}

async function killWhileWriting(lab: Lab): Promise<Figures> {
  const random = createRandom(7);
  const figures = { kills: 0, acknowledged: 0, lost: 0, torn: 0, "integrity problems": 0 };
  await withStoreFile(async (file) => {
    for (let generation = 0; generation < lab.count; generation += 1) {
      const child = await startProgram("writing-host.mjs", [file, String(generation)]);
      const said = await killAfter(child, 1 + Math.floor(random() * 120));
      if (child.signalCode === "SIGKILL") figures.kills += 1;
      figures.acknowledged += said.length;
      const store = await openStore({ location: file });
      const { lost, torn } = await judge(store, generation, said);
      figures.lost += lost;
      figures.torn += torn;
      figures["integrity problems"] += (await store.check()).length;
      await store.close();
    }
  });
  return { ...figures, "kills missed": lab.count - figures.kills };
}

async function killWhileConverting(lab: Lab): Promise<Figures> {
  const random = createRandom(13);
  // They are converted in five transactions.
  const pages = binaryPages(2_500, 2);
  return withStoreFile(async (file) => {
    let stores = 0;
    const create = async (): Promise<string> => {
      stores += 1;
      const location = `${file}-${stores}`;
      await createVersion2Store(location, pages);
      return location;
    };
    const { midway, ...figures } = await killConversions({
      kills: lab.count,
      create,
      expected: await readTrail(await create()),
      nextMoment: () => ({
        portions: Math.floor(random() * 4),
        delayMs: Math.floor(random() * 20),
      }),
    });
    return { ...figures, "left midway": midway, "never left midway": midway === 0 ? 1 : 0 };
  });
}

/** A bit, a page or the end of a database goes wrong. */
function spoil(bytes: Buffer, random: () => number): Buffer {
  const spoiled = Buffer.from(bytes);
  const position = Math.floor(random() * bytes.length);
  const kind = random();
  if (kind < 0.2) return spoiled.subarray(0, position);
  if (kind < 0.4)
    spoiled.fill(Math.floor(random() * 256), position, Math.min(bytes.length, position + 4_096));
  else spoiled[position] = (spoiled[position] ?? 0) ^ (1 << Math.floor(random() * 8));
  return spoiled;
}

async function readEverything(file: string): Promise<void> {
  await using store = await openStore({ location: file });
  await store.servers.list();
  await store.approvals.list();
  await store.secrets.ids();
  for await (const _ of store.audit.export()) continue;
}

async function openSpoiled(lab: Lab): Promise<Figures> {
  const random = createRandom(11);
  const figures = { refused: 0, "untyped errors": 0, "originals changed": 0 };
  await withStoreFile(async (file) => {
    const store = await openStore({ location: file });
    const audit = auditWriter(store.audit);
    for (let n = 0; n < 200; n += 1) {
      audit.append({ type: "x", at: Date.now(), detail: { text: "x".repeat(400) } });
      if (n % 10 === 0) await store.secrets.put(`s${n}`, "x".repeat(200));
    }
    await audit.flush();
    await store.close();
    const bytes = readFileSync(file);
    for (let round = 0; round < lab.count; round += 1) {
      const copy = path.join(path.dirname(file), `spoiled-${round}.db`);
      const spoiled = spoil(bytes, random);
      writeFileSync(copy, spoiled, { mode: 0o600 });
      const error = await readEverything(copy).catch((reason: unknown) => reason);
      if (error !== undefined) figures.refused += 1;
      if (error !== undefined && !McpError.is(error, "store_failed"))
        figures["untyped errors"] += 1;
      if (!readFileSync(copy).equals(spoiled)) figures["originals changed"] += 1;
      // The driver closes files with the garbage.
      if (round % 50 === 0) globalThis.gc?.();
    }
  });
  return figures;
}

interface SharingReport {
  readonly acknowledged: number;
  readonly errors: Readonly<Record<string, number>>;
  readonly maxBlockMs: number;
  readonly maxLagMs: number;
  readonly changesHeard: number;
  readonly summary: Readonly<Record<string, { readonly p50: number; readonly p99: number }>>;
}

async function shareOneStore(lab: Lab): Promise<Figures> {
  return withStoreFile(async (file) => {
    const reports = await Promise.all(
      Array.from({ length: hosts }, async (_, host) => {
        const child = await startProgram("sharing-host.mjs", [file, `h${host}`, String(lab.count)]);
        if (child.stdout === null) throw new Error("the host has no stdout");
        return JSON.parse(await text(child.stdout)) as SharingReport;
      }),
    );
    const store = await openStore({ location: file });
    // Each host has written one before it began to count.
    const saved = (await store.secrets.ids()).length - hosts;
    const problems = await store.check();
    await store.close();
    const sum = (value: (report: SharingReport) => number): number =>
      reports.reduce((total, report) => total + value(report), 0);
    const max = (value: (report: SharingReport) => number): number =>
      Math.max(...reports.map((report) => value(report)));
    const acknowledged = sum((report) => report.acknowledged);
    return {
      "busy errors": sum(({ errors }) => errors["busy"] ?? 0),
      "other errors": sum(({ errors }) =>
        Object.entries(errors).reduce(
          (total, [problem, count]) => total + (problem === "busy" ? 0 : count),
          0,
        ),
      ),
      lost: acknowledged - saved,
      "integrity problems": problems.length,
      "durable writes": acknowledged,
      "durable p50 ms": max(({ summary }) => summary["full"]?.p50 ?? 0),
      "durable p99 ms": max(({ summary }) => summary["full"]?.p99 ?? 0),
      "max block ms": max(({ maxBlockMs }) => maxBlockMs),
      "max lag of a host ms": max(({ maxLagMs }) => maxLagMs),
      "hosts that heard nothing": reports.filter(({ changesHeard }) => changesHeard === 0).length,
    };
  });
}

export const storeRows: readonly Row[] = [
  {
    id: "J1",
    trigger: "kill -9 of the host while it approves, rotates, pins and audits",
    expected: "every acknowledged write is there",
    measured:
      "a host says what it was told is saved and is killed after a random number of lines (seeded); then the store is opened, compared with the lines and checked. Torn: of three rows written together some are missing",
    criteria: [
      { figure: "lost", atMost: 0 },
      { figure: "torn", atMost: 0 },
      { figure: "integrity problems", atMost: 0 },
      { figure: "kills missed", atMost: 0 },
    ],
    servers: {},
    counts: { short: 4, normal: 200, long: 500 },
    attack: killWhileWriting,
  },
  {
    id: "J3",
    trigger: "a store of which a bit, a page or the end is wrong",
    expected: "read or refused with a typed error, never changed or reset",
    measured:
      "a store is spoiled in so many ways (seeded), opened and read to its end; its bytes before and after. What a wrong bit does to a value nobody can see is read as that value",
    criteria: [
      { figure: "untyped errors", atMost: 0 },
      { figure: "originals changed", atMost: 0 },
    ],
    servers: {},
    counts: { short: 25, normal: 500, long: 2_000 },
    attack: openSpoiled,
  },
  {
    id: "J4",
    trigger: `${hosts} hosts on one store, for so many seconds`,
    expected: "nobody is told that it is locked, no event loop stands still",
    measured:
      "durable writes, other writes, reads and audit rows at the pace of a busy host. Block: the longest time a host's event loop stood still, without the time for which the machine gave a thread of that host no processor",
    criteria: [
      { figure: "busy errors", atMost: 0 },
      { figure: "other errors", atMost: 0 },
      { figure: "lost", atMost: 0 },
      { figure: "integrity problems", atMost: 0 },
      { figure: "hosts that heard nothing", atMost: 0 },
      { figure: "max block ms", atMost: 50, isPhysical: true },
    ],
    servers: {},
    counts: { short: 2, normal: 60, long: 600 },
    attack: shareOneStore,
  },
  {
    id: "J5",
    trigger: "kill -9 of a host that converts the audit trail of an older store",
    expected: "every row of the trail is there once, with its number",
    measured:
      "a store of version 2 with 5,000 rows in 2,500 pages is opened by a host that is killed a random time after a random number of portions (seeded); then all rows are compared with those before. The next host goes on with the same store, until all pages are converted",
    criteria: [
      { figure: "lost", atMost: 0 },
      { figure: "added", atMost: 0 },
      { figure: "never left midway", atMost: 0 },
    ],
    servers: {},
    counts: { short: 3, normal: 50, long: 200 },
    attack: killWhileConverting,
  },
];
