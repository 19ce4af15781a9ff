import { createHash } from "node:crypto";

import type {
  ConfirmAnswer,
  ConfirmQuestion,
  ElicitAnswer,
  Human,
  McpHost,
  Session,
} from "../../../src/index.ts";
import { type Trick, type TrickedArguments, argumentTricks } from "../argument-tricks.ts";
import { Diary } from "../diary.ts";
import { hostileEntry } from "../hostile/hostile-entry.ts";
import { hostileHttpEntry } from "../hostile/hostile-http-entry.ts";
import type { Lab } from "../lab.ts";
import type { Product } from "../product.ts";
import { Project } from "../project.ts";
import { type Figures, type Row, zero } from "../row.ts";
import { Sites } from "../site.ts";
import type { RunningEntries } from "../subject.ts";

const lifeMs = 120_000;
const tools = ["plain", "strict", "slow", "destroy"] as const;
type ToolName = (typeof tools)[number];

interface Call {
  readonly server: string;
  readonly tool: ToolName;
  /** The public name. */
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly callId: string;
}

/** How a program may come to call a tool; what it gets back is of no interest. */
type Way = (session: Session, call: Call, given: Given) => Promise<unknown>;

interface Given extends Pick<Product, "createToolClient"> {
  /** The tools of the session as a framework holds them. */
  readonly adapted: Awaited<ReturnType<Product["aiSdkTools"]>>;
}

/** Those for which the server need not have been seen before. */
const earlyWays: Readonly<Record<string, Way>> = {
  call: (session, { name, args, callId }) => session.call(name, args, { callId }),
  "watched call": (session, { name, args, callId }) =>
    session.call(name, args, { callId, onProgress() {} }),
  execute: (session, { name, args, callId }) => session.execute(name, args, { callId }),
  "dispatch of arguments": (session, { name, args, callId }) =>
    session.dispatch({ name, arguments: args, callId }),
  "dispatch of input": (session, { name, args, callId }) =>
    session.dispatch({ name, input: args, callId }),
  stream: async (session, { name, args, callId }) => {
    for await (const item of session.stream(name, args, { callId })) void item;
  },
  "child session": (session, { name, args, callId }) =>
    session.child({ agent: "child" }).call(name, args, { callId }),
  transaction: (session, { name, args, callId }) =>
    session.transaction((transaction) => transaction.call(name, args, { callId })),
};

const ways: Readonly<Record<string, Way>> = {
  ...earlyWays,
  "tool of the list": async (session, { name, args, callId }) =>
    session.find(name)?.execute(args, { callId }),
  adapter: async (_session, { name, args, callId }, { adapted }) =>
    adapted[name]?.execute(args, { toolCallId: callId }),
  "typed client": (session, { server, tool, args, callId }, { createToolClient }) =>
    createToolClient<Record<ToolName, { params: Call["args"]; result: unknown }>>(session, server, [
      tool,
    ])[tool](args, { callId }),
};

const noFigures = {
  compared: 0,
  "shown and sent differ": 0,
  "text shown differs": 0,
  "legs differ": 0,
  "audit differs": 0,
  "event differs": 0,
  "given and sent differ": 0,
  "sent unchecked": 0,
  "unexpected ends": 0,
  "not sent": 0,
};

/** What somebody was asked, as it was written down at that moment. */
interface Shown {
  readonly json: string;
  readonly text: string | undefined;
  readonly object: unknown;
}

/** Says yes to everything, after others have had time to change what the question was about. */
class Approving implements Human {
  readonly shown = new Map<string, Shown[]>();
  readonly #meddle: () => void;

  constructor(meddle: () => void) {
    this.#meddle = meddle;
  }

  async confirm({
    arguments: object,
    argumentsText: text,
  }: ConfirmQuestion): Promise<ConfirmAnswer> {
    const nonce = String(object?.["nonce"]);
    const shown = { json: JSON.stringify(object), text: text?.text, object };
    this.shown.set(nonce, [...(this.shown.get(nonce) ?? []), shown]);
    await this.#wait();
    return "once";
  }

  async elicit(): Promise<ElicitAnswer> {
    await this.#wait();
    return { action: "accept", content: {} };
  }

  async #wait(): Promise<void> {
    this.#meddle();
    await new Promise((resolve) => setImmediate(resolve));
    this.#meddle();
  }
}

/** One call whose arguments change whenever something happens to it. */
interface Case {
  readonly call: Call;
  readonly way: Way;
  readonly isAsked: boolean;
  readonly tricked: TrickedArguments;
  /** What was given, where that is one thing. */
  readonly given: string | undefined;
}

class Scene implements AsyncDisposable {
  readonly #host: McpHost;
  readonly #product: Product;
  readonly #diaries: ReadonlyMap<string, Diary>;
  readonly #cases: Case[] = [];
  readonly #human = new Approving(() => this.#meddle());
  readonly #asking: Session;
  readonly #free: Session;
  readonly #invoked = new Map<string, string>();
  readonly #ends = new Map<string, string>();
  readonly #open = new Set<Case>();
  readonly #adapted = new Map<Session, Given["adapted"]>();
  #changes = 0;

  constructor(host: McpHost, product: Product, diaries: ReadonlyMap<string, Diary>) {
    this.#host = host;
    this.#product = product;
    this.#diaries = diaries;
    this.#asking = host.session({ agent: "asking", level: "trusted", human: this.#human });
    this.#free = host.session({ agent: "free", level: "yolo", human: this.#human });
    for (const type of ["consent-asked", "consent-granted", "call-start"] as const)
      host.on(type, () => this.#meddle());
    host.on("tool-invoked", ({ callId, params }) =>
      this.#invoked.set(callId, JSON.stringify(params)),
    );
    host.on("call-end", ({ callId, code }) => this.#ends.set(callId, code ?? "ok"));
  }

  async ready(): Promise<void> {
    await this.#free.ready();
    for (const session of [this.#asking, this.#free])
      this.#adapted.set(session, await this.#product.aiSdkTools(session));
  }

  /** Calls once, with everything that can change changing all the time. */
  async play(plan: {
    readonly server: string;
    readonly way: Way;
    readonly trick: Trick;
    readonly index: number;
    readonly isAsked: boolean;
  }): Promise<void> {
    const { server, way, trick, index, isAsked } = plan;
    const tool = tools[(index + (index >> 2)) % tools.length] ?? "plain";
    const callId = `${server}-${isAsked ? "asked" : "free"}-${index}`;
    const tricked = trick(callId, 1 + (index % 7));
    const { args, isSteady } = tricked;
    const given = isSteady ? JSON.stringify(args) : undefined;
    const call = { server, tool, name: `mcp__${server}__${tool}`, args, callId };
    const made = { call, way, isAsked, tricked, given };
    this.#cases.push(made);
    this.#open.add(made);
    const ticking = setInterval(() => this.#meddle(), 1);
    try {
      const session = isAsked ? this.#asking : this.#free;
      const { createToolClient } = this.#product;
      const adapted = this.#adapted.get(session) ?? {};
      const calling = way(session, call, { createToolClient, adapted });
      this.#meddle();
      // How it ended is in the events; some ways throw it.
      await calling.catch(() => undefined);
    } finally {
      clearInterval(ticking);
      this.#open.delete(made);
    }
  }

  /** What the person, the servers, the audit trail and those who listen have seen of each call. */
  async compare(figures: typeof noFigures): Promise<void> {
    const audited = new Map<string, unknown>();
    for await (const line of this.#host.audit.export({ type: "call" })) {
      const { detail } = JSON.parse(line) as { readonly detail: Record<string, unknown> };
      audited.set(String(detail["callId"]), detail["argumentsHash"]);
    }
    const received = new Map<string, string[]>();
    for (const diary of this.#diaries.values())
      for (const { text } of diary.entries()) {
        const { params } = JSON.parse(text) as { params: { arguments?: { nonce?: string } } };
        const nonce = params.arguments?.nonce ?? "";
        received.set(nonce, [...(received.get(nonce) ?? []), text]);
      }
    for (const made of this.#cases) {
      const { callId } = made.call;
      const end = this.#ends.get(callId) ?? "no end";
      const legs = received.get(callId) ?? [];
      // Arguments that are not the same twice may be refused; then nothing is sent.
      const isRefused = !made.tricked.isSteady && end === "invalid_arguments" && legs.length === 0;
      if (isRefused) continue;
      if (end !== "ok") figures["unexpected ends"] += 1;
      if (legs.length < 2) figures["not sent"] += 1;
      else this.#compareOne(made, legs, audited.get(callId), figures);
    }
  }

  #compareOne(
    { call, isAsked, given }: Case,
    legs: readonly string[],
    audited: unknown,
    figures: typeof noFigures,
  ): void {
    const shown = this.#human.shown.get(call.callId) ?? [];
    const sent = argumentsIn(legs[0] ?? "");
    const count = (figure: keyof typeof noFigures, isWrong: boolean): void => {
      if (isWrong) figures[figure] += 1;
    };
    figures.compared += 1;
    count("shown and sent differ", isAsked && shown.at(-1)?.json !== sent);
    count(
      "text shown differs",
      shown.some(({ json, text, object }) => text !== json || JSON.stringify(object) !== json),
    );
    count(
      "legs differ",
      legs.some((leg) => !holdsArguments(leg, sent)),
    );
    count("audit differs", audited !== hashLike(audited, sent));
    count("event differs", this.#invoked.get(call.callId) !== sent);
    count("given and sent differ", given !== undefined && given !== sent);
    const { path } = JSON.parse(sent) as { readonly path?: unknown };
    count("sent unchecked", call.tool === "strict" && path !== "allowed");
  }

  #meddle(): void {
    this.#changes += 1;
    for (const { tricked } of this.#open) tricked.change(`changed-${this.#changes}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#host.close();
  }
}

/** The arguments of a request, letter by letter. */
function argumentsIn(request: string): string {
  const { params } = JSON.parse(request) as { readonly params: { readonly arguments?: unknown } };
  return JSON.stringify(params.arguments);
}

/** Whether these are the very bytes. */
function holdsArguments(request: string, args: string): boolean {
  const begin = request.indexOf(`"arguments":${args}`);
  return begin !== -1 && /[,}]/.test(request[begin + `"arguments":${args}`.length] ?? "");
}

/** The hash of a text, as much of it as the trail keeps. */
function hashLike(kept: unknown, text: string): string {
  const { length } = Buffer.from(String(kept), "base64url");
  const digest = createHash("sha256").update(text).digest();
  return length < 12 ? "too short" : digest.subarray(0, length).toString("base64url");
}

/** Every trick in every way; over both transports, with a question and without, unless there is little time. */
async function changeArguments(lab: Lab, product: Product): Promise<Figures> {
  const figures = { ...noFigures };
  for (let round = 0; round < lab.count; round += 1) {
    await playSeen(product, figures, { round, isShort: lab.form === "short" });
    await playStarting(product, figures, round);
  }
  // What is not the same twice may be refused; most of it is not.
  const least = (lab.count * Object.keys(argumentTricks).length * Object.keys(ways).length) / 2;
  return { ...figures, "too few compared": Math.max(0, least - figures.compared) };
}

/** Servers that have been seen before they are called. */
async function playSeen(
  product: Product,
  figures: typeof noFigures,
  { round, isShort }: { readonly round: number; readonly isShort: boolean },
): Promise<void> {
  using project = new Project();
  const diaries = new Map([
    ["pipe", new Diary()],
    ["web", new Diary()],
  ]);
  const [pipe, web] = [...diaries.values()].map(({ file }) => ({ diary: file, lifeMs }));
  await using sites = await Sites.start({
    pipe: hostileEntry("witness", pipe),
    web: hostileHttpEntry("witness", { parameters: { ...web } }),
  });
  await using scene = await openScene(project, product, sites.entries, diaries);
  await scene.ready();
  const circumstances = [...diaries.keys()].flatMap((server) => [
    { server, isAsked: true },
    { server, isAsked: false },
  ]);
  let index = round;
  for (const way of Object.values(ways))
    for (const trick of Object.values(argumentTricks)) {
      const chosen = isShort ? [circumstances[index % circumstances.length]] : circumstances;
      for (const circumstance of chosen) {
        if (circumstance !== undefined) await scene.play({ ...circumstance, way, trick, index });
        index += 1;
      }
    }
  await scene.compare(figures);
}

/** Servers that are still starting when they are called. */
async function playStarting(
  product: Product,
  figures: typeof noFigures,
  round: number,
): Promise<void> {
  using project = new Project();
  const tricks = Object.values(argumentTricks);
  const diaries = new Map(tricks.map((_, index) => [`late${index}`, new Diary()] as const));
  const entries = [...diaries].map(([server, { file: diary }]) => {
    return [server, hostileEntry("witness", { diary, lifeMs, startAfterMs: 50 })] as const;
  });
  await using scene = await openScene(project, product, Object.fromEntries(entries), diaries);
  const choices = Object.values(earlyWays);
  await Promise.all(
    tricks.map(async (trick, index) => {
      const way = choices[(index + round) % choices.length];
      if (way === undefined) throw new Error("there is no such way");
      const isAsked = (index + round) % 4 !== 3;
      await scene.play({ server: `late${index}`, way, trick, index: index + round, isAsked });
    }),
  );
  await scene.compare(figures);
}

async function openScene(
  project: Project,
  product: Product,
  servers: RunningEntries,
  diaries: ReadonlyMap<string, Diary>,
): Promise<Scene> {
  return new Scene(await project.open(product, { servers }), product, diaries);
}

export const approvedArgumentRows: readonly Row[] = [
  {
    id: "I5",
    trigger: "a call is approved, then its arguments change before they are sent",
    expected: "approved bytes are the executed bytes",
    measured: `${Object.keys(argumentTricks).length} kinds of arguments that change, in ${Object.keys(ways).length} ways to call, over stdio and HTTP, with a question and without; they change when the call is made, asked about, begun, asked about by the server, sent again, and every millisecond. What the person was shown is compared with what the server got each time, with the hash in the audit trail and with the event`,
    criteria: zero(...Object.keys(noFigures).filter((it) => it !== "compared"), "too few compared"),
    servers: {},
    ownModes: ["witness"],
    isBusy: true,
    stallAllowance: {
      atMostMs: Number.POSITIVE_INFINITY,
      reason: "the attack makes and compares all arguments in this process, without a pause",
    },
    counts: { short: 1, normal: 5, long: 50 },
    attack: changeArguments,
  },
];
