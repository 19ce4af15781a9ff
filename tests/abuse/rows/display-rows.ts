import type { Logger, McpHost } from "../../../src/index.ts";
import { runCommand } from "../command-line.ts";
import { hostileEntry } from "../hostile/hostile-entry.ts";
import type { Lab } from "../lab.ts";
import type { Product } from "../product.ts";
import { Project } from "../project.ts";
import { type Figures, type Row, zero } from "../row.ts";

const server = "hostile";
const attack = `mcp__${server}__attack`;
/** What a terminal obeys, what nobody sees, and what turns the rest around. */
// oxlint-disable-next-line no-control-regex -- control characters are what it looks for
const raw = /[\u001B\u0080-\u009F\p{Default_Ignorable_Code_Point}\p{Bidi_Control}]/u;
/** What our own output moves the cursor with, where it is a screen. */
// oxlint-disable-next-line no-control-regex -- as above
const ownSequences = /\u001B\[2K|\u001B\[\?25[hl]/g;
const marker = /\uFFFD|\\u[0-9a-f]{4}/;
/** Where something was left out that had to be seen. */
const marked = ["stderr", "server log", "error", "audit", "call", "tools"];

/** Everything a host writes down or shows of its servers, by where it does. */
async function shownBy(product: Product, project: Project): Promise<Map<string, string[]>> {
  const shown = new Map<string, string[]>();
  const show = (where: string, text: unknown): void => {
    const written = typeof text === "string" ? text : JSON.stringify(text ?? null);
    shown.set(where, [...(shown.get(where) ?? []), written]);
  };
  const log = (message: string, fields?: object): void => show("log", [message, fields]);
  const logger: Logger = { debug: log, info: log, warn: log, error: log };
  await using host = await project.open(product, { logger });
  host.on("warning", ({ text }) => show("warning", text));
  host.on("server-log", ({ text }) => show("server log", text));
  const session = host.session({ agent: "abuse", level: "yolo" });
  await session.ready();
  for (const way of ["error", "isError"]) {
    const outcome = await session.call(attack, { way });
    // A tool's own error is its result, for the program as it is; people see it neutralized.
    if (!outcome.ok && way === "error") show("error", outcome.error);
  }
  await session.call("mcp__hostile__\u001B[2Jnone\u202E", {});
  for (const text of host.logs(server)) show("stderr", text);
  show("status", textsOf(host));
  for (const tool of await host.pins.list()) show("pins", [tool.changes, tool.findings]);
  for (const row of await host.audit.query({ limit: 100 })) show("audit", row);
  return shown;
}

function textsOf(host: McpHost): readonly unknown[] {
  const { problems, target, lastError } = host.server(server);
  return [problems, target, lastError?.toJSON()];
}

/** What a person sees of it at a terminal, by command. */
async function screensOf(project: Project): Promise<ReadonlyMap<string, string>> {
  const commands: Readonly<Record<string, readonly string[]>> = {
    tools: ["tools", server],
    "tools with schemas": ["tools", server, "--schema"],
    list: ["list", "--check"],
    call: ["call", `${server}.attack`],
    "call, its error": ["call", `${server}.attack`, "way=isError"],
    "call, error": ["call", `${server}.attack`, "way=error"],
    "call of nothing": ["call", `${server}.\u202Enone`],
    "call as JSON": ["call", `${server}.attack`, "--json"],
  };
  const screens = new Map<string, string>();
  for (const [name, words] of Object.entries(commands)) {
    const { stdout } = await runCommand(project, words, { isAtTerminal: true });
    screens.set(name, stdout.replaceAll(ownSequences, ""));
  }
  return screens;
}

async function showTexts(lab: Lab, product: Product): Promise<Figures> {
  const leaks = new Map<string, number>();
  let texts = 0;
  let unmarked = 0;
  for (let round = 0; round < lab.count; round += 1) {
    using project = new Project();
    project.writeForUser({ [server]: hostileEntry("ansi-unicode") });
    const shown = await shownBy(product, project);
    const screens = round === 0 ? await screensOf(project) : [];
    const places = new Map<string, readonly string[]>(shown);
    for (const [name, text] of screens) places.set(name, [text]);
    for (const [where, written] of places) {
      texts += written.length;
      const count = written.filter((text) => raw.test(text)).length;
      if (count > 0) leaks.set(where, (leaks.get(where) ?? 0) + count);
    }
    for (const where of marked) {
      const written = places.get(where);
      const isShown = written !== undefined || round === 0;
      if (isShown && !(written ?? []).some((text) => marker.test(text))) unmarked += 1;
    }
  }
  return {
    "raw out": [...leaks.values()].reduce((sum, count) => sum + count, 0),
    ...Object.fromEntries([...leaks].map(([where, count]) => [`raw in ${where}`, count])),
    "without a visible marker": unmarked,
    texts,
  };
}

export const displayRows: readonly Row[] = [
  {
    id: "D8",
    trigger: "ansi-unicode in names, texts, results, errors, logs and stderr",
    expected: "neutralized, with a visible marker",
    measured:
      "the log, warnings, messages and stderr of the server, errors, status, pins and audit rows, and the screens of eight commands; escapes, tags, directions and zero-width letters in each",
    criteria: zero("raw out", "without a visible marker"),
    servers: {},
    ownModes: ["ansi-unicode"],
    counts: { short: 1, normal: 5, long: 50 },
    attack: showTexts,
  },
];
