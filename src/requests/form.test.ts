import { describe, expect, it } from "vitest";

import { defaultLimits } from "../config/keys/limits.ts";
import { McpError } from "../errors/mcp-error.ts";
import { checkContent, parseForm } from "./form.ts";

function form(properties: Readonly<Record<string, unknown>>, required: readonly string[] = []) {
  return parseForm({ type: "object", properties, required }, defaultLimits);
}

function refusal(schema: unknown): string {
  try {
    parseForm(schema, defaultLimits);
  } catch (error) {
    if (McpError.is(error, "protocol_violation")) return error.message;
    throw error;
  }
  return "accepted";
}

describe("a form", () => {
  it("has one field for each property, in order, with every kind of choice spelled alike", () => {
    const { fields } = form(
      {
        text: { type: "string", minLength: 1, maxLength: 9, default: "a", format: "uri" },
        number: { type: "number", minimum: 0, maximum: 9, default: 1 },
        whole: { type: "integer" },
        flag: { type: "boolean", default: false },
        plain: { type: "string", enum: ["a", "b"] },
        named: { type: "string", enum: ["a", "b"], enumNames: ["Ah", "Be"] },
        titled: { type: "string", oneOf: [{ const: "a", title: "Ah" }] },
        some: { type: "array", items: { type: "string", enum: ["a"] }, minItems: 1, maxItems: 2 },
        titledSome: { type: "array", items: { anyOf: [{ const: "a", title: "Ah" }] } },
      },
      ["text"],
    );
    const base = (name: string) => ({ name, title: name, isRequired: name === "text" });
    const plain = { value: "a", title: "a" };
    const titled = { value: "a", title: "Ah" };
    expect(fields).toEqual([
      { ...base("text"), type: "text", minLength: 1, maxLength: 9, default: "a", format: "uri" },
      { ...base("number"), type: "number", minimum: 0, maximum: 9, default: 1 },
      { ...base("whole"), type: "integer" },
      { ...base("flag"), type: "boolean", default: false },
      { ...base("plain"), type: "choice", options: [plain, { value: "b", title: "b" }] },
      { ...base("named"), type: "choice", options: [titled, { value: "b", title: "Be" }] },
      { ...base("titled"), type: "choice", options: [titled] },
      { ...base("some"), type: "choices", options: [plain], minItems: 1, maxItems: 2 },
      { ...base("titledSome"), type: "choices", options: [titled] },
    ]);
  });

  it("may be empty: then it is a question with a yes or no", async () => {
    const empty = parseForm({ type: "object", properties: {} }, defaultLimits);
    expect(empty.fields).toEqual([]);
    expect(await checkContent(empty, {})).toEqual({ ok: true, content: {} });
  });

  it("D8: shows no control characters and no endless texts, and sends option values as they are", async () => {
    const value = "red\u001B[2J";
    const asked = form({
      "na\u202Eme": {
        type: "string",
        title: `T\u001B[31m${"t".repeat(5_000)}`,
        description: "a\nb",
      },
      color: { type: "string", enum: [value] },
    });
    const [text, color] = asked.fields;
    expect(text?.title).toMatch(/^Tt+…$/);
    expect(text?.title).toHaveLength(200);
    expect(text?.description).toBe("a b");
    expect(color).toMatchObject({ options: [{ value, title: "red" }] });
    expect(await checkContent(asked, { color: value })).toEqual({
      ok: true,
      content: { color: value },
    });
  });

  it.each([
    ["no schema", undefined],
    ["another type", { type: "string" }],
    ["properties that are no object", { type: "object", properties: [] }],
    ["an object inside", { type: "object", properties: { a: { type: "object" } } }],
    ["a list of anything", { type: "object", properties: { a: { type: "array" } } }],
    [
      "a list of numbers",
      { type: "object", properties: { a: { type: "array", items: { type: "number" } } } },
    ],
    ["a field without a type", { type: "object", properties: { a: { enum: ["a"] } } }],
    ["several types", { type: "object", properties: { a: { type: ["string", "null"] } } }],
    [
      "options that are no text",
      { type: "object", properties: { a: { type: "string", enum: [1] } } },
    ],
    ["no options", { type: "object", properties: { a: { type: "string", enum: [] } } }],
    ["a field without a name", { type: "object", properties: { "": { type: "string" } } }],
    ["a required field that is missing", { type: "object", properties: {}, required: ["a"] }],
    [
      "too many fields",
      {
        type: "object",
        properties: Object.fromEntries(
          Array.from({ length: 65 }, (_, index) => [`f${index}`, { type: "string" }]),
        ),
      },
    ],
    [
      "too many options",
      {
        type: "object",
        properties: { a: { type: "string", enum: Array.from({ length: 257 }, String) } },
      },
    ],
    [
      "too much text",
      { type: "object", properties: { a: { type: "string", description: "x".repeat(70_000) } } },
    ],
    [
      "an address to fetch",
      { type: "object", properties: { a: { type: "string", $ref: "https://example.com/a" } } },
    ],
  ])("LIM-10 E3: is refused for %s", (_, schema) => {
    expect(refusal(schema)).toMatch(/^elicitation\/create of the server was refused: /);
  });
});

describe("an answer", () => {
  const asked = form(
    {
      name: { type: "string", maxLength: 5 },
      age: { type: "integer", minimum: 0, default: 1 },
      color: { type: "string", enum: ["red"] },
    },
    ["name"],
  );

  it.each([
    [{}, '"name" is required'],
    [{ name: "too long" }, '"name"'],
    [{ name: "a", age: -1 }, '"age"'],
    [{ name: "a", age: "1" }, '"age"'],
    [{ name: "a", color: "blue" }, '"color"'],
    [{ name: "a", extra: "b" }, '"extra" is not a field of the form'],
    [{ name: "a", age: Number.NaN }, '"age"'],
    [[], "the answer is not an object"],
    ["name", "the answer is not an object"],
  ])("that is %j does not fit, and the problem names the field", async (content, problem) => {
    const checked = await checkContent(asked, content);
    expect(checked.ok).toBe(false);
    if (!checked.ok) expect(checked.problem).toContain(problem);
  });

  it("gets the defaults of what was left out", async () => {
    expect(await checkContent(asked, { name: "a", color: undefined })).toEqual({
      ok: true,
      content: { name: "a", age: 1 },
    });
  });

  it.each([
    ["email", "a@example.com", "a at example.com"],
    ["uri", "https://example.com", "no address"],
    ["date", "2024-02-29", "2026-02-29"],
    ["date-time", "2026-07-28T12:00:00Z", "2026-07-28 12:00"],
  ])("is held to the format %s", async (format, good, bad) => {
    const dated = form({ it: { type: "string", format } });
    expect(await checkContent(dated, { it: good })).toEqual({ ok: true, content: { it: good } });
    const refused = await checkContent(dated, { it: bad });
    expect(refused).toMatchObject({ ok: false });
    expect(JSON.stringify(refused)).not.toContain(bad);
  });

  it("PRO-24: may hold a field called __proto__", async () => {
    const odd = parseForm(
      JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"}}}'),
      defaultLimits,
    );
    const checked = await checkContent(odd, JSON.parse('{"__proto__":"a"}'));
    expect(JSON.stringify(checked)).toBe('{"ok":true,"content":{"__proto__":"a"}}');
  });
});
