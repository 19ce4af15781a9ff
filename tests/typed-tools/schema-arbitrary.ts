import fc from "fast-check";

import { followPointer } from "../../src/schema/guard/schema-references.ts";
import { isJsonObject } from "../../src/text/json-object.ts";

type Schema = boolean | Readonly<Record<string, unknown>>;

/** Few names, so that schemas and values meet; some mean something to JavaScript or TypeScript. */
const inheritedNames: readonly string[] = ["constructor", "toString"];
const names = ["a", "b", "x-1", "class", "__proto__", ...inheritedNames] as const;
const scalars = ["s", "t", "", 0, 1, -2.5, true, false, null] as const;
const kinds = ["string", "number", "integer", "boolean", "null", "array", "object"] as const;
const pointers = ["#/$defs/Item", "#/$defs/a~1b%25", "#/$defs/~0", "#"] as const;

const name = fc.constantFrom(...names);
const scalar = fc.constantFrom<unknown>(...scalars);

/** An object with these keys as its own, also `__proto__`. */
function recordOf<T>(value: fc.Arbitrary<T>): fc.Arbitrary<Record<string, T>> {
  return fc
    .array(fc.tuple(name, value), { maxLength: 3 })
    .map((entries) => Object.fromEntries(entries));
}

const { value: anyValue } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", maxDepth: 3 },
    { weight: 3, arbitrary: scalar },
    { weight: 1, arbitrary: fc.array(tie("value"), { maxLength: 3 }) },
    { weight: 2, arbitrary: recordOf(tie("value")) },
  ),
}));

/** TypeScript refuses objects that share no field with a type; one that all objects have does not count. */
function withPlainName(properties: Record<string, Schema>): Record<string, Schema> {
  const isPlain = Object.keys(properties).some((key) => !inheritedNames.includes(key));
  return isPlain ? properties : { ...properties, a: true };
}

function groups(schema: fc.Arbitrary<Schema>): fc.Arbitrary<Record<string, unknown>> {
  const several = fc.array(schema, { minLength: 1, maxLength: 3 });
  const maybe = { requiredKeys: [] };
  return fc.oneof(
    { weight: 3, arbitrary: fc.record({ type: fc.constantFrom(...kinds) }) },
    fc.record({ type: fc.uniqueArray(fc.constantFrom(...kinds), { minLength: 1, maxLength: 3 }) }),
    fc.record({ const: anyValue }),
    fc.record({ enum: fc.array(anyValue, { maxLength: 4 }) }),
    {
      weight: 5,
      arbitrary: fc.record(
        {
          type: fc.constant("object"),
          properties: recordOf(schema).map((properties) => withPlainName(properties)),
          required: fc.array(name, { maxLength: 2 }),
          additionalProperties: schema,
          patternProperties: fc.dictionary(fc.constantFrom("^a", "o"), schema, { maxKeys: 2 }),
        },
        maybe,
      ),
    },
    {
      weight: 3,
      arbitrary: fc.record(
        {
          type: fc.constant("array"),
          items: schema,
          prefixItems: several,
          minItems: fc.nat(2),
          maxItems: fc.nat(3),
          contains: schema,
        },
        maybe,
      ),
    },
    fc.record({ items: several, additionalItems: schema }, { requiredKeys: ["items"] }),
    { weight: 2, arbitrary: fc.record({ anyOf: several }) },
    { weight: 2, arbitrary: fc.record({ oneOf: several }) },
    { weight: 2, arbitrary: fc.record({ allOf: several }) },
    { weight: 2, arbitrary: fc.record({ $ref: fc.constantFrom(...pointers) }) },
    fc.record({ not: schema }),
    // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
    fc.record({ if: schema, then: schema, else: schema }, { requiredKeys: ["if"] }),
    fc.record({ dependentSchemas: recordOf(schema) }),
    fc.record({ unevaluatedProperties: schema, unevaluatedItems: schema }, maybe),
    fc.record({ propertyNames: schema, minProperties: fc.nat(1) }, maybe),
  );
}

const { schema: part } = fc.letrec<{ schema: Schema }>((tie) => ({
  schema: fc.oneof(
    { depthSize: "small", maxDepth: 3, withCrossShrink: true },
    { weight: 1, arbitrary: fc.constantFrom<Schema>(true, {}, false) },
    { weight: 3, arbitrary: fc.record({ type: fc.constantFrom(...kinds) }) },
    { weight: 6, arbitrary: groups(tie("schema")) },
    {
      weight: 3,
      arbitrary: fc
        .tuple(groups(tie("schema")), groups(tie("schema")))
        .map(([one, other]) => ({ ...one, ...other })),
    },
  ),
}));

/** Whole documents: some references lead nowhere or round in a circle, and the guard says so. */
export const schemaArbitrary: fc.Arbitrary<Readonly<Record<string, unknown>>> = fc
  .tuple(
    part,
    part,
    part,
    part,
    fc.constantFrom(undefined, "http://json-schema.org/draft-07/schema#"),
  )
  .map(([root, item, odd, tilde, dialect]) => ({
    ...(isJsonObject(root) ? root : { allOf: [root] }),
    ...(dialect === undefined ? {} : { $schema: dialect }),
    $defs: { Item: item, "a/b%": odd, "~": tilde },
  }));

const declaring = fc.subarray(["a", "b", "x-1", "class"], { minLength: 1 }).map((keys) => ({
  properties: Object.fromEntries(keys.map((key) => [key, { type: "string" }])),
}));
const maybeType = fc.constantFrom({}, { type: "object" });

const declaringObject = declaring.map((part) => ({ type: "object", ...part }));
const { field: declaringField } = fc.letrec<{ field: Schema }>((tie) => ({
  field: fc.oneof(
    { maxDepth: 2, depthSize: "small" },
    declaringObject,
    tie("field").map((items) => ({ type: "array", items })),
    tie("field").map((a) => ({ type: "object", properties: { a } })),
  ),
}));

/** Objects, or lists of them, of which several parts of the schema declare the fields. */
export const scatteredArbitrary: fc.Arbitrary<Readonly<Record<string, unknown>>> = fc.oneof(
  fc
    .tuple(
      maybeType,
      fc.option(declaring, { nil: {} }),
      fc.record(
        {
          allOf: fc.array(declaring, { minLength: 1, maxLength: 2 }),
          if: fc.constant(true),
          // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
          then: declaring,
          dependentSchemas: fc.record({ a: declaring }),
          unevaluatedProperties: fc.constantFrom<Schema>(true, false, { type: "string" }),
        },
        { requiredKeys: [] },
      ),
    )
    .map((groupsOfOne) => Object.assign({}, ...groupsOfOne) as Readonly<Record<string, unknown>>),
  fc
    .array(
      declaring.map((items) => ({ items })),
      { minLength: 2, maxLength: 3 },
    )
    .map((allOf) => ({ type: "array", allOf })),
  // The same field in several parts, or in one of them only as one of all others.
  fc
    .array(
      fc.oneof(
        { weight: 3, arbitrary: declaringField.map((a) => ({ properties: { a } })) },
        declaringField.map((additionalProperties) => ({ additionalProperties })),
      ),
      { minLength: 2, maxLength: 3 },
    )
    .map((allOf) => ({ type: "object", allOf })),
);

/** Values that have a fair chance to be accepted by `document`, and some that have not. */
export function valuesArbitrary(
  document: Readonly<Record<string, unknown>>,
): fc.Arbitrary<readonly unknown[]> {
  return fc.array(
    fc.oneof({ weight: 3, arbitrary: likely(document, document, 0) }, anyValue, recordOf(anyValue)),
    { minLength: 12, maxLength: 12 },
  );
}

function likely(schema: unknown, document: unknown, depth: number): fc.Arbitrary<unknown> {
  if (!isJsonObject(schema) || depth > 5) return anyValue;
  const inner = (other: unknown): fc.Arbitrary<unknown> => likely(other, document, depth + 1);
  const choices: fc.Arbitrary<unknown>[] = [];
  const { $ref, type, properties, items, prefixItems, required } = schema;
  if (Object.hasOwn(schema, "const")) choices.push(fc.constant(schema["const"]));
  if (Array.isArray(schema["enum"]) && schema["enum"].length > 0)
    choices.push(fc.constantFrom<unknown>(...(schema["enum"] as unknown[])));
  if (typeof $ref === "string")
    choices.push(inner(followPointer(document, decodeURIComponent($ref.slice(1)))));
  for (const keyword of ["anyOf", "oneOf", "allOf"])
    for (const entry of (schema[keyword] ?? []) as readonly unknown[]) choices.push(inner(entry));
  const together: unknown[] = [
    schema["allOf"] ?? [],
    schema["then"] ?? [],
    schema["else"] ?? [],
  ].flat();
  if (isJsonObject(schema["dependentSchemas"]))
    together.push(...Object.values(schema["dependentSchemas"]));
  if (together.length > 0)
    choices.push(
      fc
        .tuple(likelyObject(schema, inner), ...together.map((entry) => inner(entry)))
        .map(([own, ...values]) => merged(own, values)),
      fc.tuple(...together.map((entry) => inner(entry))).map((values) => merged({}, values)),
    );
  for (const kind of [type].flat())
    if (kind !== "object" && kind !== "array" && typeof kind === "string")
      choices.push(scalar.filter((value) => isOfKind(value, kind)));
  if (properties !== undefined || required !== undefined || type === "object")
    choices.push(likelyObject(schema, inner));
  if (items !== undefined || prefixItems !== undefined || type === "array") {
    const places = [prefixItems, items].flat().filter((entry) => entry !== undefined);
    choices.push(
      fc
        .tuple(...places.map((entry) => inner(entry)))
        .chain((all) => fc.nat(all.length).map((length) => all.slice(0, length))),
      fc.array(inner(places.at(-1)), { maxLength: 3 }),
    );
  }
  return choices.length === 0 ? anyValue : fc.oneof(...choices);
}

/** One value with what all of several have: the fields of objects and the items of arrays, at every depth. */
function merged(own: unknown, values: readonly unknown[]): unknown {
  const lists = values.filter((value) => Array.isArray(value));
  if (lists.length > 0)
    return lists[0]?.map((_, index) =>
      mergedInside(lists.map((list): unknown => (list as readonly unknown[])[index])),
    );
  const objects = [own, ...values].filter((value) => isJsonObject(value));
  const keys = new Set(objects.flatMap((value) => Object.keys(value)));
  return Object.fromEntries(
    [...keys].map((key) => {
      const held = objects.filter((value) => Object.hasOwn(value, key));
      return [key, mergedInside(held.map((value) => value[key]))];
    }),
  );
}

function mergedInside(values: readonly unknown[]): unknown {
  const present = values.filter((value) => value !== undefined);
  const last = present.at(-1);
  return typeof last === "object" && last !== null ? merged({}, present) : last;
}

function likelyObject(
  schema: Readonly<Record<string, unknown>>,
  inner: (schema: unknown) => fc.Arbitrary<unknown>,
): fc.Arbitrary<unknown> {
  const properties = isJsonObject(schema["properties"]) ? schema["properties"] : {};
  const needed = (schema["required"] ?? []) as readonly string[];
  const keys = [...new Set([...Object.keys(properties), ...needed])];
  const own = keys.map((key) =>
    fc
      .tuple(fc.constant(key), inner(properties[key]), fc.boolean())
      .map(([, value, isLeftOut]): readonly (readonly [string, unknown])[] =>
        isLeftOut && !needed.includes(key) ? [] : [[key, value]],
      ),
  );
  const others = fc.array(fc.tuple(name, inner(schema["additionalProperties"])), { maxLength: 1 });
  return fc
    .tuple(fc.tuple(...own), others)
    .map(([declared, extra]) => Object.fromEntries([...extra, ...declared.flat()]) as unknown);
}

function isOfKind(value: unknown, kind: string): boolean {
  if (kind === "null") return value === null;
  if (kind === "integer") return Number.isInteger(value);
  return typeof value === kind;
}
