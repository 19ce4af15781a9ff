import { describe, expect, it } from "vitest";

import {
  type ConfirmQuestion,
  createHost,
  type ElicitAnswer,
  type ElicitQuestion,
  type HostEvent,
  type HostOptions,
  type Human,
  type McpHost,
  type Outcome,
  type Session,
} from "../../src/index.ts";
import { watchedUri } from "../fixtures/servers/asking-server.ts";
import { overHttp, overStdio } from "../fixtures/servers/open-asking-server.ts";

const eras = ["legacy", "modern"] as const;
type Era = (typeof eras)[number];

/** What was seen to work, printed as a table at the end. */
const table: Record<string, Record<string, string>> = {};

interface Scene extends AsyncDisposable {
  readonly host: McpHost;
  readonly session: Session;
  readonly events: readonly HostEvent[];
  /** The tool's answer: what the client told the server. */
  ask(tool: string, args?: Readonly<Record<string, unknown>>): Promise<unknown>;
}

const transports = { stdio: overStdio, http: overHttp } as const;
type TransportName = keyof typeof transports;

async function enter(
  era: Era,
  transport: TransportName,
  options: HostOptions = {},
): Promise<Scene> {
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
    async ask(tool, args = {}) {
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

/** A person who gives these answers, one after the other, and remembers what was asked. */
function person(...answers: readonly ElicitAnswer[]) {
  const asked: ElicitQuestion[] = [];
  const opened: string[] = [];
  const left = [...answers];
  const human: Human = {
    elicit: (question) => {
      asked.push(question);
      return Promise.resolve(left.shift() ?? { action: "cancel" });
    },
    openUrl: (url) => {
      opened.push(url);
      return Promise.resolve();
    },
  };
  return { human, asked, opened };
}

const ways = eras.flatMap((era) =>
  (Object.keys(transports) as TransportName[]).map((transport) => ({ era, transport })),
);

describe.each(ways)("what a $era server over $transport asks", ({ era, transport }) => {
  const open = (options?: HostOptions) => enter(era, transport, options);
  const seen = (feature: string) => {
    (table[feature] ??= {})[`${era} ${transport}`] = "works";
  };

  it("PRO-19 PRO-21: a form is filled in, declined or put away", async () => {
    const { human, asked } = person(
      { action: "accept", content: { name: "Ada", age: 36 } },
      { action: "decline" },
      { action: "cancel" },
    );
    await using scene = await open({ human });
    expect(await scene.ask("ask_form")).toEqual({
      action: "accept",
      content: { name: "Ada", age: 36, member: true, color: "red" },
    });
    expect(await scene.ask("ask_form")).toEqual({ action: "decline" });
    expect(await scene.ask("ask_form")).toEqual({ action: "cancel" });
    expect(asked[0]).toMatchObject({
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
    seen("elicitation: form");
  });

  it("E3: an address is shown in full and opened after a yes, bad ones reach nobody", async () => {
    const url = "https://example.com/sign-in?state=1#top";
    const { human, asked, opened } = person({ action: "accept" }, { action: "decline" });
    await using scene = await open({ human });
    expect(await scene.ask("ask_url", { url })).toMatchObject({ action: "accept" });
    expect(opened).toEqual([url]);
    expect(await scene.ask("ask_url", { url })).toMatchObject({ action: "decline" });
    expect(asked).toMatchObject([{ kind: "url", url, host: "example.com" }, { url }]);
    const refused = await scene.session.call("mcp__a__ask_url", { url: "https://u:p@example.com" });
    expect(refused).toMatchObject({ ok: false });
    expect(asked).toHaveLength(2);
    expect(opened).toHaveLength(1);
    seen("elicitation: URL");
  });

  it("A16: the model is asked after a person said yes, and not after a no", async () => {
    const questions: ConfirmQuestion[] = [];
    const answers = ["once", "no"] as const;
    const prompts: unknown[] = [];
    await using scene = await open({
      human: {
        confirm: async (question) => {
          questions.push(question);
          return answers[questions.length - 1] ?? "no";
        },
      },
      sampling: async ({ messages, maxTokens, systemPrompt }) => {
        prompts.push([messages, maxTokens, systemPrompt]);
        return { content: "Forty-two", model: "test-model" };
      },
    });
    expect(await scene.ask("sample", { text: "What is the answer?" })).toEqual({
      role: "assistant",
      content: { type: "text", text: "Forty-two" },
      model: "test-model",
      stopReason: "endTurn",
    });
    const denied = await scene.session.call("mcp__a__sample", { text: "And now?" });
    expect(denied.ok).toBe(false);
    expect(questions[0]).toEqual({
      kind: "sampling",
      serverName: "a",
      agent: "tester",
      toolName: "sample",
      prompt: "system: Be brief\nuser: What is the answer?",
    });
    expect(prompts).toEqual([
      [
        [{ role: "user", content: [{ type: "text", text: "What is the answer?" }] }],
        100,
        "Be brief",
      ],
    ]);
    seen("sampling");
  });

  it("PRO-19: roots are what the program says they are at the moment", async () => {
    await using scene = await open({ roots: ["/srv/one"], cwd: "/srv" });
    expect(await scene.ask("list_roots")).toEqual({
      roots: [{ uri: "file:///srv/one", name: "one" }],
    });
    await scene.host.setRoots([{ uri: "two", name: "The second" }]);
    expect(await scene.ask("list_roots")).toEqual({
      roots: [{ uri: "file:///srv/two", name: "The second" }],
    });
    expect(await scene.ask("counters")).toMatchObject({ rootsChanged: era === "legacy" ? 1 : 0 });
    seen("roots");
  });

  it("A16 E2: what nobody can answer is not offered, and asking for it fails the call", async () => {
    await using scene = await open();
    for (const tool of ["ask_form", "sample", "list_roots"])
      expect(await scene.session.call(`mcp__a__${tool}`, { text: "?" })).toMatchObject({ ok: false });
    expect(scene.events.filter(({ type }) => type === "request-asked")).toEqual([]);
    seen("nothing offered, nothing answered");
  });

  it("each question is an event with its call, and the answers are in none of them", async () => {
    const { human } = person({ action: "accept", content: { name: "a secret name" } });
    await using scene = await open({ human });
    await scene.session.call("mcp__a__ask_form", {}, { callId: "call 7" });
    const events = scene.events.filter(({ type }) => type.startsWith("request-"));
    expect(events).toMatchObject([
      { type: "request-asked", kind: "elicitation", serverName: "a", callId: "call 7" },
      { type: "request-answered", kind: "elicitation", callId: "call 7", outcome: "answered" },
    ]);
    expect(JSON.stringify(scene.events)).not.toContain("request-answered-content");
    expect(JSON.stringify(events)).not.toContain("secret");
    seen("events");
  });

  it("LIM-10: progress arrives while the call runs", async () => {
    await using scene = await open();
    const reports: number[] = [];
    const outcome = await scene.session.call(
      "mcp__a__count",
      {},
      { onProgress: ({ progress }) => reports.push(progress) },
    );
    expect(textOf(outcome)).toBe("counted");
    expect(reports).toEqual([1, 2, 3]);
    seen("progress");
  });

  it("PRO-22 LIM-10: a cancelled call ends at the server, too", async () => {
    await using scene = await open();
    const abort = new AbortController();
    const outcome = await scene.session.call(
      "mcp__a__wait",
      {},
      { signal: abort.signal, onProgress: () => abort.abort() },
    );
    expect(outcome).toMatchObject({ ok: false, error: { code: "cancelled" } });
    await expect
      .poll(() => scene.ask("counters"), { timeout: 10_000 })
      .toMatchObject({ cancelled: 1 });
    seen("cancellation");
  });

  it("LIM-10: an update of a watched resource is reported", async () => {
    await using scene = await open();
    let stop = (): Promise<void> => Promise.resolve();
    const updated = new Promise<void>((resolve) => {
      void scene.session.content
        .watchResource("a", watchedUri, resolve)
        .then(async (unwatch) => {
          stop = unwatch;
          await scene.session.call("mcp__a__touch");
        });
    });
    await updated;
    await stop();
    seen("subscription to a resource");
  });

  it("LIM-10 DSC-07: a changed list is fetched again", async () => {
    await using scene = await open();
    const changed = new Promise<unknown>((resolve) => {
      scene.host.on("tools-changed", resolve);
    });
    await scene.session.call("mcp__a__grow");
    expect(await changed).toMatchObject({ serverName: "a", added: ["grown"], removed: [] });
    seen("list changes");
  });
});
