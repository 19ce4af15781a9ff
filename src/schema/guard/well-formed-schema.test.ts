import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { wellFormedSchema } from "./well-formed-schema.ts";

const text = { type: "string" };

describe("wellFormedSchema", () => {
  it.each([
    // Older forms.
    [
      { type: "array", items: [text, true], additionalItems: false },
      { type: "array", prefixItems: [text, true], items: false },
    ],
    [{ items: [] }, {}],
    [{ items: text, additionalItems: false }, { items: text }],
    [
      { minimum: 1, exclusiveMinimum: true, maximum: 2, exclusiveMaximum: false },
      { exclusiveMinimum: 1, maximum: 2 },
    ],
    [{ exclusiveMinimum: true }, {}],
    [{ $schema: "http://json-schema.org/draft-07/schema#", id: "x", $id: "x" }, {}],
    [
      { definitions: { a: text }, dependencies: { a: ["b", "b"], b: { id: "x" } } },
      { definitions: { a: text }, dependencies: { a: ["b"], b: {} } },
    ],
    [{ dependencies: { a: ["b", "b"] } }, { dependencies: { a: ["b"] } }],
    // What means nothing.
    [{ type: "any", required: true, enum: "x", minLength: -1, properties: [] }, {}],
    [{ enum: [], pattern: "[a-", title: 1, readOnly: "yes", examples: { a: 1 } }, {}],
    [{ minimum: Number.POSITIVE_INFINITY }, {}],
    [
      { properties: { "filter[": text, b: "string", c: null, d: [1] } },
      { properties: { "filter[": text, b: {}, c: {}, d: {} } },
    ],
    [{ patternProperties: { "[a-": text, "^a": text } }, { patternProperties: { "^a": text } }],
    [
      { type: ["string", "string"], required: ["a", "a"] },
      { type: ["string"], required: ["a"] },
    ],
    // References.
    [
      { properties: { a: { $ref: "#/anyOf/0", title: "a" } } },
      { properties: { a: { title: "a" } } },
    ],
    [{ not: { $ref: "https://example.com/a.json" } }, { not: {} }],
    [{ not: { $ref: "#/%" } }, { not: {} }],
  ])("BRG-19: %j becomes %j", (schema, expected) => {
    expect(wellFormedSchema(schema)).toEqual(expected);
  });

  it.each([
    { type: "object", properties: { $ref: text, const: { const: { $ref: "#/x" } } } },
    { properties: { a: { $ref: "#/$defs/a~1b%25" }, b: { $ref: "#" } }, $defs: { "a/b%": text } },
    { prefixItems: [text], items: false, contains: text, minContains: 1 },
    { "x-order": 1, nullable: true, default: null, examples: [1], deprecated: true },
    { if: text, else: false },
  ])("BRG-19: %j stays as it is", (schema) => {
    expect(wellFormedSchema(schema)).toEqual(schema);
  });

  it("BRG-19: whatever is given, the result passes the meta-schema", () => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    const keywords = Object.keys(
      Object.assign(
        {},
        ...["core", "applicator", "unevaluated", "validation", "meta-data", "content"].map((part) =>
          metaProperties(
            ajv.getSchema(`https://json-schema.org/draft/2020-12/meta/${part}`)?.schema,
          ),
        ),
      ),
    );
    expect(keywords.length).toBeGreaterThan(50);
    const word = fc.constantFrom(
      ...keywords,
      "additionalItems",
      "id",
      "definitions",
      "dependencies",
    );
    const scalar = fc.constantFrom<unknown>(
      "",
      "#",
      "#/a",
      "string",
      "[",
      0,
      1,
      -1,
      0.5,
      true,
      false,
      null,
    );
    const { value } = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 4, depthSize: "small" },
        scalar,
        fc.array(tie("value"), { maxLength: 3 }),
        fc.dictionary(word, tie("value"), { maxKeys: 4 }),
      ),
    }));
    const schemas = fc.dictionary(word, value, { maxKeys: 5 });
    fc.assert(
      fc.property(schemas, (schema) => {
        const isValid = ajv.validateSchema(wellFormedSchema(schema));
        expect(isValid, ajv.errorsText()).toBe(true);
      }),
      { numRuns: 3_000 },
    );
  });
});

function metaProperties(schema: unknown): object {
  return (schema as { readonly properties?: object } | undefined)?.properties ?? {};
}
