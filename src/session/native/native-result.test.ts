import { describe, expect, it } from "vitest";

import { createError } from "../../errors/families.ts";
import { nativeFailure, nativeResult } from "./native-result.ts";

const text = (value: string) => [{ type: "text", text: value }];

describe("what a handler returns", () => {
  it.each([
    ["text", "done", { content: text("done"), isError: false }],
    ["nothing", undefined, { content: [], isError: false }],
    ["a number", 5, { content: text("5"), structuredContent: 5, isError: false }],
    ["null", null, { content: text("null"), structuredContent: null, isError: false }],
    [
      "an object",
      { sum: 5 },
      { content: text('{"sum":5}'), structuredContent: { sum: 5 }, isError: false },
    ],
    [
      "content blocks",
      { content: text("x"), structuredContent: { a: 1 }, isError: true },
      { content: text("x"), structuredContent: { a: 1 }, isError: true },
    ],
    [
      "structured content only",
      { structuredContent: { a: 1 } },
      { content: [], structuredContent: { a: 1 }, isError: false },
    ],
    [
      "data with a member called content",
      { content: "of a file" },
      {
        content: text('{"content":"of a file"}'),
        structuredContent: { content: "of a file" },
        isError: false,
      },
    ],
    [
      "a tool result",
      { message: "Saved", value: { id: 1 }, success: true },
      { content: text("Saved"), structuredContent: { id: 1 }, isError: false },
    ],
    [
      "a failed tool result",
      { message: "No such note", value: null, success: false },
      { content: text("No such note"), isError: true },
    ],
    [
      "a tool result with content in it",
      { message: "Success", value: { content: text("x") }, success: true },
      { content: text("x"), isError: false },
    ],
  ])("%s becomes a result", (_, returned, expected) => {
    expect(nativeResult(returned, "tool")).toEqual(expected);
  });

  it.each([
    ["a function", () => 1],
    ["a cycle", cyclic()],
    ["a block without a type", { content: [{ text: "x" }] }],
    ["an error flag that is none", { content: [], isError: "yes" }],
  ])("%s is an invalid result", (_, returned) => {
    expect(() => nativeResult(returned, "tool")).toThrow(
      expect.objectContaining({ code: "invalid_result" }),
    );
  });

  it("is a copy that the handler cannot change afterwards", () => {
    const mine = { list: [1] };
    const { structuredContent } = nativeResult(mine, "tool");
    mine.list.push(2);
    expect(structuredContent).toEqual({ list: [1] });
  });
});

describe("what a handler throws", () => {
  it("is a tool error whose text is harmless, redacted and cut", () => {
    const error = nativeFailure(
      new Error(`\u001B[31mno\u001B[0m token=abcdef123456 ${"x".repeat(5_000)}`),
      "tool",
    );
    expect(error).toMatchObject({ code: "tool_error", details: { toolName: "tool" } });
    expect(error.message).toMatch(/^no token=\[redacted\] x+…$/);
    expect(error.message.length).toBeLessThanOrEqual(2_000);
  });

  it("keeps typed errors, and finds words for what is no error at all", () => {
    const denied = createError("denied", "no");
    expect(nativeFailure(denied, "tool")).toBe(denied);
    expect(nativeFailure("plain text", "tool").message).toBe("plain text");
    expect(nativeFailure(undefined, "tool").message).toBe("tool failed");
  });
});

function cyclic(): unknown {
  const object: Record<string, unknown> = {};
  object["self"] = object;
  return object;
}
