import { answer, refusal } from "../generate/script-builder.ts";
import type { Transcript } from "../transcript.ts";
import { call, conversation, done, list, listed, ping } from "./conversation.ts";

/** Too slow to be played everywhere. */
export const requestFlood: Transcript = conversation(
  "1,200 requests of the server at once",
  "legacy",
  (script) => {
    call(script, (label) => [
      ...Array.from({ length: 1_200 }, (_, index) => ({
        send: { jsonrpc: "2.0", id: index, method: "ping" },
      })),
      { send: answer(label, done) },
    ]);
  },
);

export const floods: readonly Transcript[] = [
  conversation("150 notifications that mean nothing before an answer", "legacy", (script) => {
    const noise = { send: { jsonrpc: "2.0", method: "notifications/example" } };
    call(script, (label) => [
      ...Array.from({ length: 150 }, () => noise),
      { send: answer(label, done) },
    ]);
  }),
  conversation("150 answers to nothing", "legacy", (script) => {
    call(script, (label) => [
      ...Array.from({ length: 150 }, (_, index) => ({
        send: { jsonrpc: "2.0", id: 10_000 + index, result: {} },
      })),
      { send: answer(label, done) },
    ]);
    ping(script);
  }),
];

const keepable = { ttlMs: 60_000, cacheScope: "public" };

export const lists: readonly Transcript[] = [
  conversation("70 pages", "legacy", (script) => {
    const pages = Array.from({ length: 70 }, (_, index) => ({
      tools: [listed(`t${index}`)],
      nextCursor: `p${index}`,
    }));
    list(script, ...pages);
  }),
  conversation("a page that repeats itself", "legacy", (script) => {
    const page = { tools: [listed("b")], nextCursor: "more" };
    list(
      script,
      { tools: [listed("a")], nextCursor: "more" },
      ...Array.from({ length: 70 }, () => page),
    );
  }),
  conversation("an empty cursor", "legacy", (script) => {
    list(script, { tools: [listed("a")], nextCursor: "" }, { tools: [listed("b")] });
  }),
  conversation("cursors that are none", "legacy", (script) => {
    list(script, { tools: [listed("a")], nextCursor: null });
    list(script, { tools: [listed("a")], nextCursor: 7 });
  }),
  conversation("a list that may be kept", "modern", (script) => {
    list(script, { tools: [listed("a")], ...keepable });
    script.operate({ do: "pass", ms: 59_000 });
    script.operate({ do: "listTools" });
    script.operate({ do: "pass", ms: 2_000 });
    list(script, { tools: [listed("b")], ...keepable });
  }),
  conversation("a kept list that has changed", "modern", (script) => {
    list(script, { tools: [listed("a")], ...keepable });
    const changed = { jsonrpc: "2.0", method: "notifications/tools/list_changed" };
    call(script, (label) => [{ send: changed }, { send: answer(label, script.complete(done)) }]);
    list(script, { tools: [listed("b")], ...keepable });
  }),
  conversation("a list of two pages that may be kept", "modern", (script) => {
    for (const cursor of ["c1", "c2"])
      list(
        script,
        { tools: [listed("a")], nextCursor: cursor, ...keepable },
        { tools: [listed("b")], ...keepable },
      );
  }),
  conversation(
    "resources that may be kept",
    "modern",
    (script) => {
      for (const name of ["one", "two"]) {
        const label = script.expect("resources/list");
        script.operate({ do: "request", method: "resources/list" });
        const resources = [{ uri: `demo://${name}`, name }];
        script.react(label, { send: answer(label, script.complete({ resources, ...keepable })) });
      }
    },
    { hello: { capabilities: { resources: {} } } },
  ),
  conversation("a list without hints", "modern", (script) => {
    list(script, { tools: [listed("a")], ttlMs: null });
  }),
  conversation("tools that are odd", "legacy", (script) => {
    list(script, { tools: [listed("a"), { name: "b" }, null] });
    list(script, { tools: [listed("a"), listed("")] });
  }),
  conversation("a list that is refused", "legacy", (script) => {
    script.operate({ do: "listTools" });
    const label = script.expect("tools/list");
    script.react(label, { send: refusal(label, { code: -32_601, message: "No such thing" }) });
  }),
  conversation("a list that is given up between pages", "legacy", (script) => {
    const operation = script.operate({ do: "listTools", concurrent: true });
    const label = script.expect("tools/list");
    const page = { tools: [listed("a")], nextCursor: "more" };
    script.react(label, { send: answer(label, page) });
    script.operate({ do: "abort", operation });
  }),
];
