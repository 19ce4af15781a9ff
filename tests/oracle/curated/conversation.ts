import type { ProtocolEra } from "../../../src/protocol/wire/protocol-versions.ts";
import type { JsonObject } from "../../../src/text/json-object.ts";
import { answer, refusal, ScriptBuilder } from "../generate/script-builder.ts";
import type { Emission, Transcript } from "../transcript.ts";

export const legacyHello = {
  protocolVersion: "2025-11-25",
  capabilities: { tools: {} },
  serverInfo: { name: "curated", version: "1.0.0" },
};

export const modernHello = {
  resultType: "complete",
  supportedVersions: ["2026-07-28"],
  capabilities: { tools: {} },
  ttlMs: 0,
  cacheScope: "private",
  _meta: { "io.modelcontextprotocol/serverInfo": { name: "curated", version: "1.0.0" } },
};

/** An ordinary tool result. */
export const done = { content: [{ type: "text", text: "done" }] };

interface Opening {
  /** Members of the handshake that are different. */
  readonly hello?: JsonObject;
  /** What the server says before its answer to the handshake. */
  readonly early?: readonly Emission[];
  readonly offersInput?: boolean;
}

/** A conversation after a handshake whose era was known. */
export function conversation(
  name: string,
  era: ProtocolEra,
  act: (script: ScriptBuilder) => void,
  { hello = {}, early = [], offersInput = false }: Opening = {},
): Transcript {
  const script = new ScriptBuilder(era, offersInput);
  const label = script.expect(era === "modern" ? "server/discover" : "initialize");
  const usual = era === "modern" ? modernHello : legacyHello;
  script.react(label, ...early, { send: answer(label, { ...usual, ...hello }) });
  act(script);
  return script.build(name, "known");
}

/** Calls a tool; `react` is what the server does about it. */
export function call(
  script: ScriptBuilder,
  react: (label: string) => readonly Emission[],
  args: JsonObject = {},
): void {
  const label = script.expect("tools/call");
  script.operate({ do: "callTool", name: "alpha", args, progress: true });
  script.react(label, ...react(label));
}

/** Calls a tool that answers with these results, one after the other. */
export function callFor(script: ScriptBuilder, ...results: readonly JsonObject[]): void {
  for (const result of results)
    call(script, (label) => [{ send: answer(label, script.complete(result)) }]);
}

/** Calls a tool that fails with these errors, one after the other. */
export function callAgainst(script: ScriptBuilder, ...errors: readonly JsonObject[]): void {
  for (const error of errors) call(script, (label) => [{ send: refusal(label, error) }]);
}

export function ping(script: ScriptBuilder, result: JsonObject = {}): void {
  const label = script.expect("ping");
  script.operate({ do: "ping" });
  script.react(label, { send: answer(label, result) });
}

/** Lists the tools; each page is a result, to which the era adds what it wants. */
export function list(script: ScriptBuilder, ...pages: readonly JsonObject[]): void {
  script.operate({ do: "listTools" });
  const hints = script.era === "modern" ? { ttlMs: 0, cacheScope: "private" } : {};
  let cursor: unknown;
  for (const page of pages) {
    const label = script.expect("tools/list", cursor);
    script.react(label, { send: answer(label, script.complete({ ...hints, ...page })) });
    cursor = page["nextCursor"];
  }
}

export function listed(name: string, members: JsonObject = {}): JsonObject {
  return { name, inputSchema: { type: "object" }, ...members };
}
