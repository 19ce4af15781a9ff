import { describe, expect, it } from "vitest";

import { connectScripted, failureOf } from "../../../tests/fixtures/protocol/connect-scripted.ts";
import { implementations } from "../../../tests/fixtures/protocol/implementations.ts";
import { settled } from "../../../tests/fixtures/protocol/manual-clock.ts";
import type { Script } from "../../../tests/fixtures/protocol/scripted-peer.ts";
import { callOf } from "../../../tests/fixtures/requests/open-questions.ts";
import { createError } from "../../errors/families.ts";
import type { JsonObject } from "../../text/json-object.ts";
import type { InputContext, InputHandlers } from "../wire/input-handlers.ts";

const page = (path: string): JsonObject => ({
  mode: "url",
  elicitationId: path,
  url: `https://example.com/${path}`,
  message: "Please sign in",
});

/** Refuses every call until the pages have been visited. */
const refusing =
  (data: unknown, code = -32_042): Script =>
  ({ id }, peer) =>
    peer.fail(id, code, "more is needed", data);

type Answer = (params: JsonObject, context: InputContext) => Promise<JsonObject>;

function visiting(answer: Answer, capability: JsonObject = { form: {}, url: {} }) {
  const asked: { readonly params: JsonObject; readonly context: InputContext }[] = [];
  const handlers: InputHandlers = {
    "elicitation/create": {
      capability,
      answer: (params, context) => {
        asked.push({ params, context });
        return answer(params, context);
      },
    },
  };
  return { asked, handlers };
}

const accept: Answer = async () => ({ action: "accept" });

describe.each(implementations)("an error that asks for a visit, over %s", (_, connect) => {
  const refused = async (data: unknown, handlers: InputHandlers, code?: number) =>
    await connectScripted(
      connect,
      { "tools/call": refusing(data, code) },
      { inputHandlers: handlers },
    );

  it("PRO-21: each page is asked about in turn, and the caller may try again; nothing is repeated", async () => {
    const { asked, handlers } = visiting(accept);
    const data = { elicitations: [page("one"), page("two")] };
    const { client, peer } = await refused(data, handlers);
    const owner = callOf(undefined, "session 1");
    const error = await failureOf(client.callTool("a", {}, { owner }));
    expect(error).toMatchObject({
      code: "rpc_error",
      retryable: true,
      hint: expect.stringContaining("call again") as unknown,
      details: { method: "tools/call", rpc: { code: -32_042, data } },
    });
    expect(asked.map(({ params, context }) => [params, context.owner])).toEqual([
      [page("one"), owner],
      [page("two"), owner],
    ]);
    expect(peer.methods.filter((method) => method === "tools/call")).toHaveLength(1);
  });

  it.each([
    ["declined", async () => ({ action: "decline" })],
    ["put away", async () => ({ action: "cancel" })],
    ["refused", () => Promise.reject(createError("protocol_violation", "no page"))],
    ["one too many", () => Promise.reject(createError("denied", "too many questions"))],
  ] as const)("PRO-21: when a page is %s the error stays as it came", async (_name, answer) => {
    const { asked, handlers } = visiting(answer);
    const { client } = await refused({ elicitations: [page("one"), page("two")] }, handlers);
    const error = await failureOf(client.callTool("a", {}));
    expect(error).toMatchObject({ code: "rpc_error", retryable: false, hint: undefined });
    expect(asked).toHaveLength(1);
  });

  it("nobody is asked about what makes no sense, or was not offered", async () => {
    const { asked, handlers } = visiting(accept);
    for (const data of [
      undefined,
      { elicitations: [] },
      { elicitations: {} },
      { elicitations: [page("one"), 7] },
      { elicitations: [page("one"), { ...page("two"), mode: "form" }] },
      { elicitations: Array.from({ length: 33 }, (_item, index) => page(String(index))) },
    ]) {
      const { client } = await refused(data, handlers);
      expect((await failureOf(client.callTool("a", {}))).retryable).toBe(false);
    }
    const good = { elicitations: [page("one")] };
    const { client } = await refused(good, handlers, -32_043);
    expect((await failureOf(client.callTool("a", {}))).retryable).toBe(false);
    const forms = visiting(accept, { form: {} });
    const other = await refused(good, forms.handlers);
    expect((await failureOf(other.client.callTool("a", {}))).retryable).toBe(false);
    expect([...asked, ...forms.asked]).toEqual([]);
  });

  it("the wait for the person ends with the call's time, an abort and the connection", async () => {
    const { asked, handlers } = visiting(() => new Promise(() => undefined));
    const { client, clock, peer } = await refused({ elicitations: [page("one")] }, handlers);
    const late = failureOf(client.callTool("a", {}, { timeoutMs: 30_000 }));
    await clock.advance(599_999);
    expect(asked[0]?.context.signal.aborted).toBe(false);
    await clock.advance(1);
    expect(await late).toMatchObject({ code: "timeout", details: { isTotal: true } });
    const abort = new AbortController();
    const cancelled = failureOf(client.callTool("a", {}, { signal: abort.signal }));
    await settled();
    abort.abort();
    expect((await cancelled).code).toBe("cancelled");
    const lost = failureOf(client.callTool("a", {}));
    await settled();
    peer.die();
    expect((await lost).code).toBe("connection_lost");
    expect(asked.map(({ context }) => context.signal.aborted)).toEqual([true, true, true]);
    expect(clock.pending).toBe(0);
  });

  it("A9: reports that a page is done with are no noise, however many", async () => {
    const { client, peer } = await connectScripted(connect, {
      "tools/call": (_message, to) => {
        for (let count = 0; count < 500; count += 1)
          to.notify("notifications/elicitation/complete", { elicitationId: String(count) });
        return { content: [] };
      },
    });
    const heard: string[] = [];
    client.onnotification = ({ method }) => heard.push(method);
    expect(await client.callTool("a", {})).toMatchObject({ isError: false });
    expect(heard).toHaveLength(500);
    expect(peer.methods).not.toContain("notifications/cancelled");
  });
});
