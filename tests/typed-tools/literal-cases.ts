/* oxlint-disable unicorn/no-thenable -- a keyword of JSON Schema */
const text = { type: "string" };
const path = { properties: { path: text }, required: ["path"] };
const mode = { mode: text };
const isA = { properties: { mode: { const: "a" } } };
const listOf = (name: string): object => ({
  type: "array",
  items: { type: "object", properties: { [name]: text } },
});
const value = { mode: "a", path: "x" };
const both = [{ a: "1", b: "2" }];
const listed = { list: both };
const objectOf = (properties: object): object => ({ type: "object", properties });

/** Values that a schema accepts and speaks of in every field, so that they can be written down as literals. */
export const literalCases: readonly { readonly schema: object; readonly value: unknown }[] = [
  { schema: { type: "object", properties: mode, if: isA, then: path }, value },
  { schema: { properties: mode, if: isA, then: path }, value },
  { schema: { type: "object", properties: mode, if: { not: isA }, else: path }, value },
  { schema: { properties: mode, if: isA, then: { allOf: [{ anyOf: [path] }] } }, value },
  {
    schema: {
      type: "object",
      properties: mode,
      if: isA,
      then: { $ref: "#/$defs/path" },
      $defs: { path },
    },
    value,
  },
  { schema: { type: "object", properties: mode, dependentSchemas: { mode: path } }, value },
  { schema: { type: "object", properties: mode, dependencies: { mode: path } }, value },
  { schema: { type: "object", properties: mode, dependentRequired: { mode: ["path"] } }, value },
  {
    schema: { type: "object", properties: mode, not: { properties: { path: { const: 1 } } } },
    value,
  },
  { schema: { type: "object", properties: mode, unevaluatedProperties: text }, value },
  { schema: { type: "object", properties: mode, unevaluatedProperties: true }, value },
  { schema: { type: "object", properties: mode, propertyNames: { maxLength: 4 } }, value },
  { schema: { type: "object", properties: mode, minProperties: 2 }, value },
  {
    schema: { type: "object", properties: mode, if: isA, then: { additionalProperties: text } },
    value,
  },
  // The fields beside the condition are those of another part.
  { schema: { type: "object", allOf: [{ properties: mode }], if: isA, then: path }, value },
  { schema: { allOf: [{ type: "object", properties: mode }], if: isA, then: path }, value },
  { schema: { allOf: [{ properties: mode }], if: isA, then: path }, value },
  { schema: { properties: mode, allOf: [{ if: isA, then: path }] }, value },
  { schema: { allOf: [{ properties: mode }, { if: isA, then: path }] }, value },
  {
    schema: {
      properties: mode,
      $ref: "#/$defs/rule",
      $defs: { rule: { if: isA, then: path } },
    },
    value,
  },
  {
    schema: { allOf: [{ type: ["object", "null"], properties: mode }], if: isA, then: path },
    value,
  },
  // Too many alternatives to write down: what they name is not refused.
  {
    schema: {
      type: "object",
      properties: mode,
      allOf: Array.from({ length: 4 }, (_, row) => ({
        anyOf: Array.from({ length: 8 }, (__, n) => ({
          properties: { [n === 0 && row === 0 ? "path" : `f${row}_${n}`]: text },
        })),
      })),
    },
    value,
  },
  { schema: { allOf: [listOf("a"), listOf("b")] }, value: both },
  { schema: { allOf: [{ items: { properties: { a: text } } }, listOf("b")] }, value: both },
  { schema: { ...listOf("a"), $ref: "#/$defs/b", $defs: { b: listOf("b") } }, value: both },
  { schema: { ...listOf("a"), anyOf: [listOf("b"), { items: text }] }, value: both },
  {
    schema: { allOf: [{ items: listOf("a") }, { type: "array", items: listOf("b") }] },
    value: [both],
  },
  {
    schema: { allOf: [listOf("a"), { prefixItems: [{ properties: { b: text } }], minItems: 1 }] },
    value: both,
  },
  {
    schema: { type: "object", properties: { list: { allOf: [listOf("a"), listOf("b")] } } },
    value: { list: both },
  },
  // The same field in several parts.
  {
    schema: { allOf: [objectOf({ list: listOf("a") }), objectOf({ list: listOf("b") })] },
    value: listed,
  },
  {
    schema: {
      ...objectOf({ list: listOf("a") }),
      allOf: [{ properties: { list: listOf("b") }, required: ["list"] }],
    },
    value: listed,
  },
  {
    schema: {
      allOf: [
        objectOf({ inner: objectOf({ list: listOf("a") }) }),
        objectOf({ inner: objectOf({ list: listOf("b") }) }),
      ],
    },
    value: { inner: listed },
  },
  {
    schema: {
      ...objectOf({ list: listOf("a") }),
      $ref: "#/$defs/other",
      $defs: { other: objectOf({ list: listOf("b"), path: text }) },
    },
    value: { ...listed, path: "x" },
  },
  {
    schema: {
      ...objectOf({ list: listOf("a") }),
      anyOf: [objectOf({ list: listOf("b") }), objectOf({ path: text })],
    },
    value: listed,
  },
  {
    schema: {
      allOf: [objectOf({ list: { items: { $ref: "#" } } }), objectOf({ list: listOf("a") })],
    },
    value: { list: [{ a: "1", list: [{ a: "2" }] }] },
  },
  // A field of one part is one of all others in another.
  {
    schema: {
      allOf: [
        objectOf({ inner: objectOf({ a: text }) }),
        { type: "object", additionalProperties: objectOf({ b: text }) },
      ],
    },
    value: { inner: both[0], more: { b: "3" } },
  },
  {
    schema: {
      allOf: [objectOf({ list: listOf("a") }), { additionalProperties: listOf("b") }],
    },
    value: listed,
  },
  {
    schema: {
      ...objectOf({ inner: objectOf({ a: text }) }),
      allOf: [{ patternProperties: { "^i": objectOf({ b: text }) } }],
    },
    value: { inner: both[0] },
  },
  {
    schema: {
      allOf: [
        objectOf({ list: listOf("a"), path: "left to the server" }),
        { ...objectOf({ list: listOf("b"), path: 1 }), additionalProperties: listOf("b") },
      ],
    },
    value: { ...listed, path: "x" },
  },
  // Lists in places of a tuple that may be absent, and that refer back to the whole.
  {
    schema: {
      type: ["array", "string"],
      prefixItems: [{ type: "null" }, { type: "array", items: { $ref: "#" } }],
      items: { type: "array", items: { $ref: "#" } },
    },
    value: [null, ["a", [null, []]], ["b"]],
  },
];
