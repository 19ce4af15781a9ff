import { hostileEntry } from "../hostile/hostile-entry.ts";
import type { Lab } from "../lab.ts";
import { calmCriteria, type Figures, type Row } from "../row.ts";

const server = "hostile";
const maxTools = 5_000;
const patienceMs = 25_000;

interface Lists {
  readonly lists: number;
  readonly listsSinceStorm: number;
}

async function hearChanges(lab: Lab): Promise<Figures> {
  const ask = async (n: number): Promise<Lists | undefined> => {
    const { structured } = await lab.call({ server, args: { n }, timeoutMs: patienceMs });
    return structured as Lists | undefined;
  };
  const before = await ask(0);
  const startedAt = performance.now();
  const during = await ask(lab.count);
  // The last of many changes is heard at the end of its second, and not lost.
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  const after = await ask(0);
  const seconds = (performance.now() - startedAt) / 1_000;
  const lists = (after?.lists ?? 0) - (before?.lists ?? 0);
  return {
    "failed calls": [before, during, after].filter((answer) => answer === undefined).length,
    "lists sent": lists,
    "lists over one per second": Math.max(0, lists - Math.floor(seconds) - 1),
    "last change missed": Number((after?.listsSinceStorm ?? 0) === 0),
  };
}

/** Connects anew and calls; how many tools are known then, and what was said about the others. */
async function listAgain(lab: Lab, name: string) {
  const { subject } = lab;
  await subject.disconnect(name);
  const startedAt = performance.now();
  const { ok, structured } = await lab.call({ server: name, args: {}, timeoutMs: patienceMs });
  return {
    ok,
    tookMs: performance.now() - startedAt,
    tools: subject.view(name).tools,
    pages: (structured as { readonly pages?: number } | undefined)?.pages ?? 0,
  };
}

async function listTooMany(lab: Lab): Promise<Figures> {
  const said = (): number =>
    lab.subject.texts("whole").filter((text) => text.includes(`${maxTools} entries`)).length;
  const before = said();
  const lists = [await listAgain(lab, "whole"), await listAgain(lab, "paged")];
  return {
    "failed calls": lists.filter(({ ok }) => !ok).length,
    "lists of another length than 5,000": lists.filter(({ tools }) => tools !== maxTools).length,
    "not said": Math.max(0, lists.length - (said() - before)),
    "s to list": Math.max(...lists.map(({ tookMs }) => tookMs)) / 1_000,
  };
}

const endless = ["cursor-loop", "infinite-paging", "empty-pages"];

async function followCursors(lab: Lab): Promise<Figures> {
  const figures = { "failed calls": 0, pages: 0, "s to list": 0 };
  for (let round = 0; round < lab.count; round += 1)
    for (const name of endless) {
      const { ok, tookMs, pages } = await listAgain(lab, name);
      if (!ok) figures["failed calls"] += 1;
      figures.pages = Math.max(figures.pages, pages);
      figures["s to list"] = Math.max(figures["s to list"], tookMs / 1_000);
    }
  return figures;
}

async function followEmptyCursor(lab: Lab): Promise<Figures> {
  let wrong = 0;
  for (let round = 0; round < lab.count; round += 1) {
    const { ok, tools, pages } = await listAgain(lab, server);
    if (!ok || tools !== 3 || pages !== 3) wrong += 1;
  }
  return { "lists of another length than 3": wrong };
}

const noFailure = { figure: "failed calls", atMost: 0 } as const;

export const listRows: readonly Row[] = [
  {
    id: "D3",
    trigger: "list-changed-storm",
    expected: "at most one list a second, and one after the last change",
    measured: "one call answered behind so many changes; the server counts what it is asked",
    criteria: [
      noFailure,
      { figure: "lists over one per second", atMost: 0 },
      { figure: "last change missed", atMost: 0 },
      ...calmCriteria,
    ],
    servers: { [server]: hostileEntry("list-changed-storm") },
    counts: { short: 5_000, normal: 100_000, long: 1_000_000 },
    attack: hearChanges,
  },
  {
    id: "D11",
    trigger: "huge-tool-list",
    expected: "5,000 kept, clear message",
    measured:
      "a list of so many tools in one message and in pages of 1,000. The time to parse the former is part of the lag",
    criteria: [
      noFailure,
      { figure: "lists of another length than 5,000", atMost: 0 },
      { figure: "not said", atMost: 0 },
      { figure: "RSS growth MB", atMost: 64, isPhysical: true },
    ],
    servers: (n) => ({
      whole: hostileEntry("huge-tool-list", { n }),
      paged: hostileEntry("huge-tool-list", { n, each: 1_000 }),
    }),
    stallAllowance: {
      atMostMs: 150,
      reason: "JSON.parse of one list of 100,000 tools in one message cannot be interrupted",
    },
    counts: { short: 20_000, normal: 100_000, long: 100_000 },
    attack: listTooMany,
  },
  {
    id: "D12",
    trigger: endless.join(", "),
    expected: "stops at the cap on pages",
    measured: "connections in turn; each server counts the pages it was asked for",
    criteria: [{ figure: "pages", atMost: 64 }, noFailure],
    servers: Object.fromEntries(endless.map((mode) => [mode, hostileEntry(mode)])),
    counts: { short: 1, normal: 5, long: 50, stock: 1 },
    attack: followCursors,
  },
  {
    id: "D13",
    trigger: "empty-cursor",
    expected: "all 3 pages",
    measured: "connections in turn; tools known after each, and pages the server was asked for",
    criteria: [{ figure: "lists of another length than 3", atMost: 0 }],
    servers: { [server]: hostileEntry("empty-cursor") },
    counts: { short: 1, normal: 10, long: 50 },
    attack: followEmptyCursor,
  },
];
