import { describe, expect, it, onTestFinished } from "vitest";

import {
  connectScripted,
  failureOf,
  type ScriptedOptions,
} from "../../../tests/fixtures/protocol/connect-scripted.ts";
import { implementations } from "../../../tests/fixtures/protocol/implementations.ts";
import { settled } from "../../../tests/fixtures/protocol/manual-clock.ts";
import { protocolOptions } from "../../../tests/fixtures/protocol/protocol-options.ts";
import {
  legacyHello,
  modernScripts,
  type Script,
  type ScriptedPeer,
} from "../../../tests/fixtures/protocol/scripted-peer.ts";
import { callOf } from "../../../tests/fixtures/requests/open-questions.ts";
import { createError } from "../../errors/families.ts";
import { systemClock } from "../../ports/clock.ts";
import { createDemoServer, createMemoryServer } from "../../testing/index.ts";
import type { JsonObject } from "../../text/json-object.ts";
import { adoptTransport } from "../../transport/adopt-transport.ts";
import { connectWithCore } from "../client/core-client.ts";
import type { InputContext, InputHandlers } from "../wire/input-handlers.ts";

const done = { resultType: "complete", content: [{ type: "text", text: "done" }] };
const form = { method: "elicitation/create", params: { mode: "form", message: "Name?" } };

function needs(inputRequests: JsonObject, requestState?: string): JsonObject {
  return { resultType: "input_required", inputRequests, requestState };
}

/** Handlers that note what they were asked and answer `accept`. */
function answering(content: JsonObject = { name: "Ada" }) {
  const asked: { readonly params: JsonObject; readonly context: InputContext }[] = [];
  const handlers: InputHandlers = {
    "elicitation/create": {
      capability: { form: {} },
      answer: async (params, context) => {
        asked.push({ params, context });
        return { action: "accept", content };
      },
    },
  };
  return { asked, handlers };
}

/** A handler that answers when the test says so. */
function hesitating() {
  let answer: (result: JsonObject) => void = () => undefined;
  const signals: AbortSignal[] = [];
  const handlers: InputHandlers = {
    "elicitation/create": {
      capability: {},
      answer: (_, { signal }) => {
        signals.push(signal);
        return new Promise((resolve) => {
          answer = resolve;
        });
      },
    },
  };
  return { handlers, signals, answer: (result: JsonObject) => answer(result) };
}

describe.each(implementations)("what a server asks, over %s", (_, connect) => {
  const modern = (scripts: Record<string, Script>, options?: ScriptedOptions) =>
    connectScripted(connect, scripts, { era: "modern", ...options });
  const legacy = (scripts: Record<string, Script>, options?: ScriptedOptions) =>
    connectScripted(connect, scripts, options);

  describe("what is declared", () => {
    it("PRO-21: nothing without handlers, and with them exactly what they offer, in either era", async () => {
      const handlers: InputHandlers = {
        "elicitation/create": { capability: { form: {}, url: {} }, answer: async () => ({}) },
        "roots/list": { capability: {}, answer: async () => ({ roots: [] }) },
      };
      const declared = { elicitation: { form: {}, url: {} }, roots: {} };
      const capabilitiesKey = "io.modelcontextprotocol/clientCapabilities";
      for (const [inputHandlers, expected] of [
        [undefined, {}],
        [handlers, declared],
      ] as const) {
        const old = await legacy({}, { inputHandlers });
        expect(old.peer.find("initialize")?.params?.["capabilities"]).toEqual(expected);
        const { peer, client } = await modern({ "tools/call": () => done }, { inputHandlers });
        await client.callTool("a", {});
        for (const method of ["server/discover", "tools/call"]) {
          const meta = peer.find(method)?.params?.["_meta"] as JsonObject;
          expect(meta[capabilitiesKey]).toEqual(expected);
        }
      }
    });
  });

  describe("in the modern era", () => {
    it("the answers and the state go back with the request repeated, exactly as they came", async () => {
      const { asked, handlers } = answering();
      const answers = [needs({ who: form }, "state \u0000 é"), done];
      const { client, peer } = await modern(
        { "tools/call": () => answers.shift() },
        { inputHandlers: handlers },
      );
      const owner = callOf(undefined);
      const result = await client.callTool("greet", { a: 1 }, { owner });
      expect(result).toEqual({ content: done.content, isError: false });
      expect(asked.map(({ params, context }) => [params, context.owner])).toEqual([
        [form.params, owner],
      ]);
      const [first, second] = peer.received.filter(({ method }) => method === "tools/call");
      expect(second?.params).toEqual({
        ...first?.params,
        inputResponses: { who: { action: "accept", content: { name: "Ada" } } },
        requestState: "state \u0000 é",
      });
      expect(second?.id).not.toBe(first?.id);
    });

    it("every leg has the arguments of the first, whatever becomes of the caller's object", async () => {
      const { handlers, answer } = hesitating();
      const answers = [needs({ who: form }), done];
      const { client, peer } = await modern(
        { "tools/call": () => answers.shift() },
        { inputHandlers: handlers },
      );
      const args = { path: "/safe" };
      const calling = client.callTool("read", args, { argumentsText: JSON.stringify(args) });
      await settled();
      args.path = "/etc/shadow";
      answer({ action: "accept", content: {} });
      await calling;
      const sent = peer.received.filter(({ method }) => method === "tools/call");
      expect(sent.map(({ params }) => params?.["arguments"])).toEqual([
        { path: "/safe" },
        { path: "/safe" },
      ]);
    });

    it("any request may need input, not only a tool's", async () => {
      const { handlers } = answering();
      const answers = [needs({ who: form }), { resultType: "complete", contents: [] }];
      const { client, peer } = await modern(
        {
          "server/discover": () => ({
            resultType: "complete",
            supportedVersions: ["2026-07-28"],
            capabilities: { resources: {} },
          }),
          "resources/read": () => answers.shift(),
        },
        { inputHandlers: handlers },
      );
      const result = await client.request("resources/read", { uri: "a:b" });
      expect(result).toEqual({ contents: [] });
      expect(peer.received.at(-1)?.params).not.toHaveProperty("requestState");
    });

    it("A16: a request of the server gets no answer, not even one that came before its era was known", async () => {
      const ask = (peer: ScriptedPeer, id: string) => peer.send({ jsonrpc: "2.0", id, ...form });
      const { peer } = await modern({
        "server/discover": (message, peer) => {
          ask(peer, "early");
          return modernScripts["server/discover"]?.(message, peer);
        },
      });
      ask(peer, "late");
      await settled();
      expect(peer.received.filter(({ method }) => method === undefined)).toEqual([]);
    });

    it("E1: a server that never has enough gets 8 rounds and no more", async () => {
      const { asked, handlers } = answering();
      const { client, peer } = await modern(
        { "tools/call": () => needs({ who: form }, "again") },
        { inputHandlers: handlers },
      );
      const error = await failureOf(client.callTool("greedy", {}));
      expect(error).toMatchObject({ code: "protocol_violation", details: { rounds: 8 } });
      expect(asked).toHaveLength(8);
      expect(peer.methods.filter((method) => method === "tools/call")).toHaveLength(9);
    });

    it("E1: a state without a question needs no handler and is paced", async () => {
      const { client, peer, clock } = await modern({ "tools/call": () => needs({}, "busy") });
      const failure = failureOf(client.callTool("busy", {}));
      const sent = () => peer.methods.filter((method) => method === "tools/call").length;
      await clock.advance(249);
      expect(sent()).toBe(1);
      await clock.advance(1);
      expect(sent()).toBe(2);
      await clock.advance(10_000);
      expect((await failure).code).toBe("protocol_violation");
      expect(sent()).toBe(9);
    });

    it("E2: one question that was not offered refuses the whole result, and nobody is asked", async () => {
      const { asked, handlers } = answering();
      const { client, peer } = await modern(
        { "tools/call": () => needs({ who: form, model: { method: "sampling/createMessage" } }) },
        { inputHandlers: handlers },
      );
      const error = await failureOf(client.callTool("greedy", {}));
      expect(error.code).toBe("protocol_violation");
      expect(error.message).toContain("did not offer");
      expect(asked).toEqual([]);
      expect(peer.methods.at(-1)).toBe("tools/call");
    });

    it("what a person takes to answer is bounded by the time for the whole call", async () => {
      const { handlers, signals } = hesitating();
      const { client, clock } = await modern(
        { "tools/call": () => needs({ who: form }) },
        { inputHandlers: handlers, limits: { totalCallTimeoutMs: 120_000 } },
      );
      const failure = failureOf(client.callTool("ask", {}, { timeoutMs: 30_000 }));
      await clock.advance(119_999);
      expect(signals[0]?.aborted).toBe(false);
      await clock.advance(1);
      expect(await failure).toMatchObject({ code: "timeout", details: { isTotal: true } });
      expect(signals[0]?.aborted).toBe(true);
      expect(clock.pending).toBe(0);
    });

    it("the server has its full time again once a person has answered", async () => {
      const { handlers, answer } = hesitating();
      const answers = [needs({ who: form }), undefined];
      const { client, clock } = await modern(
        { "tools/call": () => answers.shift() },
        { inputHandlers: handlers },
      );
      const options = { timeoutMs: 30_000, now: clock.monotonic(), argumentsText: "{}" };
      const failures: unknown[] = [];
      void failureOf(client.callTool("ask", {}, options)).then((error) => failures.push(error));
      // Its deadline makes the client look at all of them.
      const other = failureOf(client.callTool("never", {}, { timeoutMs: 61_000 }));
      await clock.advance(60_000);
      answer({ action: "accept", content: {} });
      await clock.advance(29_999);
      expect(await other).toMatchObject({ code: "timeout" });
      expect(failures).toEqual([]);
      await clock.advance(1);
      expect(failures).toMatchObject([{ code: "timeout" }]);
    });

    it("an abort and the end of the connection withdraw the question", async () => {
      const { handlers, signals } = hesitating();
      const { client, peer, clock } = await modern(
        { "tools/call": () => needs({ who: form }) },
        { inputHandlers: handlers },
      );
      const abort = new AbortController();
      const cancelled = failureOf(client.callTool("ask", {}, { signal: abort.signal }));
      await settled();
      abort.abort();
      expect((await cancelled).code).toBe("cancelled");
      const lost = failureOf(client.callTool("ask", {}));
      await settled();
      peer.die();
      expect((await lost).code).toBe("connection_lost");
      expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
      expect(clock.pending).toBe(0);
    });

    it("a handler that fails fails the call, and the other questions are withdrawn", async () => {
      const { handlers, signals } = hesitating();
      const failing: InputHandlers = {
        ...handlers,
        "roots/list": { capability: {}, answer: () => Promise.reject(new Error("no roots")) },
      };
      const { client } = await modern(
        { "tools/call": () => needs({ who: form, roots: { method: "roots/list" } }) },
        { inputHandlers: failing },
      );
      const error = await failureOf(client.callTool("ask", {}));
      expect(error).toMatchObject({ code: "cancelled", cause: new Error("no roots") });
      expect(signals[0]?.aborted).toBe(true);
      const denied = createError("consent_denied", "not today");
      const refusing: InputHandlers = {
        "roots/list": { capability: {}, answer: () => Promise.reject(denied) },
      };
      const other = await modern(
        { "tools/call": () => needs({ roots: { method: "roots/list" } }) },
        { inputHandlers: refusing },
      );
      expect(await failureOf(other.client.callTool("ask", {}))).toBe(denied);
    });
  });

  describe("in the legacy era", () => {
    it("PRO-19: a question is answered on behalf of the one call in flight", async () => {
      const { asked, handlers } = answering();
      const { client, peer } = await legacy({}, { inputHandlers: handlers });
      const owner = callOf(undefined, "session 1");
      const call = client.callTool("slow", {}, { owner });
      await settled();
      peer.send({ jsonrpc: "2.0", id: "q1", ...form });
      await settled();
      expect(asked.map(({ context }) => context.owner)).toEqual([owner]);
      expect(peer.received.at(-1)).toEqual({
        jsonrpc: "2.0",
        id: "q1",
        result: { action: "accept", content: { name: "Ada" } },
      });
      const other = client.callTool("slow", {}, { owner: callOf(undefined, "session 2") });
      peer.send({ jsonrpc: "2.0", id: "q2", ...form });
      await settled();
      expect(asked.at(-1)?.context.owner).toBeUndefined();
      for (const { id, method } of peer.received.slice())
        if (method === "tools/call") peer.respond(id, { content: [] });
      await Promise.all([call, other]);
    });

    it("silence does not count while a person thinks, the total time does", async () => {
      const { handlers, answer } = hesitating();
      const { client, peer, clock } = await legacy({}, { inputHandlers: handlers });
      const patient = failureOf(client.callTool("slow", {}, { timeoutMs: 30_000 }));
      await settled();
      peer.send({ jsonrpc: "2.0", id: 1, ...form });
      await clock.advance(300_000);
      answer({ action: "decline" });
      await clock.advance(29_000);
      expect(peer.methods).not.toContain("notifications/cancelled");
      await clock.advance(1_100);
      expect(await patient).toMatchObject({ code: "timeout", details: { isTotal: false } });

      const endless = failureOf(client.callTool("slow", {}, { timeoutMs: 30_000 }));
      await settled();
      peer.send({ jsonrpc: "2.0", id: 2, ...form });
      await clock.advance(601_000);
      expect(await endless).toMatchObject({ code: "timeout", details: { isTotal: true } });
    });

    it("a withdrawn question gets no answer, and at most 16 wait at once", async () => {
      const { handlers, signals, answer } = hesitating();
      const { peer } = await legacy({}, { inputHandlers: handlers });
      const before = peer.received.length;
      for (let id = 0; id < 17; id += 1) peer.send({ jsonrpc: "2.0", id, ...form });
      peer.send({ jsonrpc: "2.0", id: 3, ...form });
      await settled();
      expect(peer.received.slice(before)).toMatchObject([
        { id: 16, error: { code: -32_000 } },
        { id: 3, error: { code: -32_600 } },
      ]);
      peer.notify("notifications/cancelled", { requestId: 15 });
      expect(signals[15]?.aborted).toBe(true);
      answer({ action: "accept" });
      await settled();
      expect(peer.received.slice(before)).toHaveLength(2);
      peer.die();
      expect(signals.every(({ aborted }) => aborted)).toBe(true);
    });

    it("nobody is asked before the handshake is over", async () => {
      const { asked, handlers } = answering();
      const { peer } = await legacy(
        {
          initialize: (_, peer) => {
            peer.send({ jsonrpc: "2.0", id: "early", ...form });
            return legacyHello;
          },
        },
        { inputHandlers: handlers },
      );
      await settled();
      expect(asked).toEqual([]);
      const answer = peer.received.find(({ id }) => id === "early");
      expect(answer).toMatchObject({ error: { code: -32_601 } });
    });

    it("why an answer could not be given stays here", async () => {
      const failures: Error[] = [
        new Error("a secret path"),
        createError("consent_denied", "the person said no"),
      ];
      const handlers: InputHandlers = {
        "sampling/createMessage": {
          capability: {},
          answer: () => Promise.reject(failures.shift()),
        },
      };
      const { peer } = await legacy({}, { inputHandlers: handlers });
      for (const id of [1, 2]) peer.send({ jsonrpc: "2.0", id, method: "sampling/createMessage" });
      await settled();
      expect(peer.received.slice(-2)).toMatchObject([
        { id: 1, error: { code: -32_603, message: "No answer could be given" } },
        { id: 2, error: { code: -1, message: "Declined" } },
      ]);
    });
  });

  it.each(["legacy", "modern"] as const)("a real %s server gets its answer", async (era) => {
    const { handlers } = answering();
    const server = createMemoryServer(createDemoServer(), { era });
    const client = await connect(adoptTransport(server.transport, "demo"), {
      ...protocolOptions({ inputHandlers: handlers }),
      clock: systemClock,
    });
    onTestFinished(() => client.close());
    expect(client.era).toBe(era);
    const { content } = await client.callTool("ask_name", {});
    expect(content).toEqual([{ type: "text", text: "Hello, Ada!" }]);
  });
});

// The SDK drops what it cannot read instead of refusing it.
describe("questions that make no sense, over core", () => {
  it.each([
    ["neither question nor state", {}],
    ["questions that are no object", { inputRequests: [form] }],
    ["a state that is no string", { inputRequests: { a: form }, requestState: 7 }],
    [
      "more questions than anyone asks",
      { inputRequests: Object.fromEntries(Array.from({ length: 33 }, (_, i) => [i, form])) },
    ],
  ])("%s is an invalid result", async (_, members) => {
    const { asked, handlers } = answering();
    const { client } = await connectScripted(
      connectWithCore,
      { "tools/call": () => ({ resultType: "input_required", ...members }) },
      { era: "modern", inputHandlers: handlers },
    );
    expect((await failureOf(client.callTool("odd", {}))).code).toBe("invalid_result");
    expect(asked).toEqual([]);
  });

  it("a question called __proto__ is answered like any other", async () => {
    const { handlers } = answering();
    const answers = [JSON.parse(JSON.stringify(needs({ a: form })).replace('"a"', '"__proto__"'))];
    const { client, peer } = await connectScripted(
      connectWithCore,
      { "tools/call": () => answers.shift() ?? done },
      { era: "modern", inputHandlers: handlers },
    );
    await client.callTool("odd", {});
    const responses = peer.received.at(-1)?.params?.["inputResponses"] as JsonObject;
    expect(Object.keys(responses)).toEqual(["__proto__"]);
  });
});
