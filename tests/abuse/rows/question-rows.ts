import type { ConfirmAnswer, Human, McpHost, Session } from "../../../src/index.ts";
import { Diary } from "../diary.ts";
import { hostileEntry } from "../hostile/hostile-entry.ts";
import type { Lab } from "../lab.ts";
import type { Product } from "../product.ts";
import { Project } from "../project.ts";
import { type Figures, type Row, zero } from "../row.ts";

const server = "hostile";
const changes = ["tail", "text", "flood", "name", "large"];
/** What is different wherever `long-question` hides it. */
const hidden = /to[ _]us/;

const noFigures = {
  "accepted unseen": 0,
  "cut not said": 0,
  "whole not shown": 0,
  "faked roles": 0,
  "refused a yes to the whole": 0,
};
type L4Figures = typeof noFigures;

async function hideBehindTheCut(lab: Lab, product: Product): Promise<Figures> {
  const figures = { ...noFigures };
  for (let round = 0; round < lab.count; round += 1) {
    await changeUnseen(product, figures);
    for (const isWhole of [false, true]) await askUnseen(product, { isWhole, figures });
  }
  return figures;
}

/** Tools change where a question does not reach, one of each server. */
async function changeUnseen(product: Product, figures: L4Figures): Promise<void> {
  const diaries = new Map(changes.map((change) => [change, new Diary()]));
  using project = new Project();
  const servers = Object.fromEntries(
    [...diaries].map(([change, { file }]) => [
      change,
      hostileEntry("long-question", { change, diary: file }),
    ]),
  );
  {
    await using before = await project.open(product, { servers });
    const session = before.session({ level: "yolo" });
    await session.ready();
    await Promise.all(changes.map((it) => session.call(`mcp__${it}__attack`, { turn: true })));
  }
  await using host = await project.open(product, { servers });
  await host.connectAll();
  for (const [change, diary] of diaries) await acceptUnseen(host, { change, diary }, figures);
}

/** First with what the list gives, then with the whole. */
async function acceptUnseen(
  host: McpHost,
  { change, diary }: { readonly change: string; readonly diary: Diary },
  figures: L4Figures,
): Promise<void> {
  const [shown] = await host.pins.list(change);
  const isComplete = shown?.omittedChars === 0 && shown.omittedChanges === 0;
  if (!hidden.test(JSON.stringify(shown?.changes)) && isComplete) figures["cut not said"] += 1;
  const session = host.session({ level: "yolo" });
  if (!isComplete) {
    await host.pins.accept(change, "send", shown?.fingerprint ?? "");
    await session.call(`mcp__${change}__send`, {});
    figures["accepted unseen"] += diary.all("sent").length;
  }
  const whole = await host.pins.show(change, "send");
  if (!hidden.test(JSON.stringify(whole?.changes))) figures["whole not shown"] += 1;
  await host.pins.accept(change, "send", whole?.fingerprint ?? "");
  await session.call(`mcp__${change}__send`, {});
  if (diary.all("sent").length === 0) figures["refused a yes to the whole"] += 1;
}

interface Answering {
  readonly isWhole: boolean;
  readonly figures: L4Figures;
}

/** The end of arguments, and of a prompt for the model whose lines pretend to be others, is not in the question. */
async function askUnseen(product: Product, answering: Answering): Promise<void> {
  const { isWhole, figures } = answering;
  const diary = new Diary();
  using project = new Project();
  const servers = { [server]: hostileEntry("long-question", { diary: diary.file }) };
  const sampling = async () => ({ content: "Hi", model: "m" });
  const human = blindHuman(answering);
  await using host = await project.open(product, { servers, human, sampling });
  const session = host.session({ level: "trusted", human });
  await session.ready();
  await session.call(`mcp__${server}__send`, { text: `${"x".repeat(100_000)} and to us` });
  count(diary.all("sent").length > 0, isWhole, figures);
  await host.session({ level: "yolo" }).call(`mcp__${server}__attack`, { sample: true });
  count(diary.all("sampled").length > 0, isWhole, figures);
}

/** Says yes to what it is shown, or to the whole. */
function blindHuman({ isWhole, figures }: Answering): Human {
  return {
    confirm: async ({ argumentsText, prompt }): Promise<ConfirmAnswer> => {
      const shown = argumentsText ?? prompt;
      if (prompt !== undefined && hasFakedRoles(prompt.text)) figures["faked roles"] += 1;
      if (!hidden.test(shown?.text ?? "") && shown?.omittedChars === 0)
        figures["cut not said"] += 1;
      if (isWhole && !hidden.test((await shown?.whole()) ?? "")) figures["whole not shown"] += 1;
      return "server-always";
    },
  };
}

/** The prompt has two messages, both of the user. */
function hasFakedRoles(text: string): boolean {
  const heads = text.split(/[\n\r]/).filter((line) => /^\w+:/.test(line));
  return heads.join(" ") !== "user: user:";
}

function count(hasHappened: boolean, isWhole: boolean, figures: L4Figures): void {
  if (hasHappened && !isWhole) figures["accepted unseen"] += 1;
  if (!hasHappened && isWhole) figures["refused a yes to the whole"] += 1;
}

/** Every way to a server's tools and to what it offers beside them. */
const ways: Readonly<Record<string, (session: Session) => Promise<unknown>>> = {
  call: (session) => session.call(`mcp__${server}__attack`, {}),
  read: ({ content }) => content.readResource(server, "doc://1"),
  watch: ({ content }) => content.watchResource(server, "doc://1", () => undefined),
  prompt: ({ content }) => content.prompt(server, "greet"),
  complete: ({ content }) =>
    content.complete(server, { of: { prompt: "greet" }, argument: "who", value: "A" }),
  template: async (session) => (await session.promptTemplate(server, "greet")).render(),
  tool: (session) => session.call(`mcp__${server}__read_resource`, { uri: "doc://1" }),
};

/** Uses everything in sessions whose person says no, or that have none, and in children of them. */
async function useWithoutConsent(lab: Lab, product: Product): Promise<Figures> {
  const figures = { passed: 0, "not refused": 0, "not audited": 0, "refused with consent": 0 };
  for (let round = 0; round < lab.count; round += 1) {
    const diary = new Diary();
    using project = new Project();
    const servers = { [server]: hostileEntry("watched-content", { diary: diary.file }) };
    await using host = await project.open(product, { servers });
    await host.grants.allow({ agent: "admin", server });
    const no: Human = { confirm: () => Promise.resolve("no") };
    const options = { level: "trusted", resourceTools: true } as const;
    for (const mode of ["ask-per-server", "ask-per-tool"] as const) {
      await host.connect(server, { mode });
      const parents = [
        host.session({ ...options, agent: "asking", human: no }),
        host.session({ ...options, agent: "alone" }),
      ];
      const children = parents.map((parent) => parent.child({ agent: "admin" }));
      for (const session of [...parents, ...children, ...children.map((child) => child.child())])
        for (const use of Object.values(ways))
          if ((await codeOf(use(session))) !== "consent_denied") figures["not refused"] += 1;
    }
    figures.passed += diary.entries().length;
    const tries = 2 * 6 * Object.keys(ways).length;
    const audited = await host.audit.query({ code: "consent_denied", limit: 1_000 });
    figures["not audited"] += tries - audited.length;
    const admin = host.session({ ...options, agent: "admin" });
    for (const use of Object.values(ways))
      if ((await codeOf(use(admin))) !== "ok") figures["refused with consent"] += 1;
  }
  return figures;
}

async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    const result = (await work) as { readonly error?: { readonly code: string } } | undefined;
    return result?.error?.code ?? "ok";
  } catch (error) {
    return String((error as { readonly code?: unknown }).code);
  }
}

export const questionRows: readonly Row[] = [
  {
    id: "L4",
    trigger: "long-question: five changes of a definition, arguments, a prompt for the model",
    expected: "the cut is said, the whole is there on demand, no yes counts before",
    measured:
      "a change behind a long beginning, at the end of a long text, among 300 others, in a long name, of a definition too large to keep; arguments of 100,000 characters; a prompt with its point at the end and lines that look like roles. A person says yes to what is shown, then to the whole; the server notes what it gets",
    criteria: zero(...Object.keys(noFigures)),
    servers: {},
    ownModes: ["long-question"],
    counts: { short: 1, normal: 3, long: 20 },
    attack: hideBehindTheCut,
  },
  {
    id: "L5",
    trigger: "watched-content: tools, resources, prompts, completion without consent",
    expected: "refused as consent_denied and audited, in children under another agent's name, too",
    measured:
      "seven ways in two modes of consent, by sessions whose person says no or that have none, by children named after an agent that has a grant, and by their children; the server notes each use",
    criteria: zero("passed", "not refused", "not audited", "refused with consent"),
    servers: {},
    ownModes: ["watched-content"],
    counts: { short: 1, normal: 3, long: 20 },
    attack: useWithoutConsent,
  },
];
