import { describe, expect, it } from "vitest";

import { type ClientOptions, connectClient } from "../../src/entries/client.ts";
import type { AskOptions, ElicitQuestion } from "../../src/index.ts";
import { overHttp, overStdio } from "../fixtures/servers/open-asking-server.ts";

const places = [
  ["stdio", "legacy", overStdio],
  ["stdio", "modern", overStdio],
  ["HTTP", "legacy", overHttp],
  ["HTTP", "modern", overHttp],
] as const;

/** A person who agrees to everything and remembers it. */
function agreeable() {
  const asked: ElicitQuestion[] = [];
  const opened: string[] = [];
  const notices: string[] = [];
  const options = {
    human: {
      elicit: async (question) => {
        asked.push(question);
        return question.kind === "form"
          ? { action: "accept", content: { name: "Ada" } }
          : { action: "accept" };
      },
      openUrl: async (url) => {
        opened.push(url);
      },
      confirm: async () => "once",
      notify: ({ text }) => {
        notices.push(text);
      },
    },
    sampling: async ({ messages }) => ({ content: `${messages.length} message`, model: "m" }),
    roots: ["/srv/one"],
  } satisfies ClientOptions;
  return { asked, opened, notices, options };
}

describe.each(places)("a client without a host, over %s, %s era", (_, era, start) => {
  it("PRO-19 PRO-21: lets the server ask a person, a model and for the roots", async () => {
    await using server = await start(era);
    const { asked, options } = agreeable();
    await using client = await connectClient({ name: "a", ...server.entry }, options);
    const call = async (tool: string, args = {}) =>
      JSON.parse((await client.callTool(tool, args)).toText()) as unknown;
    expect(await call("ask_form")).toMatchObject({ action: "accept", content: { name: "Ada" } });
    expect(await call("ask_url", { url: "https://example.com" })).toEqual({ action: "accept" });
    expect(await call("sample", { text: "?" })).toMatchObject({ content: { text: "1 message" } });
    expect(await call("list_roots")).toEqual({ roots: [{ uri: "file:///srv/one", name: "one" }] });
    const origin = { serverName: "a", agent: "main" };
    expect(asked).toMatchObject([
      { kind: "form", ...origin, toolName: "ask_form" },
      { kind: "url", ...origin, toolName: "ask_url" },
    ]);
    // More than may come without a call: each belongs to one.
    for (let count = 0; count < 20; count += 1)
      expect(await call("ask_form")).toMatchObject({ action: "accept" });
  });

  it("PRO-21 A16: offers nothing that nobody can answer", async () => {
    await using server = await start(era);
    const { roots, human } = agreeable().options;
    for (const given of [{}, { roots }, { human: { openUrl: human.openUrl } }]) {
      await using client = await connectClient({ name: "a", ...server.entry }, given);
      const isRefused = client.callTool("ask_form", {}, { owner: "odd" as never }).then(
        ({ isError }) => isError,
        () => true,
      );
      expect(await isRefused).toBe(true);
    }
  });
});

it("PRO-22: a question is withdrawn when its call is over", async () => {
  await using server = await overStdio("legacy");
  let show: (signal: AbortSignal) => void = () => undefined;
  const asked = new Promise<AbortSignal>((resolve) => {
    show = resolve;
  });
  const elicit = (_: ElicitQuestion, { signal }: AskOptions) => {
    show(signal);
    return new Promise<never>(() => undefined);
  };
  await using client = await connectClient({ name: "a", ...server.entry }, { human: { elicit } });
  const abort = new AbortController();
  const call = client.callTool("ask_form", {}, { signal: abort.signal });
  const failure = expect(call).rejects.toMatchObject({ code: "cancelled" });
  const signal = await asked;
  expect(signal.aborted).toBe(false);
  abort.abort();
  await failure;
  expect(signal.aborted).toBe(true);
});

it("PRO-21: a visit that a call needs first is asked for, and its end is told", async () => {
  await using server = await overStdio("legacy");
  const { opened, notices, options } = agreeable();
  await using client = await connectClient({ name: "a", ...server.entry }, options);
  const url = "https://example.com/sign-in";
  await expect(client.callTool("need_url", { url })).rejects.toMatchObject({
    code: "rpc_error",
    retryable: true,
  });
  expect(opened).toEqual([url]);
  await client.callTool("visited");
  expect(notices).toEqual(["a: done with the page of example.com"]);
});
