import fc from "fast-check";

import type { JsonObject } from "../../../src/text/json-object.ts";

/** What nearly right servers get wrong. `undefined` takes a member away. */
type Flaw = readonly [member: string, ...values: unknown[]];

function flawedBy(flaws: readonly Flaw[]): fc.Arbitrary<(value: JsonObject) => JsonObject> {
  const single = flaws.flatMap(([member, ...values]) => values.map((to) => [member, to] as const));
  return fc.constantFrom(...single).map(
    ([member, to]) =>
      (value) =>
        changed(value, member, to),
  );
}

function changed(value: JsonObject, member: string, to: unknown): JsonObject {
  const { [member]: _, ...rest } = value;
  return to === undefined ? rest : { ...rest, [member]: to };
}

const oddBlocks = [
  null,
  "text",
  {},
  { type: 7, text: "x" },
  { type: "text" },
  { type: "text", text: 7 },
  { type: "text", text: null },
  { type: "image", data: "AAAA" },
  { type: "image", data: "not base64!", mimeType: "image/png" },
  { type: "resource", resource: { uri: "demo://x" } },
  { type: "resource_link", uri: "demo://x" },
  { type: "hologram", data: [1, 2] },
  { type: "text", text: "x", annotations: { priority: 7 } },
  { type: "text", text: "x", annotations: null },
];

export const toolResultFlaw = flawedBy([
  ["content", undefined, null, "text", {}, ...oddBlocks.map((block) => [block])],
  ["structuredContent", null, [1, 2], "text", 7],
  ["isError", null, "true", 1],
  ["_meta", null, "x", []],
]);

export const toolFlaw = flawedBy([
  ["name", undefined, null, 7, "", "x".repeat(200), "bell\u0007", "with space"],
  ["title", null, 7],
  ["description", null, 7],
  ["inputSchema", undefined, null, "object", {}, { type: "string" }, { type: ["object", "null"] }],
  ["inputSchema", { type: "object", properties: [] }, { type: "object", required: "n" }],
  ["outputSchema", null, "object", { type: "array", items: {} }, {}],
  ["annotations", null, "x", { readOnlyHint: "yes" }, { title: 7 }],
  ["icons", null, "x", [{}]],
  ["_meta", null, "x"],
]);

export const pageFlaw = flawedBy([
  ["tools", undefined, null, {}, "x"],
  ["nextCursor", null, 7, {}],
  ["_meta", null, "x"],
]);

/** Of the modern era alone. */
export const modernPageFlaw = flawedBy([
  ["ttlMs", undefined, -1, "0", null],
  ["cacheScope", undefined, "nobody"],
]);

export const resultTypeFlaw = flawedBy([
  ["resultType", undefined, null, 7, "task", "input_required"],
]);

export const legacyHelloFlaw = flawedBy([
  ["protocolVersion", undefined, null, 7, "2024-10-07", "1999-01-01", "2026-07-28"],
  ["capabilities", undefined, null, "tools", { tools: true }, {}],
  ["serverInfo", undefined, null, {}, { name: "x" }, { name: 7, version: "1" }],
  ["instructions", null, 7],
  ["_meta", null, 7],
]);

export const modernHelloFlaw = flawedBy([
  ["resultType", undefined, "other"],
  ["supportedVersions", undefined, null, "2026-07-28", [], ["2027-01-01"], ["2026-07-28", 7]],
  ["capabilities", undefined, null, "tools", {}],
  ["ttlMs", undefined, -1],
  ["cacheScope", undefined, "nobody"],
  ["instructions", null, 7],
  ["_meta", null, { "io.modelcontextprotocol/serverInfo": 7 }],
]);

/** Of the answer as a JSON-RPC message; `result` and `error` are what it would have said. */
export const answerFlaw = flawedBy([
  ["jsonrpc", undefined, "1.0", 2],
  ["result", undefined, null, [], "text", 7],
  ["error", null, "failed", {}, { code: "x", message: "m" }, { code: -1 }],
  ["error", { code: 1.5, message: "m" }, { code: -1, message: 7 }, { code: -32_000, message: "m" }],
  ["futureMember", 1],
  ["method", "tools/call", null],
]);

export const errorAnswerFlaw = flawedBy([
  ["jsonrpc", undefined, "1.0"],
  ["result", null, {}],
  ["futureMember", 1],
]);

export const progressFlaw = flawedBy([
  ["progress", undefined, null, "1", 0, -1],
  ["total", null, "2"],
  ["message", null, 7],
]);

/** Lines that are JSON and no message. */
export const strayJson = fc.constantFrom<unknown>(
  {},
  { jsonrpc: "2.0" },
  { jsonrpc: "2.0", id: 1 },
  { jsonrpc: "2.0", method: 7 },
  { jsonrpc: "2.0", id: null, error: { code: -32_700, message: "Parse error" } },
  { jsonrpc: "2.0", error: { code: -32_700, message: "Parse error" } },
  { jsonrpc: "2.0", id: "nobody", result: {} },
  { jsonrpc: "2.0", id: 9_999, result: {} },
  { jsonrpc: "2.0", id: 9_999, error: { code: -1, message: "m" } },
  { jsonrpc: "1.0", method: "notifications/example" },
  { jsonrpc: "2.0", method: "notifications/example", params: [1] },
  { jsonrpc: "2.0", method: "notifications/example", futureMember: 1 },
  { jsonrpc: "2.0", id: null, method: "ping" },
  { jsonrpc: "2.0", id: 1.5, method: "ping" },
  { jsonrpc: "2.0", id: 5, method: "ping", params: [1] },
  { jsonrpc: "2.0", id: 5, method: "ping", futureMember: 1 },
  { jsonrpc: "2.0", id: 5, method: "ping", params: null },
);

/** Lines that are nothing at all. */
export const strayText = fc.constantFrom(
  "",
  "   ",
  "Server started.",
  "{",
  '{"jsonrpc":',
  "null",
  "7",
);
