import type { JsonObject } from "../../../src/text/json-object.ts";
import { answer } from "../generate/script-builder.ts";
import type { Transcript } from "../transcript.ts";
import {
  call,
  callAgainst,
  callFor,
  conversation,
  done,
  list,
  listed,
  ping,
} from "./conversation.ts";

const edges =
  '{"big":1e400,"long":12345678901234567890,"tiny":5e-324,"minus":-0,"__proto__":{"polluted":1}}';

function progressOf(label: string, progress: unknown): { readonly send: JsonObject } {
  const params = { progressToken: { $token: label }, progress };
  return { send: { jsonrpc: "2.0", method: "notifications/progress", params } };
}

export const answers: readonly Transcript[] = [
  conversation("numbers at the edge", "legacy", (script) => {
    call(script, (label) => [
      {
        text: `{"jsonrpc":"2.0","id":<<${label}>>,"result":{"content":[],"structuredContent":${edges}}}`,
      },
    ]);
  }),
  conversation("an id of another type", "legacy", (script) => {
    call(script, (label) => [
      { send: { ...answer(label, done), id: { $id: label, as: "text" } } },
      { send: answer(label, { content: [] }) },
    ]);
  }),
  conversation("answers that are none", "legacy", (script) => {
    call(script, (label) => [
      { send: { ...answer(label, done), error: { code: 1, message: "" } } },
    ]);
    call(script, (label) => [{ send: { ...answer(label, done), jsonrpc: "1.0" } }]);
    call(script, (label) => [{ send: answer(label, null) }]);
  }),
  conversation("answers that say too much", "legacy", (script) => {
    call(script, (label) => [{ send: { ...answer(label, done), error: null } }]);
    call(script, (label) => [{ send: { ...answer(label, done), more: 1 } }]);
  }),
  conversation("errors that the SDK knows by their code", "legacy", (script) => {
    callAgainst(
      script,
      { code: -32_002, message: "Resource not found", data: { uri: "demo://x" } },
      { code: -32_042, message: "open a page", data: { elicitations: [], more: 1 } },
      { code: -32_003, message: "m", data: { requiredCapabilities: {}, more: 1 } },
      { code: -32_022, message: "m", data: { supported: [], requested: "x", more: 1 } },
    );
  }),
  conversation("an error text without end", "legacy", (script) => {
    callAgainst(script, { code: -1, message: "long ".repeat(1_000) });
  }),
  conversation("a word of the other era", "legacy", (script) => {
    const label = script.expect("example/anything");
    script.operate({ do: "request", method: "example/anything" });
    script.react(label, { send: answer(label, { resultType: "complete", x: 1 }) });
    callFor(script, { resultType: "input_required", ...done });
  }),
  conversation("results that do not say what they are", "modern", (script) => {
    call(script, (label) => [{ send: answer(label, done) }]);
    call(script, (label) => [{ send: answer(label, { ...done, resultType: null }) }]);
  }),
  conversation("a ping that is answered with more than nothing", "legacy", (script) => {
    ping(script, { status: "ok" });
  }),
  ...(["legacy", "modern"] as const).map((era) =>
    conversation("odd results", era, (script) => {
      callFor(
        script,
        { structuredContent: { n: 1 } },
        {},
        { ...done, isError: null },
        { ...done, isError: "true" },
        { ...done, structuredContent: [1, 2] },
        { content: [{ type: "hologram", data: [1, 2] }, { type: "text" }] },
        { ...done, _meta: null },
      );
    }),
  ),
  conversation("a result that breaks its schema", "legacy", (script) => {
    const outputSchema = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };
    list(script, { tools: [listed("alpha", { outputSchema })] });
    callFor(script, { ...done, structuredContent: { n: "one" } }, done);
  }),
  conversation("progress of all kinds", "legacy", (script) => {
    call(script, (label) => [progressOf(label, 1), { send: answer(label, done) }]);
    call(script, (label) => [
      ...[1, 3, 2, "4", 5].map((progress) => progressOf(label, progress)),
      { until: "ping#1" },
      { send: answer(label, done) },
    ]);
  }),
  conversation("a server that ends in the middle of two calls", "legacy", (script) => {
    for (const name of ["alpha", "beta"])
      script.operate({ do: "callTool", name, args: {}, concurrent: true });
    script.expect("tools/call");
    script.react(script.expect("tools/call"), { end: true });
    script.operate({ do: "ping" });
  }),
  conversation("a call that is given up", "legacy", (script) => {
    script.expect("tools/call");
    const operation = script.operate({ do: "callTool", name: "alpha", args: {}, concurrent: true });
    script.operate({ do: "abort", operation });
  }),
  conversation("a client that is closed and used again", "legacy", (script) => {
    script.operate({ do: "close" });
    script.operate({ do: "listTools" });
    script.operate({ do: "callTool", name: "alpha", args: {} });
  }),
  ...["2025-03-26", "2025-11-25"].map((protocolVersion) =>
    conversation(
      `a batch in ${protocolVersion}`,
      "legacy",
      (script) => {
        call(script, (label) => [
          { send: [{ jsonrpc: "2.0", method: "notifications/example" }, answer(label, done)] },
        ]);
      },
      { hello: { protocolVersion } },
    ),
  ),
];
