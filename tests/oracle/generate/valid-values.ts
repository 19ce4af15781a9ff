import fc from "fast-check";

import type { JsonObject } from "../../../src/text/json-object.ts";

/** Values a server may send by the protocol's own rules, in all their variety. */

const text = fc.oneof(
  { weight: 10, arbitrary: fc.string({ maxLength: 12 }) },
  { weight: 10, arbitrary: fc.string({ unit: "grapheme", maxLength: 8 }) },
  fc.constantFrom("", "line\nbreak", "\u001B[31mred", "\uD800", "token=abcdefghijklmnop"),
);
const anyValue = fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<unknown>;
export const anyObject: fc.Arbitrary<JsonObject> = fc.dictionary(
  fc.oneof(
    { weight: 9, arbitrary: fc.string({ maxLength: 5 }) },
    fc.constantFrom("__proto__", "constructor", "toString"),
  ),
  anyValue,
  { maxKeys: 3 },
);
const meta = fc.dictionary(fc.constantFrom("a", "example.com/b"), anyValue, { maxKeys: 2 });

/** Undefined, but for one time in thirty. */
export function rarely<T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> {
  return fc.oneof({ weight: 30, arbitrary: fc.constant(undefined) }, value);
}

/** Now and then a member that no revision knows. */
function withUnknown(value: fc.Arbitrary<JsonObject>): fc.Arbitrary<JsonObject> {
  return fc
    .tuple(value, rarely(anyValue))
    .map(([known, extra]) => (extra === undefined ? known : { ...known, futureMember: extra }));
}

const annotations = fc.record(
  {
    audience: fc.subarray(["user", "assistant"]),
    priority: fc.constantFrom(0, 0.5, 1),
    lastModified: fc.constant("2025-01-12T15:00:58Z"),
  },
  { requiredKeys: [] },
);
const uri = fc.constantFrom("file:///a.txt", "demo://notes/1", "https://example.com/x?y=z");
const mimeType = fc.constantFrom("text/plain", "image/png", "application/octet-stream");
const base64 = fc.constantFrom("", "aGk=", "AAAA");
const extras = { annotations, _meta: meta };

const contentBlock = withUnknown(
  fc.oneof(
    {
      weight: 3,
      arbitrary: fc.record(
        { type: fc.constant("text"), text, ...extras },
        { requiredKeys: ["type", "text"] },
      ),
    },
    fc.record(
      { type: fc.constantFrom("image", "audio"), data: base64, mimeType, ...extras },
      { requiredKeys: ["type", "data", "mimeType"] },
    ),
    fc.record(
      {
        type: fc.constant("resource"),
        resource: fc.oneof(
          fc.record({ uri, mimeType, text }, { requiredKeys: ["uri", "text"] }),
          fc.record({ uri, blob: base64, _meta: meta }, { requiredKeys: ["uri", "blob"] }),
        ),
        ...extras,
      },
      { requiredKeys: ["type", "resource"] },
    ),
    fc.record(
      { type: fc.constant("resource_link"), uri, name: text, title: text, size: fc.nat() },
      { requiredKeys: ["type", "uri", "name"] },
    ),
  ),
);

export const toolResult = withUnknown(
  fc.record(
    {
      content: fc.array(contentBlock, { maxLength: 3 }),
      structuredContent: fc.oneof(anyObject, fc.constant({ n: 1 })),
      isError: fc.boolean(),
      _meta: meta,
    },
    { requiredKeys: ["content"] },
  ),
);

/** Few, so that calls meet tools that were listed. */
export const toolName = fc.constantFrom("alpha", "beta", "gamma");

const schema = fc.constantFrom<JsonObject>(
  { type: "object" },
  { type: "object", properties: { n: { type: "number" } }, required: ["n"] },
  { $schema: "https://json-schema.org/draft/2020-12/schema", type: "object", description: "x" },
  { type: "object", properties: {}, additionalProperties: false },
);

export const tool = withUnknown(
  fc.record(
    {
      name: toolName,
      title: text,
      description: text,
      inputSchema: schema,
      outputSchema: schema,
      annotations: fc.record(
        { title: text, readOnlyHint: fc.boolean(), destructiveHint: fc.boolean() },
        { requiredKeys: [] },
      ),
      icons: fc.constant([{ src: "https://example.com/i.png", mimeType: "image/png" }]),
      _meta: meta,
    },
    { requiredKeys: ["name", "inputSchema"] },
  ),
);

export const rpcError = fc.record(
  { code: fc.constantFrom(-32_601, -32_602, -32_000, -1, 0, 42), message: text, data: anyValue },
  { requiredKeys: ["code", "message"] },
) as fc.Arbitrary<JsonObject>;

const capabilities = withUnknown(
  fc.record(
    {
      tools: fc.record({ listChanged: fc.boolean() }, { requiredKeys: [] }),
      resources: fc.record({ subscribe: fc.boolean() }, { requiredKeys: [] }),
      prompts: fc.constant({}),
      logging: fc.constant({}),
      experimental: fc.constant({ x: {} }),
    },
    { requiredKeys: ["tools"] },
  ),
);

const identity = withUnknown(
  fc.record({ name: text, version: text, title: text }, { requiredKeys: ["name", "version"] }),
);

/** Results of `initialize`. */
export const legacyHello = withUnknown(
  fc.record(
    {
      protocolVersion: fc.constantFrom("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"),
      capabilities,
      serverInfo: identity,
      instructions: text,
      _meta: meta,
    },
    { requiredKeys: ["protocolVersion", "capabilities", "serverInfo"] },
  ),
);

/** Results of `server/discover`. */
export const modernHello = withUnknown(
  fc.record(
    {
      resultType: fc.constant("complete"),
      supportedVersions: fc.constantFrom(["2026-07-28"], ["2025-11-25", "2026-07-28"]),
      capabilities,
      ttlMs: fc.constant(0),
      cacheScope: fc.constantFrom("public", "private"),
      instructions: text,
      _meta: identity.map((info) => ({ "io.modelcontextprotocol/serverInfo": info })),
    },
    {
      requiredKeys: ["resultType", "supportedVersions", "capabilities", "ttlMs", "cacheScope"],
    },
  ),
);

/** Notifications of a server that nobody asked for. */
export const notification = withUnknown(
  fc.oneof(
    {
      weight: 9,
      arbitrary: fc.constantFrom<JsonObject>(
        { method: "notifications/tools/list_changed" },
        { method: "notifications/resources/updated", params: { uri: "demo://notes/1" } },
        { method: "notifications/message", params: { level: "info", data: "working" } },
      ),
    },
    fc.constant({ method: "notifications/cancelled", params: { requestId: "none" } }),
    {
      weight: 3,
      arbitrary: fc.record({ method: fc.constant("notifications/example"), params: anyObject }),
    },
  ),
).map(({ futureMember, ...message }) =>
  futureMember === undefined ? message : withParam(message, futureMember),
);

/** Unknown members belong into `params`; the message itself has none. */
function withParam(message: JsonObject, futureMember: unknown): JsonObject {
  return { ...message, params: { ...(message["params"] as JsonObject), futureMember } };
}

const requestedSchema = { type: "object", properties: { name: { type: "string" } } };

/** What a server may ask of a client that offers to answer. */
export const serverQuestion = fc.constantFrom<JsonObject>(
  { method: "roots/list" },
  { method: "sampling/createMessage", params: { messages: [], maxTokens: 1 } },
  { method: "elicitation/create", params: { message: "?", requestedSchema } },
);

/** Requests of a server in the 2025 era, without their ids. */
export const serverRequest = fc.oneof(
  fc.constantFrom<JsonObject>({ method: "ping" }, { method: "example/ask", params: { x: 1 } }),
  serverQuestion,
);
