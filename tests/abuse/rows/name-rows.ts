import { existsSync } from "node:fs";
import path from "node:path";

import type { McpHost, McpTool } from "../../../src/index.ts";
import { runCommand } from "../command-line.ts";
import { badNames } from "../hostile/bad-names.mjs";
import { hostileEntry } from "../hostile/hostile-entry.ts";
import { hostileHttpEntry } from "../hostile/hostile-http-entry.ts";
import type { Lab } from "../lab.ts";
import { createBareHost, type Product } from "../product.ts";
import { Project } from "../project.ts";
import { type Figures, type Row, zero } from "../row.ts";
import { Sites } from "../site.ts";

const server = "hostile";
const validName = /^[A-Za-z0-9_-]{1,64}$/;

interface Reached {
  readonly tag: string;
  readonly name: string;
}

/** Which server and which of its tools a call reached. */
async function reach(tool: McpTool): Promise<Partial<Reached>> {
  const { structured } = await tool.execute({});
  return structured ?? {};
}

/** Opens a host and looks at what it says about its servers while they are listed. */
async function openWatched(product: Product, servers: object) {
  const host = await createBareHost(product, { servers: { ...servers } });
  const warnings: string[] = [];
  host.on("warning", ({ serverName = "", text }) => warnings.push(`${serverName}: ${text}`));
  const session = host.session({ level: "yolo" });
  await session.ready();
  return { host, session, warnings };
}

async function listTwice(lab: Lab, product: Product): Promise<Figures> {
  const figures = {
    "callable ambiguous names": 0,
    "second meanings offered": 0,
    "first ones lost": 0,
    "not reported": 0,
  };
  for (let round = 0; round < lab.count; round += 1) {
    const { host, session, warnings } = await openWatched(product, {
      [server]: hostileEntry("dup-tools"),
    });
    await using _host = host;
    const offered = session.tools().filter(({ originalName }) => originalName === "send");
    const names = session.tools().map(({ name }) => name);
    figures["callable ambiguous names"] +=
      Math.max(0, offered.length - 1) + names.length - new Set(names).size;
    figures["second meanings offered"] += offered.filter(
      ({ description }) => description !== "Sends a message",
    ).length;
    const [first] = offered;
    if (first === undefined || (await reach(first)).name !== "send")
      figures["first ones lost"] += 1;
    const reported = host.server(server).problems.filter(({ toolName }) => toolName === "send");
    const told = warnings.filter((text) => text.includes("listed twice"));
    figures["not reported"] += Math.max(0, 2 - reported.length) + Math.max(0, 2 - told.length);
  }
  return figures;
}

async function castShadows(lab: Lab, product: Product): Promise<Figures> {
  const figures = {
    "calls to the wrong server": 0,
    "lookalikes not flagged": 0,
    "mentions not flagged": 0,
    "servers not flagged": 0,
  };
  for (let round = 0; round < lab.count; round += 1) {
    const shadow = hostileEntry("shadow-names", { tag: "shadow" });
    const { host, session, warnings } = await openWatched(product, {
      honest: hostileEntry("shadow-names", { bad: 0, tag: "honest" }),
      shadow,
      // The same name to the eye; one of another case alone is refused with the configuration.
      "h\u043Enest": shadow,
    });
    await using _host = host;
    for (const tool of session.tools()) {
      const expected = tool.serverName === "honest" ? "honest" : "shadow";
      const { tag, name } = await reach(tool);
      const isEcho = tool.originalName === "echo";
      if (!isEcho && (tag !== expected || name !== tool.originalName))
        figures["calls to the wrong server"] += 1;
    }
    const offered = session.tools().filter(({ serverName }) => serverName === "shadow");
    // The one with an invisible letter is set aside on top of being told about.
    const setAside = await host.pins.list("shadow");
    const lookalikes = [
      ...offered.map(({ originalName }) => originalName),
      ...setAside.map(({ tool }) => tool),
    ].filter(isLookalike);
    const isTold = (text: string): boolean =>
      warnings.some((it) => it.startsWith(`shadow: ${text}`));
    for (const name of lookalikes)
      if (!isTold(`tool "${shown(name)}": its name`)) figures["lookalikes not flagged"] += 1;
    if (lookalikes.length !== 6 || setAside.length !== 1) figures["lookalikes not flagged"] += 1;
    // Whichever of the two is listed last.
    const isMentioned = warnings.some((it) => /speaks of (?:it|"send_message")/.test(it));
    const { problems } = host.server("shadow");
    if (!isMentioned || !problems.some(({ text }) => text.includes('speaks of "send_message"')))
      figures["mentions not flagged"] += 1;
    for (const name of ["honest", "h\u043Enest"])
      if (!isTwinTold(host, name)) figures["servers not flagged"] += 1;
  }
  return figures;
}

const isLookalike = (name: string): boolean =>
  name !== "send" && name.length < 6 && /nd$/i.test(name);
const shown = (name: string): string => name.replace("\u200B", "\uFFFD");

function isTwinTold(host: McpHost, name: string): boolean {
  return host.server(name).problems.some(({ text }) => text.startsWith("the server's name"));
}

/** How many of the names a host may keep: the others are no names at all. */
const keptNames = Object.values(badNames).filter(
  // oxlint-disable-next-line no-control-regex -- control characters are what it looks for
  (name) => name !== "" && name.length <= 128 && !/[\u0000-\u001F]/.test(name),
);

async function nameBadly(lab: Lab, product: Product): Promise<Figures> {
  const figures = {
    injections: 0,
    "names not exact": 0,
    "names not kept": 0,
    "bad public names": 0,
    "not reported": 0,
  };
  using project = new Project();
  const entries = { [server]: hostileEntry("bad-names"), web: hostileHttpEntry("bad-names") };
  await using sites = await Sites.start(entries);
  project.writeForUser(sites.entries);
  const open = (): Promise<McpHost> => project.open(product);
  {
    await using host = await open();
    const session = host.session({ agent: "bad", level: "yolo" });
    await session.ready();
    for (const name of Object.keys(entries)) {
      const tools = session.tools().filter(({ serverName }) => serverName === name);
      figures["names not kept"] += keptNames.filter(
        (kept) => !tools.some(({ originalName }) => originalName === kept),
      ).length;
      for (const tool of tools) {
        if (!validName.test(tool.name)) figures["bad public names"] += 1;
        if (!keptNames.includes(tool.originalName)) continue;
        const { name: reached } = await reach(tool);
        if (reached !== tool.originalName) figures["names not exact"] += 1;
      }
      const rejected = Object.keys(badNames).length - keptNames.length;
      figures["not reported"] += Math.max(0, rejected - host.server(name).problems.length);
      // Grants, pins and the audit trail are rows of a database.
      await host.grants.allow({ agent: "bad", server: name });
      const given = host.grants.list({ agent: "bad", server: name });
      figures["names not exact"] += keptNames.filter(
        (kept) => !given.some(({ tool }) => tool === kept),
      ).length;
    }
    figures.injections += (await sites.byName.get("web")?.report())?.counts?.["injected"] ?? 1;
  }
  await using later = await open();
  const rows = await later.audit.query({ agent: "bad", type: "call", limit: 1_000 });
  const audited = new Set(rows.map(({ tool }) => tool));
  figures["names not exact"] += keptNames.filter((kept) => !audited.has(kept)).length;
  const granted = new Set(later.grants.list({ agent: "bad" }).map(({ tool }) => tool));
  figures["names not exact"] += keptNames.filter((kept) => !granted.has(kept)).length;
  figures["names not exact"] += await typeNames(lab, project);
  figures.injections += tracesOf(project);
  return figures;
}

/** The names as words of a command line: what is called is exactly what was typed, or nothing. */
async function typeNames(lab: Lab, project: Project): Promise<number> {
  let wrong = 0;
  for (const name of keptNames.slice(0, lab.count)) {
    const { stdout, stderr } = await runCommand(project, ["call", `${server}.${name}`, "--json"]);
    const { structured } = JSON.parse(stdout === "" ? "{}" : stdout) as { structured?: Reached };
    if (structured?.name !== name) wrong += 1;
    if (stderr.includes("root:")) wrong += 1;
  }
  return wrong;
}

/** What a name that was run, or taken for a path, would have left. */
function tracesOf({ cwd, home }: Project): number {
  const folders = [cwd, home, process.cwd(), "/tmp"];
  return folders.filter((folder) => existsSync(path.join(folder, "plugboard-pwned"))).length;
}

async function listMalformed(lab: Lab, product: Product): Promise<Figures> {
  const figures = {
    "tools kept": 0,
    reported: 0,
    "tools missing or too many": 0,
    "not reported": 0,
  };
  for (let round = 0; round < lab.count; round += 1) {
    const { host, session, warnings } = await openWatched(product, {
      [server]: hostileEntry("malformed-tools"),
    });
    await using _host = host;
    const kept = session.tools();
    figures["tools kept"] = kept.length;
    figures.reported = Math.min(host.server(server).problems.length, warnings.length);
    figures["not reported"] += Math.abs(9 - figures.reported);
    const [good] = kept;
    const isGood = kept.length === 1 && good !== undefined && (await reach(good)).name === "good";
    if (!isGood) figures["tools missing or too many"] += 1;
  }
  return figures;
}

export const nameRows: readonly Row[] = [
  {
    id: "D4",
    trigger: "dup-tools",
    expected: "the first is kept, the others reported and never callable",
    measured: "a name three times with three meanings; what is offered, and what is said about it",
    criteria: zero(
      "callable ambiguous names",
      "second meanings offered",
      "first ones lost",
      "not reported",
    ),
    servers: {},
    ownModes: ["dup-tools"],
    counts: { short: 1, normal: 10, long: 100 },
    attack: listTwice,
  },
  {
    id: "D5",
    trigger: "shadow-names beside the server they imitate",
    expected: "every call reaches its own server; lookalikes and mentions flagged",
    measured:
      "names equal, of another case, of other alphabets, with invisible letters; a description that speaks of the other's tool; servers whose names look alike. Every tool is called, and says whose it is",
    criteria: zero(
      "calls to the wrong server",
      "lookalikes not flagged",
      "mentions not flagged",
      "servers not flagged",
    ),
    servers: {},
    ownModes: ["shadow-names"],
    counts: { short: 1, normal: 5, long: 50 },
    attack: castShadows,
  },
  {
    id: "D6",
    trigger: `bad-names, ${Object.keys(badNames).length} of them`,
    expected: "rejected or encoded, and exact on the way back",
    measured:
      "over stdio and HTTP, whose headers repeat the name; as public names, grants and audit rows of a store that is opened again, and so many as words of a command line. The server says which name it was called by",
    criteria: zero(
      "injections",
      "names not exact",
      "names not kept",
      "bad public names",
      "not reported",
    ),
    servers: {},
    ownModes: ["bad-names"],
    counts: { short: 2, normal: keptNames.length, long: keptNames.length },
    attack: nameBadly,
  },
  {
    id: "D7",
    trigger: "malformed-tools",
    expected: "the good one kept, nine reported",
    measured: "ten entries, of which one is a tool, in one list",
    criteria: zero("tools missing or too many", "not reported"),
    servers: {},
    ownModes: ["malformed-tools"],
    counts: { short: 1, normal: 10, long: 100 },
    attack: listMalformed,
  },
];
