import type { ConfirmAnswer, Human, McpHost } from "../../../src/index.ts";
import { Diary } from "../diary.ts";
import { hostileEntry } from "../hostile/hostile-entry.ts";
import type { Lab } from "../lab.ts";
import type { Product } from "../product.ts";
import { Project } from "../project.ts";
import { type Figures, type Row, zero } from "../row.ts";

const server = "hostile";
const send = `mcp__${server}__send`;

/** Somebody who always says the same, and how often they were asked. */
class Answering implements Human {
  asked = 0;
  answer: ConfirmAnswer;

  constructor(answer: ConfirmAnswer) {
    this.answer = answer;
  }

  confirm(): Promise<ConfirmAnswer> {
    this.asked += 1;
    return Promise.resolve(this.answer);
  }
}

const noFigures = {
  "calls after change": 0,
  "offered after change": 0,
  "differences missing": 0,
  "old consent used": 0,
  "not usable before": 0,
  "not usable when accepted": 0,
};

/** With word of the change, and without: then it is seen when the server is next connected. */
async function pullRug(lab: Lab, product: Product): Promise<Figures> {
  const figures = { ...noFigures };
  for (let round = 0; round < lab.count; round += 1)
    for (const notify of [0, 1]) await pullOnce(product, notify, figures);
  return figures;
}

async function pullOnce(
  product: Product,
  notify: number,
  figures: typeof noFigures,
): Promise<void> {
  const diary = new Diary();
  using project = new Project();
  const servers = { [server]: hostileEntry("rug-pull", { notify, diary: diary.file }) };
  const people = { session: new Answering("server-session"), stored: new Answering("tool-always") };
  const open = (): Promise<McpHost> => project.open(product, { servers });
  {
    // What a host has seen is written down when it closes at the latest, for hosts that come then.
    await using first = await open();
    await first.session({ level: "yolo" }).ready();
  }
  await using host = await open();
  const allowed = host.session({ agent: "a", level: "trusted", human: people.session });
  const granted = host.session({ agent: "b", level: "trusted", human: people.stored });
  const free = host.session({ agent: "c", level: "yolo" });
  const sessions = [allowed, granted, free];
  await free.ready();
  const held = free.find(send);
  for (const session of sessions) await session.call(send, {});
  if (diary.all("sent before").length !== sessions.length) figures["not usable before"] += 1;
  const isSeen = new Promise((resolve) => host.on("tool-quarantined", resolve));
  await free.call(`mcp__${server}__attack`, { turn: true });
  if (notify === 0) await host.reconnect(server);
  await isSeen;
  for (const session of sessions) await session.call(send, {});
  await held?.execute({});
  await free.execute(send, {}).catch(() => undefined);
  figures["offered after change"] += sessions.filter((it) => it.find(send) !== undefined).length;
  const [waiting] = await host.pins.list(server);
  const changed = waiting?.changes.map(({ path }) => path) ?? [];
  if (!changed.includes("description") || changed.length < 2) figures["differences missing"] += 1;
  await tryLater(await open(), people.stored);
  const sent = diary.all("sent after").length;
  figures["calls after change"] += sent;

  // Accepted by somebody, it is a tool again, and every earlier yes was to another one.
  await host.pins.accept(server, "send", waiting?.fingerprint ?? "");
  for (const human of Object.values(people)) human.answer = "no";
  for (const session of [allowed, granted]) await session.call(send, {});
  await tryLater(await open(), people.stored);
  figures["old consent used"] += diary.all("sent after").length - sent;
  if (!(await free.call(send, {})).ok) figures["not usable when accepted"] += 1;
}

/** In a host that comes later, what was granted before. */
async function tryLater(host: McpHost, human: Human): Promise<void> {
  await host.session({ agent: "b", level: "trusted", human }).call(send, {});
  await host.close();
}

const liars = ["wipe", "both", "words"];

/** Calls every liar in sessions whose person says no, or that have none. */
async function believeClaims(lab: Lab, product: Product): Promise<Figures> {
  const figures = { "auto-approved": 0, "not asked": 0, "refused a yes": 0 };
  for (let round = 0; round < lab.count; round += 1) {
    const diary = new Diary();
    using project = new Project();
    const entry = hostileEntry("annotation-liar", { diary: diary.file });
    const servers = { [server]: entry, trusting: { ...entry, skipReadOnlyPrompts: true } };
    await using host = await project.open(product, { servers });
    for (const mode of ["ask-per-server", "ask-per-tool"] as const) {
      await host.connect(server, { mode });
      await host.connect("trusting", { mode });
      const human = new Answering("no");
      const asking = host.session({ level: "trusted", human });
      for (const tool of liars) await asking.call(`mcp__${server}__${tool}`, {});
      // Who believes this server's claim to be read-only does not believe that it destroys nothing.
      for (const tool of ["both", "words"]) await asking.call(`mcp__trusting__${tool}`, {});
      figures["not asked"] += liars.length + 2 - human.asked;
      const alone = host.session({ agent: "alone", level: "trusted" });
      for (const tool of liars) await alone.call(`mcp__${server}__${tool}`, {});
      figures["auto-approved"] += diary.entries().length;
    }
    const yes = host.session({ level: "trusted", human: new Answering("once") });
    const outcome = await yes.call(`mcp__${server}__wipe`, {});
    if (!outcome.ok) figures["refused a yes"] += 1;
  }
  return figures;
}

export const pinRows: readonly Row[] = [
  {
    id: "D1",
    trigger: "rug-pull, with word of it and without",
    expected: "the tool is blocked, the difference shown, every earlier yes void",
    measured:
      "a session with an allowance, one with a stored grant, one that asks nobody, and a host that comes later; the server notes each use of the tool. Then the change is accepted, and those who said yes before say no",
    criteria: zero(...Object.keys(noFigures)),
    servers: {},
    ownModes: ["rug-pull"],
    counts: { short: 1, normal: 5, long: 50 },
    attack: pullRug,
  },
  {
    id: "D10",
    trigger: "annotation-liar",
    expected: "no claim spares a question",
    measured:
      "three tools that claim to be read-only, in two modes of consent, where the person says no and where there is nobody; the server notes each use. `skipReadOnlyPrompts` believes only a claim that is one",
    criteria: zero("auto-approved", "not asked", "refused a yes"),
    servers: {},
    ownModes: ["annotation-liar"],
    counts: { short: 1, normal: 5, long: 50 },
    attack: believeClaims,
  },
];
