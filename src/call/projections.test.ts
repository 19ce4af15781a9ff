import { describe, expect, it } from "vitest";

import { createError } from "../errors/families.ts";
import { modelText } from "./model-text.ts";
import { errorOfOutcome, type FailedOutcome, type Outcome, outcomeError } from "./outcome.ts";
import { mcpResultToString, toRest, toSkillResult, toToolResult } from "./projections.ts";

const fields = {
  text: "5",
  content: [{ type: "text", text: "5" }],
  structured: undefined,
  meta: undefined,
  durationMs: 1,
  callId: "c",
  toolName: "add",
  publicName: "mcp__demo__add",
  serverName: "demo",
  truncated: false,
  sideEffects: "none",
} as const;
const success: Outcome = { ok: true, ...fields };
const failure: Outcome = {
  ok: false,
  ...fields,
  text: "",
  content: [],
  error: { code: "rpc_error", message: "", retryable: false, details: {} },
};

describe("mcpResultToString", () => {
  class Result {
    readonly content = [{ type: "text", text: "from an object" }];
  }

  it.each<[string, unknown, string]>([
    [
      "text parts are joined by a line break",
      {
        content: [
          { type: "text", text: "Hello" },
          { type: "text", text: "World" },
        ],
      },
      "Hello\nWorld",
    ],
    ["text is returned", { text: "hi" }, "hi"],
    ["result is returned as text", { result: 42 }, "42"],
    ["an object with a content attribute", new Result(), "from an object"],
    ["a plain string is unchanged", "as is", "as is"],
    [
      "content wins over text, text over result",
      { content: [{ type: "text", text: "c" }], text: "t", result: "r" },
      "c",
    ],
    ["text wins over result", { text: "t", result: "r" }, "t"],
    ["nothing gives nothing", null, ""],
    ["undefined gives nothing", undefined, ""],
    ["anything else is JSON, never [object Object]", { a: 1 }, '{"a":1}'],
    ["numbers are text", 7, "7"],
    [
      "an image becomes a placeholder",
      { content: [{ type: "image", mimeType: "image/png", data: "A".repeat(16_384) }] },
      "[image: image/png, 12 KB]",
    ],
    [
      "an unknown part keeps its place",
      { content: [{ type: "text", text: "a" }, { type: "video" }] },
      "a\n[video]",
    ],
    [
      "an embedded text resource is its text",
      { content: [{ type: "resource", resource: { uri: "file:///a", text: "inside" } }] },
      "inside",
    ],
    [
      "a link names its address",
      { content: [{ type: "resource_link", name: "a", uri: "file:///a" }] },
      "[resource: a, file:///a]",
    ],
    [
      "structured content stands in for missing blocks",
      { content: [], structuredContent: { sum: 5 } },
      '{"sum":5}',
    ],
    ["parts may be plain strings", { content: ["a", "b"] }, "a\nb"],
    ["parts may be any value", { content: [1, null, "b"] }, "1\n\nb"],
    ["a part without a type is its text", { content: [{ text: "a" }] }, "a"],
    ["a part without type and text is JSON", { content: [{ a: 1 }] }, '{"a":1}'],
    ["a text that is null is none", { text: null, result: "r" }, "r"],
  ])("RES-01 RES-02 RES-03 RES-04 RES-05 RES-06 RES-16 RES-19: %s", (_, result, expected) => {
    expect(mcpResultToString(result)).toBe(expected);
  });
});

describe("projections", () => {
  it("RES-09 BRG-14: success carries the content array and says Success", () => {
    expect(toToolResult(success)).toEqual({
      message: "Success",
      value: { content: fields.content },
      success: true,
    });
  });

  it("RES-19: structured content and _meta survive", () => {
    const outcome = { ...success, structured: { sum: 5 }, meta: { trace: 1 } };
    expect(toToolResult(outcome).value).toEqual({
      content: fields.content,
      structuredContent: { sum: 5 },
      _meta: { trace: 1 },
    });
  });

  it("RES-19: of structured content and _meta only what there is", () => {
    const { content } = fields;
    const valueOf = (change: object) => toToolResult({ ...success, ...change }).value;
    expect(valueOf({})).toStrictEqual({ content });
    expect(valueOf({ structured: 1 })).toStrictEqual({ content, structuredContent: 1 });
    expect(valueOf({ meta: { a: 1 } })).toStrictEqual({ content, _meta: { a: 1 } });
  });

  it("RES-11: a refusal of the server is told in its own words", () => {
    const rpc = { code: -32_000, message: "no such file" };
    const error = {
      code: "rpc_error",
      message: "files: -32000",
      rpc,
      retryable: false,
      details: {},
    };
    expect(toRest({ ...failure, error } as Outcome)).toEqual({ error: "no such file" });
    const other = { ...failure, error: { ...error, code: "timeout" } } as Outcome;
    expect(toRest(other)).toEqual({ error: "files: -32000" });
  });

  it.each<[string, (outcome: Outcome) => unknown]>([
    ["toToolResult", toToolResult],
    ["toSkillResult", toSkillResult],
    ["toRest", toRest],
    ["modelText", modelText],
  ])("ERR-16: %s refuses what no call can have given", (name, project) => {
    const message = `${name}: "outcome" must be the outcome of a call`;
    const error = { message: "x" };
    for (const value of [
      undefined,
      null,
      7,
      "text",
      {},
      { ok: true, text: "x" },
      { ok: true, content: [] },
      { ok: true, content: [], error },
      { ok: true, content: {}, text: "x" },
      { ok: false, content: [] },
      { ok: false, content: [], error: {} },
      { ok: "yes", content: [], text: "x", error },
      { content: [], error },
    ])
      expect(() => project(value as Outcome), JSON.stringify(value)).toThrow(
        expect.objectContaining({ code: "invalid_arguments", message }),
      );
    expect(() => project({ ok: true, content: [], text: "" } as unknown as Outcome)).not.toThrow();
    expect(() => project({ ok: false, content: [], error } as unknown as Outcome)).not.toThrow();
  });

  it("ERR-16: only a failed outcome has an error", () => {
    const message = 'errorOfOutcome: "outcome" must be the outcome of a call that failed';
    for (const value of [success, undefined, {}])
      expect(() => errorOfOutcome(value as FailedOutcome)).toThrow(
        expect.objectContaining({ code: "invalid_arguments", message }),
      );
  });

  it("ERR-06: an outcome has of its error what there is", () => {
    const rpc = { code: -32_000, message: "no" };
    expect(
      outcomeError(createError("rpc_error", "m", { details: { rpc }, hint: "h" })),
    ).toStrictEqual({
      code: "rpc_error",
      message: expect.any(String),
      rpc,
      retryable: expect.any(Boolean),
      hint: "h",
      details: { rpc },
    });
    expect(Object.keys(outcomeError(createError("timeout", "m")))).toEqual([
      "code",
      "message",
      "retryable",
      "details",
    ]);
  });

  it("RES-10 RES-11 RES-20: failure keeps the server's content and its message", () => {
    const error = {
      code: "tool_error",
      message: "no such file",
      retryable: false,
      details: {},
    } as const;
    const outcome: Outcome = {
      ...failure,
      content: [{ type: "text", text: "no such file" }],
      error,
    };
    expect(toToolResult(outcome)).toEqual({
      message: "no such file",
      value: { content: [{ type: "text", text: "no such file" }] },
      success: false,
    });
    expect(toToolResult(failure)).toEqual({ message: "MCP error", value: null, success: false });
  });

  it("RES-08: an error without text is still an error", () => {
    expect(toSkillResult(failure)).toEqual({ output: null, error: "MCP error" });
    expect(toSkillResult(success)).toEqual({ output: "5", error: null });
  });

  it("RES-14: REST bodies", () => {
    expect(toRest(success)).toEqual({ result: "5" });
    expect(toRest(failure)).toEqual({ error: "MCP error" });
  });

  it("a failed outcome can be thrown as the error of its class", () => {
    if (failure.ok) throw new Error("must fail");
    expect(errorOfOutcome(failure)).toMatchObject({
      name: "McpToolError",
      code: "rpc_error",
      serverName: "demo",
    });
  });
});
