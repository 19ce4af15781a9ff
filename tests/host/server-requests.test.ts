import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";

import {
  type ConfirmAnswer,
  type ConfirmQuestion,
  createHost,
  type ElicitAnswer,
  type ElicitQuestion,
  type HostEvent,
  type HostOptions,
  type Human,
  type McpHost,
  type Outcome,
  type SamplingRequest,
  type Session,
} from "../../src/index.ts";
import { watchedUri } from "../fixtures/servers/asking-server.ts";
import { overHttp, overStdio } from "../fixtures/servers/open-asking-server.ts";

const transports = { stdio: overStdio, http: overHttp } as const;
type TransportName = keyof typeof transports;
const eras = ["legacy", "modern"] as const;

const ways = eras.flatMap((era) =>
  (Object.keys(transports) as TransportName[]).map((transport) => ({ era, transport })),
);
type Way = (typeof ways)[number];

const wayName = ({ era, transport }: Way) => `${era}, ${transport}`;

/** A person and a model whose answers a test lays out, and who remember what they were asked. */
class Answering {
  elicit: ElicitAnswer[] = [];
  confirm: ConfirmAnswer[] = [];
  readonly asked: ElicitQuestion[] = [];
  readonly opened: string[] = [];
  notified: (notice: unknown) => void = () => undefined;
  readonly confirmed: ConfirmQuestion[] = [];
  readonly prompts: SamplingRequest[] = [];

  readonly human: Human = {
    elicit: async (question) => {
      this.asked.push(question);
      return this.elicit.shift() ?? { action: "cancel" };
    },
    confirm: async (question) => {
      this.confirmed.push(question);
      return this.confirm.shift() ?? "no";
    },
    openUrl: async (url) => {
      this.opened.push(url);
    },
  };

  readonly sampling = async (request: SamplingRequest) => {
    this.prompts.push(request);
    return { content: "Forty-two", model: "test-model" };
  };
}

interface Scene extends AsyncDisposable {
  readonly host: McpHost;
  readonly session: Session;
  readonly events: HostEvent[];
  /** What the tool says: for one that asks, what the client told the server. */
  call(tool: string, args?: Readonly<Record<string, unknown>>): Promise<unknown>;
}

async function enter({ era, transport }: Way, options: HostOptions = {}): Promise<Scene> {
  const server = await transports[transport](era);
  const host = await createHost({ config: false, servers: { a: server.entry }, ...options });
  const events: HostEvent[] = [];
  host.on("*", (event) => events.push(event));
  const session = host.session({ agent: "tester", level: "yolo" });
  await host.connect("a");
  expect(host.server("a").era).toBe(era);
  return {
    host,
    session,
    events,
    async call(tool, args = {}) {
      return JSON.parse(textOf(await session.call(`mcp__a__${tool}`, args)));
    },
    async [Symbol.asyncDispose]() {
      await host.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

function textOf(outcome: Outcome): string {
  if (!outcome.ok) throw new Error(`${outcome.error.code}: ${outcome.error.message}`);
  return outcome.text;
}

/** Calls the tool until what it brings about has happened: streams of changes open in the background. */
async function callUntil<T>(scene: Scene, tool: string, happens: Promise<T>): Promise<T> {
  const waiting = { isOver: false };
  const result = happens.finally(() => {
    waiting.isOver = true;
  });
  while (!waiting.isOver) await scene.session.call(`mcp__a__${tool}`);
  return await result;
}

const features = [
  "elicitation: form",
  "elicitation: URL",
  "elicitation: visit",
  "sampling",
  "roots",
  "roots: change told",
  "nothing offered",
  "progress",
  "cancellation",
  "resource updates",
  "list changes",
] as const;

/** What was seen to work where. */
const seen = new Map<string, string>();

describe.each(ways)("what a $era server asks over $transport", (way) => {
  let scene: Scene;
  let answering: Answering;
  const note = (feature: (typeof features)[number], text = "works") =>
    seen.set(`${feature}, ${wayName(way)}`, text);

  beforeAll(async () => {
    scene = await enter(way, {
      human: {
        elicit: (question, options) => answering.human.elicit?.(question, options) as never,
        confirm: (question, options) => answering.human.confirm?.(question, options) as never,
        openUrl: (url, options) => answering.human.openUrl?.(url, options) as never,
        notify: (notice) => answering.notified(notice),
      },
      sampling: (request) => answering.sampling(request),
      roots: ["/srv/one"],
      cwd: "/srv",
    });
  });
  afterAll(() => scene[Symbol.asyncDispose]());
  beforeEach(() => {
    answering = new Answering();
    scene.events.length = 0;
  });

  it("PRO-19 PRO-21: a form is filled in, declined or put away", async () => {
    answering.elicit = [
      { action: "accept", content: { name: "Ada", age: 36 } },
      { action: "decline" },
      { action: "cancel" },
    ];
    expect(await scene.call("ask_form")).toEqual({
      action: "accept",
      content: { name: "Ada", age: 36, member: true, color: "red" },
    });
    expect(await scene.call("ask_form")).toEqual({ action: "decline" });
    expect(await scene.call("ask_form")).toEqual({ action: "cancel" });
    expect(answering.asked[0]).toMatchObject({
      kind: "form",
      serverName: "a",
      agent: "tester",
      toolName: "ask_form",
      message: "Who?",
      fields: [
        { name: "name", title: "Name", type: "text", isRequired: true },
        { name: "mail", type: "text", format: "email", isRequired: false },
        { name: "age", type: "integer" },
        { name: "member", type: "boolean", default: true },
        { name: "color", type: "choice", options: [{ value: "red" }, { value: "green" }] },
        { name: "sizes", type: "choices" },
      ],
    });
    note("elicitation: form");
  });

  it("E3: an address is shown in full and opened after a yes, a bad one reaches nobody", async () => {
    const url = "https://example.com/sign-in?state=1#top";
    answering.elicit = [{ action: "accept" }, { action: "decline" }];
    expect(await scene.call("ask_url", { url })).toEqual({ action: "accept" });
    expect(answering.opened).toEqual([url]);
    expect(await scene.call("ask_url", { url })).toEqual({ action: "decline" });
    expect(answering.asked).toMatchObject([{ kind: "url", url, host: "example.com" }, { url }]);
    const refused = await scene.session.call("mcp__a__ask_url", { url: "https://u:p@example.com" });
    expect(refused.ok).toBe(false);
    expect(answering.asked).toHaveLength(2);
    expect(answering.opened).toHaveLength(1);
    note("elicitation: URL");
  });

  it("PRO-21 E3: a call that needs a visit first ends with a hint, and the person hears when it is done", async () => {
    const url = "https://example.com/sign-in";
    if (way.era === "modern") {
      note("elicitation: visit", "not in this era");
      return;
    }
    answering.elicit = [{ action: "accept" }, { action: "decline" }];
    const need = async (address: string) => {
      const outcome = await scene.session.call("mcp__a__need_url", { url: address });
      return outcome.ok ? undefined : outcome.error;
    };
    expect(await need(url)).toMatchObject({
      code: "rpc_error",
      rpc: { code: -32_042 },
      retryable: true,
      hint: expect.stringContaining("call again") as unknown,
    });
    expect(answering.opened).toEqual([url]);
    expect(await need(url)).toMatchObject({ code: "rpc_error", retryable: false });
    expect(await need("https://u:p@example.com")).toMatchObject({ retryable: false });
    expect(answering.asked).toMatchObject([{ kind: "url", url, toolName: "need_url" }, { url }]);
    const outcomes = scene.events.flatMap((event) =>
      event.type === "request-answered" ? [event.outcome] : [],
    );
    expect(outcomes).toEqual(["answered", "declined", "refused"]);
    const told = new Promise((resolve) => {
      answering.notified = resolve;
    });
    await scene.session.call("mcp__a__visited");
    expect(await told).toEqual({ level: "info", text: "a: done with the page of example.com" });
    note("elicitation: visit");
  });

  it("A16: the model is asked after a person said yes, and not after a no", async () => {
    answering.confirm = ["once", "no"];
    expect(await scene.call("sample", { text: "What is the answer?" })).toEqual({
      role: "assistant",
      content: { type: "text", text: "Forty-two" },
      model: "test-model",
      stopReason: "endTurn",
    });
    expect((await scene.session.call("mcp__a__sample", { text: "And now?" })).ok).toBe(false);
    expect(answering.confirmed[0]).toMatchObject({
      kind: "sampling",
      serverName: "a",
      agent: "tester",
      toolName: "sample",
      prompt: { text: "system:\n  | Be brief\nuser:\n  | What is the answer?", omittedChars: 0 },
      answers: ["no", "once", "server-session"],
    });
    const messages = [{ role: "user", content: [{ type: "text", text: "What is the answer?" }] }];
    expect(answering.prompts).toMatchObject([
      { messages, maxTokens: 100, systemPrompt: "Be brief" },
    ]);
    note("sampling");
  });

  it("PRO-19: roots are what the program says they are at the moment", async () => {
    expect(await scene.call("list_roots")).toEqual({
      roots: [{ uri: "file:///srv/one", name: "one" }],
    });
    note("roots");
    await scene.host.setRoots([{ uri: "two", name: "The second" }]);
    expect(await scene.call("list_roots")).toEqual({
      roots: [{ uri: "file:///srv/two", name: "The second" }],
    });
    const isTold = way.era === "legacy";
    expect(await scene.call("counters")).toMatchObject({ rootsChanged: isTold ? 1 : 0 });
    note("roots: change told", isTold ? "works" : "not in this era");
  });

  it("each question is an event with its call, and the answer is in none", async () => {
    answering.elicit = [{ action: "accept", content: { name: "a secret name" } }];
    await scene.session.call("mcp__a__ask_form", {}, { callId: "call 7" });
    const events = scene.events.filter(({ type }) => type.startsWith("request-"));
    expect(events).toMatchObject([
      { type: "request-asked", kind: "elicitation", serverName: "a", callId: "call 7" },
      { type: "request-answered", kind: "elicitation", callId: "call 7", outcome: "answered" },
    ]);
    expect(JSON.stringify(events)).not.toContain("secret");
  });

  it("A16 E2: what nobody can answer is not offered, and asking for it fails the call", async () => {
    await using silent = await enter(way);
    for (const tool of ["ask_form", "sample", "list_roots"]) {
      const outcome = await silent.session.call(`mcp__a__${tool}`, { text: "?" });
      expect(outcome, tool).toMatchObject({ ok: false });
    }
    expect(silent.events.filter(({ type }) => type === "request-asked")).toEqual([]);
    note("nothing offered", "refused");
  });

  it("LIM-10: progress arrives while the call runs", async () => {
    const reports: number[] = [];
    const onProgress = ({ progress }: { readonly progress: number }) => reports.push(progress);
    expect(textOf(await scene.session.call("mcp__a__count", {}, { onProgress }))).toBe("counted");
    expect(reports).toEqual([1, 2, 3]);
    note("progress");
  });

  it("PRO-22 LIM-10: a cancelled call ends at the server, too", async () => {
    const abort = new AbortController();
    const outcome = await scene.session.call(
      "mcp__a__wait",
      {},
      { signal: abort.signal, onProgress: () => abort.abort() },
    );
    expect(outcome).toMatchObject({ ok: false, error: { code: "cancelled" } });
    await expect.poll(() => scene.call("counters")).toMatchObject({ cancelled: 1 });
    note("cancellation");
  });

  it("LIM-10: an update of a watched resource is reported", async () => {
    let stop = (): Promise<void> => Promise.resolve();
    const { content } = scene.session;
    const updated = new Promise<void>((resolve, reject) => {
      content.watchResource("a", watchedUri, resolve).then((unwatch) => {
        stop = unwatch;
      }, reject);
    });
    await callUntil(scene, "touch", updated);
    await stop();
    note("resource updates");
  });

  it("LIM-10 LIM-16 DSC-07: a changed list is fetched again", async () => {
    const changed = new Promise<unknown>((resolve) => {
      scene.host.on("tools-changed", resolve);
    });
    expect(await callUntil(scene, "grow", changed)).toMatchObject({
      serverName: "a",
      added: ["grown"],
      removed: [],
    });
    note("list changes");
  });
});

it("LIM-10 PRO-19: every feature was seen in both eras over stdio and HTTP", () => {
  const rows = features.map((feature) => [
    feature,
    ...ways.map((way) => seen.get(`${feature}, ${wayName(way)}`) ?? "NOT SEEN"),
  ]);
  const heads = ["", ...ways.map((way) => wayName(way))];
  const print = (cells: readonly string[]) => cells.map((cell) => cell.padEnd(20)).join("");
  process.stdout.write(`${[heads, ...rows].map((row) => print(row)).join("\n")}\n`);
  expect(rows.flat()).not.toContain("NOT SEEN");
});
