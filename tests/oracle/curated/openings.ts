import type { ProtocolEra } from "../../../src/protocol/wire/protocol-versions.ts";
import type { JsonObject } from "../../../src/text/json-object.ts";
import { answer, refusal, ScriptBuilder } from "../generate/script-builder.ts";
import type { Emission, Transcript } from "../transcript.ts";
import { call, conversation, done, legacyHello, list, modernHello, ping } from "./conversation.ts";

type Step = readonly [method: string, emission: (label: string) => Emission];

/** An attempt to find out the era; each step answers the next message of its method. */
function opening(name: string, era: ProtocolEra, steps: readonly Step[]): Transcript {
  const script = new ScriptBuilder(era);
  for (const [method, emission] of steps) {
    const label = script.expect(method);
    script.react(label, emission(label));
  }
  return script.build(name, "auto");
}

function says(result: JsonObject): (label: string) => Emission {
  return (label) => ({ send: answer(label, result) });
}

function refuses(error: JsonObject): (label: string) => Emission {
  return (label) => ({ send: refusal(label, error) });
}

/** A refusal of the revision in favour of others. */
function prefers(...supported: readonly string[]): (label: string) => Emission {
  const data = { supported, requested: "2026-07-28" };
  return refuses({ code: -32_022, message: "Unsupported protocol version", data });
}

const probe = "server/discover";
const nameless = { code: -32_600, message: "Invalid Request" };
const unknownMethod = { code: -32_601, message: "Method not found" };
const greets: Step = ["initialize", says(legacyHello)];
const log = {
  jsonrpc: "2.0",
  method: "notifications/message",
  params: { level: "info", data: "starting" },
};

/** Where it matters that questions and answers share one pipe. */
export const pipeOpenings: readonly Transcript[] = [
  opening("a server that ignores the probe", "legacy", [greets]),
  opening("a server that refuses the probe without naming it", "legacy", [
    [probe, () => ({ send: { jsonrpc: "2.0", id: null, error: nameless } })],
    greets,
  ]),
  opening("a server that wants the probe again", "modern", [
    [probe, prefers("2026-07-28")],
    [probe, says(modernHello)],
  ]),
  opening("a server that dies of the probe", "legacy", [[probe, () => ({ end: true })]]),
  opening("a server that dies of initialize", "legacy", [
    [probe, refuses(unknownMethod)],
    ["initialize", () => ({ end: true })],
  ]),
  conversation("a server that talks before it answers", "legacy", ping, {
    early: [
      { send: log },
      { send: { jsonrpc: "2.0", id: 1, method: "ping" } },
      { send: { jsonrpc: "2.0", id: 2, method: "roots/list" } },
    ],
    offersInput: true,
  }),
];

export const openings: readonly Transcript[] = [
  opening("a server that answers everything with an empty result", "legacy", [
    [probe, says({})],
    greets,
  ]),
  opening("a server that never likes the probe", "legacy", [
    [probe, prefers("2026-07-28")],
    [probe, prefers("2026-07-28")],
    greets,
  ]),
  opening("a server of a later revision and of 2025", "legacy", [
    [probe, prefers("2027-01-01")],
    greets,
  ]),
  opening("a server that names only revisions of 2025", "legacy", [
    [probe, prefers("2025-11-25")],
    greets,
  ]),
  opening("a server that refuses both handshakes", "legacy", [
    [probe, refuses(unknownMethod)],
    ["initialize", refuses({ code: -32_603, message: "not today" })],
  ]),
  opening("a discovery that is not complete", "modern", [
    [probe, says({ ...modernHello, resultType: "other" })],
  ]),
  conversation("a modern server without a common revision", "modern", () => undefined, {
    hello: { supportedVersions: ["2027-01-01"] },
  }),
  conversation("a server of the preview revision", "legacy", ping, {
    hello: { protocolVersion: "2024-10-07" },
  }),
  conversation("a server that does not say what it can do", "legacy", ping, {
    hello: { capabilities: null },
  }),
  conversation("a server with a colourful name", "legacy", ping, {
    hello: { serverInfo: { name: "\u001B[31mred", version: "1\n2" } },
  }),
  conversation(
    "a server that offers no tools",
    "legacy",
    (script) => {
      script.operate({ do: "listTools" });
      call(script, (label) => [{ send: log }, { send: answer(label, done) }]);
    },
    { hello: { capabilities: {} } },
  ),
];

/** A call that is refused for a missing header, the list that follows, and the call again. */
function headerMismatch(name: string, tools: readonly JsonObject[]): Transcript {
  return conversation(name, "modern", (script) => {
    const error = { code: -32_020, message: "Header mismatch" };
    call(script, (label) => [{ send: refusal(label, error) }], { region: "eu" });
    const label = script.expect("tools/list");
    const result = script.complete({ tools, ttlMs: 0, cacheScope: "private" });
    script.react(label, { send: answer(label, result) });
    const again = script.expect("tools/call");
    script.react(again, { send: answer(again, script.complete(done)) });
  });
}

const region = { type: "string", "x-mcp-header": "Region" };
const regional = { name: "alpha", inputSchema: { type: "object", properties: { region } } };

/** What only HTTP can say. */
export const httpTranscripts: readonly Transcript[] = [
  opening("a server that refuses the probe with a status", "legacy", [
    [probe, () => ({ status: 400 })],
    greets,
  ]),
  opening("a server in trouble", "legacy", [[probe, () => ({ status: 503 })]]),
  opening("a server that wants to be signed in to", "legacy", [[probe, () => ({ status: 401 })]]),
  ...(["legacy", "modern"] as const).map((era) =>
    conversation("calls that end in a status", era, (script) => {
      for (const status of [400, 401, 404, 429, 500]) call(script, () => [{ status }]);
      call(script, (label) => [{ send: answer(label, script.complete(done)) }]);
    }),
  ),
  headerMismatch("a server that misses a header", [regional]),
  headerMismatch("a server that misses what it never asked for", []),
  conversation("a tool that wants a header", "modern", (script) => {
    list(script, { tools: [regional] });
    for (const args of [{ region: "eu" }, { region: "Zürich" }, { region: null }, {}])
      call(script, (label) => [{ send: answer(label, script.complete(done)) }], args);
  }),
  conversation("a tool with a header that cannot be", "modern", (script) => {
    const inputSchema = { type: "object", properties: { a: { ...region, "x-mcp-header": "" } } };
    list(script, { tools: [{ name: "alpha", inputSchema }] });
  }),
];
