import { readdirSync, statSync } from "node:fs";
import path from "node:path";

import { type ConfirmQuestion, type McpHost, modelText } from "../../../src/index.ts";
import { hiddenCharacters } from "../hostile/bulk-modes.mjs";
import { hostileEntry } from "../hostile/hostile-entry.ts";
import type { Lab } from "../lab.ts";
import { createBareHost, type Product } from "../product.ts";
import { Project } from "../project.ts";
import { type Figures, type Row, zero } from "../row.ts";

const server = "hostile";
const patienceMs = 30_000;

async function logMuch(lab: Lab): Promise<Figures> {
  const figures = { "failed calls": 0, "dead afterwards": 0 };
  for (const kind of ["controls", "unseen", "escapes", "words"])
    for (const inside of [false, true]) {
      const args = { kind, inside, bytes: lab.count };
      const { ok } = await lab.call({ server, args, timeoutMs: patienceMs });
      if (!ok) figures["failed calls"] += 1;
    }
  figures["dead afterwards"] = Number(!(await lab.isAlive(server)));
  return figures;
}

async function defineMuch(lab: Lab, product: Product): Promise<Figures> {
  const figures = { "not refused": 0, "orders not found": 0, "others lost": 0 };
  await using host = await createBareHost(product, {
    servers: { [server]: hostileEntry("huge-definition") },
  });
  const session = host.session({ level: "yolo" });
  await session.ready();
  for (let round = 0; round < lab.count; round += 1) {
    const listed = new Promise((resolve) => host.on("tools-changed", resolve));
    if (!(await session.call(`mcp__${server}__attack`, {})).ok) figures["others lost"] += 1;
    await listed;
    const long = session.find(`mcp__${server}__long`);
    if (long?.unusable?.includes("larger than") !== true) figures["not refused"] += 1;
    const { code } = endOf(await session.call(`mcp__${server}__long`, {}));
    if (code !== "schema_refused") figures["not refused"] += 1;
    if (!host.server(server).quarantined.includes("many")) figures["orders not found"] += 1;
  }
  return figures;
}

function endOf(outcome: Awaited<ReturnType<ReturnType<McpHost["session"]>["call"]>>): {
  readonly code: string;
} {
  return { code: outcome.ok ? "ok" : outcome.error.code };
}

async function configureMuch(lab: Lab, product: Product): Promise<Figures> {
  const figures = { "not told": 0, "servers read": 0, "others lost": 0 };
  using project = new Project();
  const entries = Array.from({ length: lab.count }, (_, index) => [`s${index}`, { command: "x" }]);
  project.write(Object.fromEntries(entries) as Readonly<Record<string, unknown>>);
  project.writeForUser({ mine: { command: "y" } });
  await using host = await project.open(product);
  const names = host.servers().map(({ name }) => name);
  figures["servers read"] = names.length;
  figures["others lost"] = Number(!names.includes("mine"));
  figures["not told"] = Number(
    !host.configProblems.some(
      ({ path: file, severity }) => file === project.file && severity === "error",
    ),
  );
  return figures;
}

async function shiftLists(lab: Lab, product: Product): Promise<Figures> {
  using project = new Project();
  project.writeForUser({ [server]: hostileEntry("shifting-list", { lifeMs: 120_000 }) });
  let lists = 0;
  {
    await using host = await project.open(product);
    const session = host.session({ level: "yolo" });
    await session.ready();
    host.on("tools-changed", () => {
      lists += 1;
    });
    await new Promise((resolve) => setTimeout(resolve, lab.count * 1_000));
  }
  const startedAt = performance.now();
  await using host = await project.open(product);
  const session = host.session({ level: "yolo" });
  const offered = session.tools().length;
  const nextStartMs = performance.now() - startedAt;
  return {
    "lists of other tools": lists,
    "store MB": bytesIn(path.join(project.home, ".plugboard")) / 2 ** 20,
    "next start ms": nextStartMs,
    "offered past the cap": Math.max(0, offered - 5_000),
    "offered though changed": Number(
      session.find(`mcp__${server}__turning`) !== undefined && lists > 1,
    ),
  };
}

function bytesIn(folder: string): number {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { name }) => sum + statSync(path.join(folder, name)).size, 0);
}

/** Made before anything is measured: it takes as long as many calls. */
const characters = hiddenCharacters();
const hidden = /[\p{Default_Ignorable_Code_Point}\p{Bidi_Control}]/u;

/** As many tools as naming them at once takes no time that matters. */
const charactersAtOnce = 500;

/** Where a hidden character comes out as it went in, or passes for an honest one. */
async function hideText({ count }: Lab, product: Product): Promise<Figures> {
  const total = Math.min(count, characters.length);
  const figures = { characters: total, survivors: 0, "not flagged": 0, texts: 0 };
  for (let from = 0; from < total; from += charactersAtOnce) {
    const to = Math.min(from + charactersAtOnce, total);
    const found = await hideSome(from, to, product);
    figures.survivors += found.survivors;
    figures["not flagged"] += found["not flagged"];
    figures.texts += found.texts;
  }
  return figures;
}

/** The same for some of the characters: one host, a server with them in names and one in descriptions. */
async function hideSome(from: number, to: number, product: Product) {
  const figures = { survivors: 0, "not flagged": 0, texts: 0 };
  const show = (...texts: readonly unknown[]): void => {
    for (const text of texts) {
      figures.texts += 1;
      if (hidden.test(typeof text === "string" ? text : JSON.stringify(text ?? null)))
        figures.survivors += 1;
    }
  };
  const questions: ConfirmQuestion[] = [];
  await using host = await createBareHost(product, {
    servers: {
      names: hostileEntry("hidden-characters", { where: "name", from, to }),
      texts: hostileEntry("hidden-characters", { from, to }),
    },
    human: {
      confirm: (question) => {
        questions.push(question);
        return Promise.resolve("no");
      },
    },
  });
  host.on("warning", ({ text }) => show(text));
  const session = host.session({ level: "yolo" });
  await session.ready();
  show(...session.tools().map((tool) => JSON.stringify(tool)));
  for (const name of ["names", "texts"]) {
    const waiting = await host.pins.list(name);
    figures["not flagged"] += to - from - waiting.length;
    figures["not flagged"] += waiting.filter(({ findings }) => findings.length === 0).length;
    show(...waiting.map(({ changes, findings }) => JSON.stringify([changes, findings])));
    show(host.server(name).problems);
    for (const way of ["result", "error"]) {
      const read = modelText(await session.call(`mcp__${name}__attack`, { way }));
      show(read);
      if (way === "result" && !read.includes("invisible")) figures["not flagged"] += 1;
    }
  }
  const careful = host.session({ level: "trusted" });
  const said = characters.slice(from, to).join(" ");
  await careful.call("mcp__texts__attack", { said });
  show(...questions.map((question) => ("argumentsText" in question ? question.argumentsText : "")));
  if (questions.length === 0) figures["not flagged"] += 1;
  return figures;
}

export const bulkRows: readonly Row[] = [
  {
    id: "L6",
    trigger: "huge-log, bytes",
    expected: "cut before anything is done with it",
    measured:
      "one log notification of so many bytes at a time: control characters, unseen ones, escape sequences and words, as a text and inside of an object",
    criteria: zero("failed calls", "dead afterwards"),
    servers: { [server]: hostileEntry("huge-log") },
    counts: { short: 900_000, normal: 9_000_000, long: 9_000_000 },
    attack: logMuch,
  },
  {
    id: "L6",
    trigger: "huge-definition, listed so often",
    expected: "the large one refused, the order behind 3,000 texts found",
    measured:
      "a tool of 32 texts of 240 kB each and one of 3,000 texts; its server says with each call that the list has changed",
    criteria: zero("not refused", "orders not found", "others lost"),
    servers: {},
    ownModes: ["huge-definition"],
    counts: { short: 1, normal: 10, long: 50 },
    attack: defineMuch,
  },
  {
    id: "L6",
    trigger: "a project file with so many servers",
    expected: "capped, with the file and the cap named; the user's own stay",
    measured: "a host is opened in the project, and lists what there is",
    criteria: [...zero("not told", "others lost"), { figure: "servers read", atMost: 1_001 }],
    servers: {},
    counts: { short: 24_000, normal: 24_000, long: 24_000 },
    attack: configureMuch,
  },
  {
    id: "L7",
    trigger: "shifting-list, for so many seconds",
    expected: "rows per server capped, the rest set aside",
    measured:
      "1,000 new tools and one changed one with every list, one list a second; then the size of the store, and how long the next host takes until it lists tools",
    criteria: [
      { figure: "store MB", atMost: 32 },
      { figure: "next start ms", atMost: 2_000, isPhysical: true },
      ...zero("offered past the cap", "offered though changed"),
    ],
    servers: {},
    ownModes: ["shifting-list"],
    counts: { short: 3, normal: 30, long: 60 },
    attack: shiftLists,
  },
  {
    id: "L10",
    trigger: "hidden-characters, so many",
    expected: "marked where they are shown, and flagged",
    measured:
      "every bidirectional control and every character that Unicode lets programs ignore, in names, descriptions, results, errors and arguments; what people and models are given of them. Emoji and joined scripts are left alone: `src/text/untrusted/hidden-characters.test.ts`",
    criteria: zero("survivors", "not flagged"),
    servers: {},
    ownModes: ["hidden-characters"],
    counts: { short: 500, normal: 5_000, long: 5_000 },
    attack: hideText,
  },
];
