import { describe, expect, it } from "vitest";

import {
  createHost,
  type ElicitAnswer,
  type HostOptions,
  type Human,
  type McpHost,
  type Outcome,
} from "../../src/index.ts";
import { ManualClock, settled } from "../fixtures/protocol/manual-clock.ts";
import {
  legacyHello,
  legacyScripts,
  modernHello,
  modernScripts,
  type Script,
  ScriptedPeer,
  type WireMessage,
} from "../fixtures/protocol/scripted-peer.ts";

const tools = {
  tools: [{ name: "work", inputSchema: { type: "object" } }],
};
const form = {
  method: "elicitation/create",
  params: {
    message: "Who?",
    requestedSchema: { type: "object", properties: { name: { type: "string" } } },
  },
};

/** Someone who answers with their own name, and how often they did. */
function person(name: string) {
  const counter = { asked: 0 };
  const human: Human = {
    elicit: async (): Promise<ElicitAnswer> => {
      counter.asked += 1;
      return { action: "accept", content: { name } };
    },
  };
  return { human, counter };
}

const accepted = (name: string) => ({ action: "accept", content: { name } });

/** A host whose one server is made of scripts; it is connected when the test asks for it. */
async function hostOf(peer: ScriptedPeer, options: HostOptions = {}): Promise<McpHost> {
  return await createHost({ config: false, servers: { s: peer.transport }, ...options });
}

function legacyPeer(scripts: Record<string, Script> = {}): ScriptedPeer {
  return new ScriptedPeer({ ...legacyScripts, "tools/list": () => tools, ...scripts });
}

/** Asks, and waits for what comes back. */
async function push(peer: ScriptedPeer, id: string, request: object = form): Promise<unknown> {
  peer.send({ jsonrpc: "2.0", id, ...request });
  for (;;) {
    await settled();
    const answer = peer.received.find((message) => message.id === id);
    if (answer !== undefined) return answer.result ?? answer.error;
  }
}

function answerCalls(peer: ScriptedPeer): void {
  for (const { id, method } of peer.received.slice())
    if (method === "tools/call") peer.respond(id, { content: [{ type: "text", text: "done" }] });
}

/** A person who never answers, and the signal of the first question they are asked. */
function silentPerson(): { readonly human: Human; readonly asked: Promise<AbortSignal> } {
  let hear: (signal: AbortSignal) => void = () => undefined;
  const asked = new Promise<AbortSignal>((resolve) => {
    hear = resolve;
  });
  const elicit: Human["elicit"] = (_, { signal }) => {
    hear(signal);
    return new Promise(() => undefined);
  };
  return { human: { elicit }, asked };
}

describe("a question of a legacy server on a shared connection", () => {
  it("PRO-19: goes to the session whose call is the only one, else to the host", async () => {
    const peer = legacyPeer();
    const [ada, bob, owner] = [person("Ada"), person("Bob"), person("host")];
    await using host = await hostOf(peer, { human: owner.human });
    const one = host.session({ agent: "one", level: "yolo", human: ada.human });
    const two = host.session({ agent: "two", level: "yolo", human: bob.human });
    await host.connect("s");
    expect(await push(peer, "no call")).toEqual(accepted("host"));
    const first = one.call("mcp__s__work");
    await settled();
    expect(await push(peer, "one call")).toEqual(accepted("Ada"));
    const second = two.call("mcp__s__work");
    await settled();
    expect(await push(peer, "two calls")).toEqual(accepted("host"));
    answerCalls(peer);
    await Promise.all([first, second]);
    const third = two.call("mcp__s__work");
    await settled();
    expect(await push(peer, "the other")).toEqual(accepted("Bob"));
    answerCalls(peer);
    await third;
    expect([ada, bob, owner].map(({ counter }) => counter.asked)).toEqual([1, 1, 2]);
  });

  it("PRO-19: is declined when nobody can be asked on behalf of that call", async () => {
    const peer = legacyPeer();
    const ada = person("Ada");
    await using host = await hostOf(peer);
    host.session({ agent: "one", level: "yolo", human: ada.human });
    const silent = host.session({ agent: "two", level: "yolo" });
    await host.connect("s");
    expect(await push(peer, "no call")).toEqual({ action: "decline" });
    const call = silent.call("mcp__s__work");
    await settled();
    expect(await push(peer, "call")).toEqual({ action: "decline" });
    answerCalls(peer);
    await call;
    expect(ada.counter.asked).toBe(0);
  });

  it("PRO-21: a session's human is declared by connections that open after it", async () => {
    const peers = [legacyPeer(), legacyPeer()];
    const opened: ScriptedPeer[] = [];
    await using host = await createHost({
      config: false,
      servers: {
        s: () => {
          const peer = peers.shift() ?? legacyPeer();
          opened.push(peer);
          return peer.transport;
        },
      },
    });
    const declared = () => opened.at(-1)?.find("initialize")?.params?.["capabilities"];
    await host.connect("s");
    expect(declared()).toEqual({});
    host.session({ human: person("Ada").human });
    await host.reconnect("s");
    expect(opened).toHaveLength(2);
    expect(declared()).toEqual({ elicitation: { form: {} } });
  });

  it("A16 PRO-19: that was never offered is an unknown method, one that makes no sense has invalid params", async () => {
    const peer = legacyPeer();
    const ada = person("Ada");
    await using host = await hostOf(peer, { human: ada.human });
    await host.connect("s");
    for (const method of ["sampling/createMessage", "roots/list", "tasks/list"])
      expect(await push(peer, method, { method })).toMatchObject({ code: -32_601 });
    const nested = { type: "object", properties: { a: { type: "object" } } };
    const senseless = [
      { message: "Who?", requestedSchema: nested },
      { mode: "url", message: "Sign in", url: "https://example.com/" },
      {},
    ];
    for (const [index, params] of senseless.entries())
      expect(await push(peer, `q${index}`, { method: form.method, params })).toEqual({
        code: -32_602,
        message: "Invalid params",
      });
    expect(ada.counter.asked).toBe(0);
  });

  it("PRO-22: is withdrawn when the call it belongs to is over", async () => {
    const peer = legacyPeer();
    const { human, asked } = silentPerson();
    await using host = await hostOf(peer, { human });
    const session = host.session({ level: "yolo" });
    await session.ready();
    const abort = new AbortController();
    const call = session.call("mcp__s__work", {}, { signal: abort.signal, callId: "call 1" });
    const answer = push(peer, "question");
    const signal = await asked;
    abort.abort();
    expect(await call).toMatchObject({ ok: false, error: { code: "cancelled" } });
    expect(await answer).toEqual({ action: "cancel" });
    expect(signal.aborted).toBe(true);
  });

  it("PRO-22: is withdrawn when the resource it belongs to is no longer read", async () => {
    const peer = legacyPeer({
      initialize: () => ({ ...legacyHello, capabilities: { tools: {}, resources: {} } }),
    });
    const { human, asked } = silentPerson();
    await using host = await hostOf(peer, { human });
    const session = host.session({ level: "yolo" });
    await session.ready();
    const abort = new AbortController();
    const reading = session.content.readResource("s", "file:///a", { signal: abort.signal });
    const failure = expect(reading).rejects.toMatchObject({ code: "cancelled" });
    await settled();
    const answer = push(peer, "question");
    const signal = await asked;
    abort.abort();
    await failure;
    expect(await answer).toEqual({ action: "cancel" });
    expect(signal.aborted).toBe(true);
  });

  it("A16: a server that asks without a call is held back after a while", async () => {
    const peer = legacyPeer();
    const ada = person("Ada");
    await using host = await hostOf(peer, { human: ada.human, clock: new ManualClock() });
    await host.connect("s");
    const answers: unknown[] = [];
    for (let index = 0; index < 20; index += 1) answers.push(await push(peer, `q${index}`));
    for (const [index, answer] of answers.entries())
      expect(answer).toEqual(index < 16 ? accepted("Ada") : { code: -1, message: "Declined" });
    expect(ada.counter.asked).toBe(16);
  });
});

describe("a question of a modern server", () => {
  /** Every call asks once and then tells what it heard. */
  function modernPeer(question: object = form): ScriptedPeer {
    return new ScriptedPeer({
      ...modernScripts,
      "tools/list": () => ({ resultType: "complete", ...tools }),
      "tools/call": ({ params }) => {
        const answers = params?.["inputResponses"];
        if (answers === undefined)
          return { resultType: "input_required", inputRequests: { it: question } };
        const text = JSON.stringify(answers);
        return { resultType: "complete", content: [{ type: "text", text }] };
      },
    });
  }

  const heard = (outcome: Outcome) => (JSON.parse(outcome.text) as { it: unknown }).it;

  it("goes to the session of its call, however many are in flight", async () => {
    const [ada, bob, owner] = [person("Ada"), person("Bob"), person("host")];
    await using host = await hostOf(modernPeer(), { human: owner.human });
    const one = host.session({ agent: "one", level: "yolo", human: ada.human });
    const two = host.session({ agent: "two", level: "yolo", human: bob.human });
    const three = host.session({ agent: "three", level: "yolo" });
    await host.connect("s");
    const outcomes = await Promise.all(
      [one, two, three].map((session) => session.call("mcp__s__work")),
    );
    expect(outcomes.map((outcome) => heard(outcome))).toEqual(
      ["Ada", "Bob", "host"].map((name) => accepted(name)),
    );
  });

  it("about anything but a call goes to the session, too", async () => {
    const [ada, owner] = [person("Ada"), person("host")];
    const peer = modernPeer();
    Object.assign(peer.scripts, {
      "server/discover": () => ({ ...modernHello, capabilities: { tools: {}, resources: {} } }),
      "resources/read": ({ params }: WireMessage) => {
        const answers = params?.["inputResponses"];
        return answers === undefined
          ? { resultType: "input_required", inputRequests: { it: form } }
          : {
              resultType: "complete",
              contents: [{ uri: "test://a", text: JSON.stringify(answers) }],
            };
      },
    });
    await using host = await hostOf(peer, { human: owner.human });
    const session = host.session({ level: "yolo", human: ada.human });
    const [contents] = await session.content.readResource("s", "test://a");
    expect(JSON.parse(contents?.text ?? "")).toEqual({ it: accepted("Ada") });
    expect(owner.counter.asked).toBe(0);
  });

  it("E2 E3: that makes no sense fails the call and reaches nobody", async () => {
    const bad = { method: form.method, params: { mode: "url", message: "x", url: "file:///etc" } };
    const ada = person("Ada");
    const human = { ...ada.human, openUrl: () => Promise.reject(new Error("opened")) };
    await using host = await hostOf(modernPeer(bad), { human });
    const session = host.session({ level: "yolo" });
    const outcome = await session.call("mcp__s__work");
    expect(outcome).toMatchObject({
      ok: false,
      serverName: "s",
      error: { code: "protocol_violation", message: expect.stringContaining("refused") as string },
    });
    expect(ada.counter.asked).toBe(0);
    expect(host.server("s").state).toBe("connected");
  });

  it("LIM-10: events of a question reach the session of its call and no other", async () => {
    await using host = await hostOf(modernPeer(), { human: person("Ada").human });
    const one = host.session({ agent: "one", level: "yolo" });
    const two = host.session({ agent: "two", level: "yolo" });
    const seen: string[] = [];
    one.on("request-answered", () => seen.push("one"));
    two.on("request-answered", () => seen.push("two"));
    await one.call("mcp__s__work");
    expect(seen).toEqual(["one"]);
  });
});
