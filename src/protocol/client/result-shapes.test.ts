import { specTypeSchemas } from "@modelcontextprotocol/client";
import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { McpError } from "../../errors/mcp-error.ts";
import { isJsonObject, type JsonObject } from "../../text/json-object.ts";
import { answerFailure } from "../channel/incoming-message.ts";
import { readProgress } from "../channel/progress-report.ts";
import { readDiscoverResult, readInitializeResult } from "../era/handshake.ts";
import { checkToolPage, checkToolResult } from "./checked-results.ts";

// Our shapes are written by hand; the SDK's published schemas judge them over generated values. They
// agree but for the differences listed with each shape, of which every one has a reason.

const exchange = { serverName: "generated", method: "test" };

type SpecType = keyof typeof specTypeSchemas;

function sdkAccepts(type: SpecType, value: unknown): boolean {
  const verdict = specTypeSchemas[type]["~standard"].validate(value);
  if (verdict instanceof Promise) throw new TypeError("the schema is asynchronous");
  return verdict.issues === undefined;
}

async function runs(check: () => unknown): Promise<boolean> {
  try {
    await check();
    return true;
  } catch (error) {
    if (McpError.is(error, "invalid_result")) return false;
    throw error;
  }
}

interface Difference {
  readonly why: string;
  /** Whose verdict is `accepted`. */
  readonly acceptedBy: "us" | "sdk";
  readonly example: JsonObject;
  readonly applies: (value: JsonObject) => boolean;
}

interface Shape {
  readonly type: SpecType;
  readonly accepts: (value: JsonObject) => boolean | Promise<boolean>;
  readonly values: fc.Arbitrary<JsonObject>;
  readonly valid: JsonObject;
  readonly differences: readonly Difference[];
}

const junk = fc.oneof(
  fc.constantFrom<unknown>(null, true, 0, -1.5, "", "text", [], ["a"], {}, { a: 1 }),
  fc.jsonValue({ maxDepth: 2 }),
);
const sometimesJunk = (valid: fc.Arbitrary<unknown>) =>
  fc.oneof({ arbitrary: valid, weight: 5 }, { arbitrary: junk, weight: 1 });
/** Objects with any subset of the members, most of them right. */
const objectOf = (members: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<JsonObject> =>
  fc.record(
    Object.fromEntries(Object.entries(members).map(([key, value]) => [key, sometimesJunk(value)])),
    { requiredKeys: [] },
  );

const text = fc.string({ maxLength: 20 });
const uri = fc.constantFrom("file:///a", "https://example.com/b", "not a uri");
const meta = fc.dictionary(text, fc.jsonValue({ maxDepth: 1 }));
const base64 = fc.constantFrom("YWJj", "YQ==", "", "not base64!");
const blocks = fc.oneof(
  objectOf({ type: fc.constant("text"), text, _meta: meta }),
  objectOf({ type: fc.constantFrom("image", "audio"), data: base64, mimeType: text }),
  objectOf({ type: fc.constant("resource_link"), uri, name: text }),
  objectOf({ type: fc.constant("resource"), resource: objectOf({ uri, text, blob: base64 }) }),
  objectOf({ type: text }),
  junk,
);
const schema = objectOf({
  type: fc.constantFrom("object", "string"),
  properties: fc.dictionary(text, fc.constant({ type: "string" }), { maxKeys: 2 }),
  required: fc.array(text, { maxLength: 2 }),
  additionalProperties: fc.boolean(),
});
const descriptive = ["title", "description", "annotations", "icons", "execution", "_meta"];
const withOnly = (value: JsonObject, keys: readonly string[]): JsonObject =>
  Object.fromEntries(Object.entries(value).filter(([key]) => keys.includes(key)));

const shapes: readonly Shape[] = [
  {
    type: "CallToolResult",
    accepts: (value) => runs(() => checkToolResult(value, "tool", exchange)),
    values: objectOf({
      content: fc.array(blocks, { maxLength: 3 }),
      structuredContent: fc.jsonValue({ maxDepth: 2 }),
      isError: fc.boolean(),
      _meta: meta,
    }),
    valid: { content: [{ type: "text", text: "x" }], structuredContent: { a: 1 }, isError: false },
    differences: [
      {
        why: "a result that says nothing at all is a mistake of the server, not an empty success",
        acceptedBy: "sdk",
        example: {},
        applies: ({ content, structuredContent }) =>
          content === undefined && structuredContent === undefined,
      },
      {
        why: "a block of a kind that is new to us, or sloppy inside, must not lose the whole result",
        acceptedBy: "us",
        example: { content: [{ type: "vendor/chart", points: [] }] },
        applies: ({ content }) =>
          Array.isArray(content) && content.some((block) => !sdkAccepts("ContentBlock", block)),
      },
      {
        why: "null stands for absent where a serializer cannot leave it out",
        acceptedBy: "us",
        example: { content: [], isError: null },
        applies: ({ isError }) => isError === null,
      },
      {
        why: "meta that is no object is left out",
        acceptedBy: "us",
        example: { content: [], _meta: [] },
        applies: ({ _meta }) => _meta !== undefined && !sdkAccepts("ResultMetaObject", _meta),
      },
    ],
  },
  {
    type: "Tool",
    accepts: async (tool) => {
      const { items } = await checkToolPage({ tools: [tool] }, exchange);
      return items.length === 1;
    },
    values: objectOf({
      name: fc.oneof(text, fc.constantFrom("a\nb", "a".repeat(128), "a".repeat(129))),
      title: text,
      description: text,
      inputSchema: schema,
      outputSchema: schema,
      annotations: objectOf({ title: text, readOnlyHint: fc.boolean() }),
      icons: fc.array(objectOf({ src: uri, mimeType: text }), { maxLength: 2 }),
      execution: objectOf({ taskSupport: fc.constantFrom("required", "optional", "forbidden") }),
      _meta: meta,
    }),
    valid: { name: "a", inputSchema: { type: "object" } },
    differences: [
      {
        why: "a name must be 1 to 128 characters that can be shown",
        acceptedBy: "sdk",
        example: { name: "", inputSchema: { type: "object" } },
        applies: ({ name }) =>
          // oxlint-disable-next-line no-control-regex -- control characters are what it looks for
          typeof name === "string" && !/^[^\u0000-\u001F\u007F-\u009F]{1,128}$/.test(name),
      },
      {
        why: "what an input schema says is judged where it is compiled, and many old tools have none",
        acceptedBy: "us",
        example: { name: "a", inputSchema: {} },
        applies: ({ inputSchema }) =>
          (inputSchema === undefined || isJsonObject(inputSchema)) &&
          !sdkAccepts("Tool", { name: "a", inputSchema }),
      },
      {
        why: "an output schema likewise; null stands for absent where a serializer cannot leave it out",
        acceptedBy: "us",
        example: { name: "a", inputSchema: { type: "object" }, outputSchema: null },
        applies: ({ outputSchema }) =>
          (outputSchema === null || isJsonObject(outputSchema)) &&
          !sdkAccepts("Tool", { name: "a", inputSchema: { type: "object" }, outputSchema }),
      },
      {
        why: "a wrong description does not make a tool unusable",
        acceptedBy: "us",
        example: { name: "a", inputSchema: { type: "object" }, title: 7 },
        applies: (tool) =>
          !sdkAccepts("Tool", {
            ...withOnly(tool, descriptive),
            name: "a",
            inputSchema: { type: "object" },
          }),
      },
    ],
  },
  {
    type: "ListToolsResult",
    accepts: (value) => runs(() => checkToolPage(value, exchange)),
    values: objectOf({
      tools: fc.array(objectOf({ name: text, inputSchema: schema }), { maxLength: 3 }),
      nextCursor: text,
      _meta: meta,
    }),
    valid: { tools: [] },
    differences: [
      {
        why: "one bad tool does not cost the others",
        acceptedBy: "us",
        example: { tools: [{ name: 7 }] },
        applies: ({ tools }) =>
          Array.isArray(tools) && tools.some((tool) => !sdkAccepts("Tool", tool)),
      },
      {
        why: "a list ends at a cursor that cannot be sent, with what came so far",
        acceptedBy: "us",
        example: { tools: [], nextCursor: 7 },
        applies: ({ nextCursor }) => nextCursor !== undefined && typeof nextCursor !== "string",
      },
      {
        why: "nobody reads the meta of a list",
        acceptedBy: "us",
        example: { tools: [], _meta: 7 },
        applies: ({ _meta }) => _meta !== undefined && !sdkAccepts("ResultMetaObject", _meta),
      },
    ],
  },
  {
    type: "InitializeResult",
    accepts: (value) => readInitializeResult(value) !== undefined,
    values: objectOf({
      protocolVersion: text,
      capabilities: objectOf({ tools: objectOf({ listChanged: fc.boolean() }), logging: meta }),
      serverInfo: objectOf({ name: text, version: text, title: text }),
      instructions: text,
      _meta: meta,
    }),
    valid: { protocolVersion: "x", capabilities: {}, serverInfo: { name: "a", version: "1" } },
    differences: [
      {
        why: "a server need not say who it is or say it well; it offers what it declares readably",
        acceptedBy: "us",
        example: { protocolVersion: "2025-11-25" },
        applies: ({ protocolVersion, ...rest }) =>
          typeof protocolVersion === "string" &&
          !sdkAccepts("InitializeResult", { ...rest, protocolVersion: "x" }),
      },
    ],
  },
  {
    type: "DiscoverResult",
    accepts: (value) => readDiscoverResult(value) !== undefined,
    values: objectOf({
      resultType: fc.constantFrom("complete", "input_required"),
      supportedVersions: fc.array(fc.constantFrom("2026-07-28", "2025-11-25"), { maxLength: 2 }),
      capabilities: objectOf({ tools: objectOf({ listChanged: fc.boolean() }) }),
      instructions: text,
      ttlMs: fc.nat(),
      cacheScope: fc.constantFrom("public", "private"),
      _meta: meta,
    }),
    valid: { supportedVersions: ["2026-07-28"], capabilities: {}, ttlMs: 0, cacheScope: "public" },
    differences: [
      {
        why: "a server without our revision is no server we can talk to in that era",
        acceptedBy: "sdk",
        example: { supportedVersions: [], capabilities: {}, ttlMs: 0, cacheScope: "public" },
        applies: ({ supportedVersions }) =>
          Array.isArray(supportedVersions) && !supportedVersions.includes("2026-07-28"),
      },
      {
        why: "a probe that is answered with a question is not answered",
        acceptedBy: "sdk",
        example: {
          resultType: "input_required",
          supportedVersions: ["2026-07-28"],
          capabilities: {},
          ttlMs: 0,
          cacheScope: "public",
        },
        applies: ({ resultType }) => resultType !== undefined && resultType !== "complete",
      },
      {
        why: "our revision in the list is what decides; what else is missing can be done without",
        acceptedBy: "us",
        example: { supportedVersions: ["2026-07-28"] },
        applies: ({ supportedVersions }) =>
          Array.isArray(supportedVersions) && supportedVersions.includes("2026-07-28"),
      },
    ],
  },
  {
    type: "JSONRPCResponse",
    accepts: (value) => (answerFailure(value, exchange)?.code ?? "rpc_error") === "rpc_error",
    values: objectOf({
      jsonrpc: fc.constant("2.0"),
      id: fc.oneof(fc.nat(), text),
      result: meta,
      error: objectOf({ code: fc.integer(), message: text, data: fc.jsonValue() }),
    }),
    valid: { jsonrpc: "2.0", id: 1, result: {} },
    differences: [
      {
        why: "whether the id is one of ours is decided before, by type and value",
        acceptedBy: "us",
        example: { jsonrpc: "2.0", id: null, result: {} },
        applies: ({ id }) => !sdkAccepts("RequestId", id),
      },
      {
        why: "null beside the other member stands for absent",
        acceptedBy: "us",
        example: { jsonrpc: "2.0", id: 1, result: {}, error: null },
        applies: ({ result, error }) => result === null || error === null,
      },
      {
        why: "an error without a text, or with an odd code, is an error",
        acceptedBy: "us",
        example: { jsonrpc: "2.0", id: 1, error: { code: 0.5 } },
        applies: ({ error }) =>
          isJsonObject(error) &&
          typeof error["code"] === "number" &&
          (!Number.isSafeInteger(error["code"]) || typeof error["message"] !== "string"),
      },
      {
        why: "the members of a result are for the method to judge",
        acceptedBy: "us",
        example: { jsonrpc: "2.0", id: 1, result: { _meta: 7 } },
        applies: ({ result }) => isJsonObject(result) && !sdkAccepts("Result", result),
      },
    ],
  },
  {
    type: "ProgressNotificationParams",
    accepts: (value) => readProgress(value) !== undefined,
    values: objectOf({
      progressToken: fc.oneof(fc.nat(), text),
      progress: fc.double(),
      total: fc.double({ noNaN: true }),
      message: text,
      _meta: meta,
    }),
    valid: { progressToken: 1, progress: 1 },
    differences: [
      {
        why: "a total or text that is none is left out, the report counts",
        acceptedBy: "us",
        example: { progressToken: 1, progress: 1, total: "many" },
        applies: (value) =>
          !sdkAccepts("ProgressNotificationParams", { ...value, progressToken: 1, progress: 1 }),
      },
      {
        why: "tokens are ours and match by type and value, so any number or text may be looked up",
        acceptedBy: "us",
        example: { progressToken: 1.5, progress: 1 },
        applies: ({ progressToken }) =>
          typeof progressToken === "number" && !Number.isSafeInteger(progressToken),
      },
    ],
  },
];

describe.each(shapes)("$type", ({ type, accepts, values, valid, differences }) => {
  it("both accept a good one", async () => {
    expect(await accepts(valid)).toBe(true);
    expect(sdkAccepts(type, valid)).toBe(true);
  });

  it("agrees with the SDK's schema over generated values, but for what is listed", async () => {
    let agreements = 0;
    await fc.assert(
      fc.asyncProperty(values, async (value) => {
        const [ours, theirs] = [await accepts(value), sdkAccepts(type, value)];
        if (ours === theirs) {
          agreements += 1;
          return true;
        }
        const acceptedBy = ours ? "us" : "sdk";
        return differences.some(
          (difference) => difference.acceptedBy === acceptedBy && difference.applies(value),
        );
      }),
      // Fixed: a new difference must come from a change, not from luck.
      { seed: 20_260_728, numRuns: 2_000 },
    );
    expect(agreements).toBeGreaterThan(200);
  });

  it.each(differences)("differs because $why", async ({ acceptedBy, example, applies }) => {
    expect(applies(example)).toBe(true);
    expect(await accepts(example)).toBe(acceptedBy === "us");
    expect(sdkAccepts(type, example)).toBe(acceptedBy === "sdk");
  });
});
