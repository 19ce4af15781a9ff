import { describe, expect, it } from "vitest";

import { emitParamsType, emitType } from "./emit-type.ts";

/** The type of a schema without the words around it. */
function typeOf(schema: unknown): string {
  return emitType(schema, { name: "T" })
    .replace(/^export (?:type T =|interface T) ?/m, "")
    .replace(/;?\n$/, "");
}

const paramsOf = (schema: unknown): string => emitParamsType(schema, { name: "P" });

describe("the type of a schema", () => {
  it.each([
    [{ type: "string", format: "email", pattern: "@" }, "string"],
    [{ type: "number" }, "number"],
    [{ type: "integer" }, "number"],
    [{ type: "boolean" }, "boolean"],
    [{ type: "null" }, "null"],
    [{ type: "array", items: { type: "string" } }, "readonly string[]"],
    [{ type: "array", items: { type: ["string", "null"] } }, "readonly (string | null)[]"],
    [{ type: "array" }, "readonly unknown[]"],
    [{ type: "array", items: { type: "array", items: true } }, "readonly (readonly unknown[])[]"],
    [{ type: "object" }, "Readonly<Record<string, unknown>>"],
    [{ type: "object", additionalProperties: false }, "Readonly<Record<string, never>>"],
    [{ type: ["string", "integer"] }, "string | number"],
    [{ enum: ["a", 1, null, true] }, '"a" | 1 | null | true'],
    [
      { const: { a: [1, {}] } },
      "{\n  readonly a: readonly [1, Readonly<Record<string, never>>];\n}",
    ],
    [{ type: "string", enum: ["a", 1] }, '"a"'],
    [{ anyOf: [{ type: "string" }, { type: "null" }] }, "string | null"],
    [{ oneOf: [{ const: 1 }, { const: 2 }] }, "1 | 2"],
    [{ type: "integer", anyOf: [{ minimum: 1 }, { maximum: -1 }] }, "number"],
    [true, "unknown"],
    [{}, "unknown"],
    [false, "never"],
    [{ enum: [] }, "never"],
    [{ type: "string", const: 1 }, "never"],
  ])("BRG-09: of %j is right", (schema, type) => {
    expect(typeOf(schema)).toBe(type);
  });

  it("BRG-09, BRG-24: fields are readonly, optional unless required, quoted where they must be", () => {
    const schema = {
      type: "object",
      properties: {
        owner: { type: "string", description: "Who owns it" },
        "repo-name": { type: "string" },
        class: { type: "integer" },
        ["__proto__"]: { type: "boolean" },
        nested: { type: "object", properties: { deep: { type: "number" } }, required: ["deep"] },
        gone: false,
      },
      required: ["owner", "undeclared"],
    };
    expect(typeOf(schema)).toBe(`{
  /** Who owns it */
  readonly owner: string;
  readonly "repo-name"?: string;
  readonly "class"?: number;
  readonly "__proto__"?: boolean;
  readonly nested?: { readonly deep: number };
  readonly gone?: never;
  readonly undeclared: unknown;
}`);
  });

  it.each([
    [{ prefixItems: [{ type: "string" }, { type: "number" }] }, "[string?, number?, ...unknown[]]"],
    [{ prefixItems: [{ type: "string" }], items: false, minItems: 1 }, "[string]"],
    [
      { items: [{ type: "string" }], additionalItems: { type: "number" } },
      "[string?, ...number[]]",
    ],
    [{ items: [{}, { type: ["string", "null"] }], maxItems: 2 }, "[unknown?, (string | null)?]"],
    [{ items: false }, "[]"],
  ])("BRG-09: tuples: %j", (schema, type) => {
    expect(typeOf({ type: "array", ...schema })).toBe(`readonly ${type}`);
  });

  it("BRG-09: other fields are an index signature that TypeScript accepts beside the named ones", () => {
    const properties = { a: { type: "string" } };
    const additionalProperties = { type: "string" };
    expect(typeOf({ type: "object", additionalProperties })).toBe(
      "{\n  readonly [name: string]: string;\n}",
    );
    expect(typeOf({ type: "object", properties, additionalProperties })).toBe(
      "{\n  readonly a?: string;\n  readonly [name: string]: string | undefined;\n}",
    );
    expect(typeOf({ type: "object", properties, additionalProperties: { type: "number" } })).toBe(
      "{\n  readonly a?: string;\n  readonly [name: string]: /* wider than the schema: additionalProperties */ unknown;\n}",
    );
    expect(typeOf({ type: "object", properties, additionalProperties: true })).toBe(
      "{\n  readonly a?: string;\n  readonly [name: string]: unknown;\n}",
    );
  });

  it("BRG-09, LIM-04: fields that only a condition names are optional, unless there is a rule for others", () => {
    const schema = {
      type: "object",
      properties: { mode: { type: "string" } },
      if: { required: ["mode"] },
      // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
      then: { properties: { path: { type: "string", description: "Where" } }, required: ["path"] },
      not: { required: ["legacy"] },
    };
    expect(typeOf(schema)).toContain(
      "{\n  readonly mode?: string;\n  /** Where */\n  readonly path?: unknown;\n}",
    );
    expect(typeOf({ ...schema, additionalProperties: false })).not.toContain("path");
    expect(typeOf({ ...schema, unevaluatedProperties: true })).toContain(
      "readonly path?: unknown;\n  readonly [name: string]: unknown;\n}",
    );
  });

  it("BRG-09: the items of arrays that several parts speak of are merged", () => {
    const listOf = (items: unknown): object => ({ type: "array", items });
    const part = (name: string): object => ({ type: "object", required: [name] });
    expect(typeOf({ allOf: [listOf(part("a")), listOf(part("b"))] })).toBe(
      "readonly ({ readonly a: unknown } & { readonly b: unknown })[]",
    );
    expect(typeOf({ ...listOf(part("a")), anyOf: [listOf(part("b")), { type: "array" }] })).toBe(
      "/** wider than the schema: alternatives of items */\nreadonly unknown[]",
    );
  });

  it("BRG-09: fields that an intersection would take apart are merged", () => {
    const object = (properties: object): object => ({ type: "object", properties });
    const inner = (name: string): object => object({ [name]: { type: "string" } });
    const list = (name: string): object => ({ type: "array", items: inner(name) });
    const both = "({ readonly a?: string } & { readonly b?: string })";
    expect(typeOf({ allOf: [object({ f: list("a") }), object({ f: list("b") })] })).toBe(
      `{\n  readonly f?: readonly ${both}[];\n}`,
    );
    expect(
      typeOf({ ...object({ f: inner("a") }), allOf: [{ additionalProperties: inner("b") }] }),
    ).toBe(
      [
        "{",
        "  readonly f?: { readonly a?: string } & { readonly b?: string };",
        "  readonly [name: string]: /* wider than the schema: additionalProperties */ unknown;",
        "}",
      ].join("\n"),
    );
    const choice = { ...object({ f: list("a") }), anyOf: [object({ f: list("b") }), object({})] };
    expect(typeOf(choice)).toBe(
      "/** wider than the schema: alternatives of fields */\nReadonly<Record<string, unknown>>",
    );
    // An intersection will do.
    expect(typeOf({ allOf: [object({ f: inner("a") }), object({ f: inner("b") })] })).toContain(
      "&",
    );
  });

  it("LIM-04: items that are merged with themselves come to an end", () => {
    const schema = { allOf: [{ items: { $ref: "#" } }, { items: { items: { $ref: "#" } } }] };
    expect(typeOf(schema).length).toBeLessThan(400_000);
  });

  it("a name that every object has by itself is widened, because an absent one would not fit", () => {
    expect(typeOf({ type: "object", properties: { toString: { type: "string" } } })).toBe(
      "{\n  readonly toString?: /* wider than the schema: every object inherits the name */ unknown;\n}",
    );
  });

  it("parts in place are intersections and unions of what they add", () => {
    const schema = {
      type: "object",
      properties: { a: { type: "string" }, b: { type: "string" } },
      anyOf: [{ required: ["a"] }, { required: ["b"] }],
    };
    expect(typeOf(schema).replaceAll(/\s+/g, " ")).toBe(
      " & { readonly a?: string; readonly b?: string; } & ({ readonly a: unknown } | { readonly b: unknown })",
    );
  });

  it.each([
    ["not", { not: { const: "a" } }],
    // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
    ["if/then/else", { if: { const: "a" }, then: { minLength: 2 } }],
    ["dependentSchemas", { dependentSchemas: { a: { required: ["b"] } } }],
    ["dependentRequired", { dependentRequired: { a: ["b"] } }],
    ["unevaluatedProperties", { unevaluatedProperties: false }],
    ["unevaluatedItems", { unevaluatedItems: { type: "string" } }],
    ["contains", { contains: { type: "string" } }],
    ["propertyNames", { propertyNames: { maxLength: 2 } }],
  ])("LIM-04: %s makes a field wider, which says so", (keyword, schema) => {
    expect(typeOf({ type: "object", properties: { f: schema } })).toContain(
      `readonly f?: /* wider than the schema: ${keyword} */ unknown`,
    );
    expect(emitType({ type: ["object", "array"], ...schema }, { name: "T" })).toContain(
      `/** wider than the schema: ${keyword} */\nexport type T =`,
    );
  });

  it("LIM-04: a condition that always holds has a consequence", () => {
    // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
    const schema = { type: "string", if: true, then: { const: "a" } };
    expect(emitType(schema, { name: "T" })).toContain("wider than the schema: if/then/else");
  });

  it("LIM-04: other fields say where they are wider, too", () => {
    const schema = { type: "object", additionalProperties: { not: { type: "string" } } };
    expect(typeOf(schema)).toContain("[name: string]: /* wider than the schema: not */ unknown");
  });

  it("LIM-04: names that may be any string are not mentioned", () => {
    const schema = { type: "object", propertyNames: { type: "string" } };
    expect(typeOf(schema)).toBe("Readonly<Record<string, unknown>>");
  });

  it("LIM-04: a list of a thousand values is named, a longer one is a kind of value", () => {
    const values = Array.from({ length: 1_001 }, (_, index) => index);
    expect(typeOf({ enum: values.slice(1) })).toMatch(/\| 1000$/);
    expect(emitType({ enum: values }, { name: "T" })).toBe(
      "/** wider than the schema: 1001 values */\nexport type T = number;\n",
    );
  });

  it.each([
    { if: { const: "a" } },
    { unevaluatedProperties: true },
    { contains: { type: "string" } },
    { dependentRequired: { a: ["b"] } },
  ])("LIM-04: what has no consequence for a string is not mentioned: %j", (schema) => {
    expect(typeOf({ type: "string", ...schema })).toBe("string");
  });

  it("BRG-21: references are types of their own, recursive ones too, whatever their pointer is made of", () => {
    const schema = {
      $ref: "#/$defs/tree%20node~1x",
      $defs: {
        "tree node/x": {
          type: "object",
          description: "A node",
          properties: {
            children: { type: "array", items: { $ref: "#/$defs/tree%20node~1x" } },
            root: { $ref: "#" },
          },
        },
      },
    };
    expect(emitType(schema, { name: "T" })).toBe(`export type T = TTreeNodeX;

/** A node */
export interface TTreeNodeX {
  readonly children?: readonly TTreeNodeX[];
  readonly root?: T;
}
`);
  });

  it("BRG-21: beside a reference other keywords count, except in the old dialect", () => {
    const schema = { $ref: "#/$defs/S", const: "a", $defs: { S: { type: "string" } } };
    expect(typeOf(schema)).toContain('"a" & TS');
    expect(typeOf({ ...schema, $schema: "http://json-schema.org/draft-07/schema#" })).toMatch(
      /^TS;/,
    );
  });

  it("LIM-04: a schema that cannot be used is unknown, with the reason", () => {
    expect(emitType({ $ref: "https://example.com/s.json" }, { name: "T" })).toBe(
      '/** wider than the schema: it refers to "https://example.com/s.json", which is outside of it and is never fetched */\nexport type T = unknown;\n',
    );
    expect(typeOf([])).toContain("unknown");
  });
});

describe("the type of a tool's arguments", () => {
  it("BRG-20: a tool without a schema takes any", () => {
    for (const schema of [
      undefined,
      {},
      { $schema: "https://json-schema.org/draft/2020-12/schema" },
    ])
      expect(paramsOf(schema)).toBe("export type P = Readonly<Record<string, unknown>>;\n");
  });

  it("is always one of objects", () => {
    expect(paramsOf({ properties: { a: {} } })).toBe(
      "export interface P {\n  readonly a?: unknown;\n}\n",
    );
    expect(paramsOf(true)).toBe("export type P = Readonly<Record<string, unknown>>;\n");
    expect(paramsOf({ type: "string" })).toBe("export type P = never;\n");
    expect(paramsOf("text")).toMatch(/export type P = Readonly<Record<string, unknown>>;\n$/);
  });

  it("a reference to the whole is not limited to objects", () => {
    expect(paramsOf({ properties: { again: { $ref: "#" } } })).toContain(
      "export interface P {\n  readonly again?: PPart;\n}\n",
    );
  });
});

describe("words of a server", () => {
  const description = "*/ export const x = 1; /*\r\n`${y}` </script> <!-- \u2028 \u202E \u0007 end";

  it("stay inside of their comment", () => {
    const schema = { type: "object", properties: { a: { description } } };
    const [, comment] = typeOf(schema).split("\n");
    expect(comment).toBe(
      "  /** * / export const x = 1; / * '${y}' < /script> < !-- \uFFFD \uFFFD end */",
    );
  });

  it("are no directive to a compiler", () => {
    for (const text of ["@ts-ignore", " * @ts-expect-error", "/@ts-ignore"])
      expect(typeOf({ type: "object", properties: { a: { description: text } } })).toMatch(
        /\/\*\* \(at\)ts-/,
      );
  });

  it("are cut to one short line", () => {
    const schema = { type: "object", properties: { a: { description: "x\n".repeat(1e6) } } };
    // Beyond the size of a schema nothing is read at all.
    expect(typeOf(schema)).toContain("unknown");
    const long = { type: "object", properties: { a: { description: "x\n".repeat(1e4) } } };
    expect(typeOf(long).split("\n")[1]).toHaveLength("  /**  */".length + 200);
  });

  it("stay inside of their literal", () => {
    const text = '"; export const x = 1; </script> <!-- \u2028\u202E\n\u{E0041}\\';
    const type = typeOf({ const: text });
    expect(type).not.toMatch(/[\n\u2028\u202E\u{E0041}]|<\/|<!/u);
    // oxlint-disable-next-line no-eval -- the literal is to mean the same as the text
    expect((0, eval)(type)).toBe(text);
  });
});
