/** Schemas that try to make the emitted text endless, the emitter slow or the compiler give up. */
export const hostileSchemas: Readonly<Record<string, unknown>> = {
  "many fields": { properties: Object.fromEntries(numbered(20_000).map((n) => [`f${n}`, true])) },
  "many required fields": { type: "object", required: numbered(30_000).map((n) => `f${n}`) },
  "many values": { enum: numbered(30_000) },
  "long names": { type: "object", properties: { ["x".repeat(200_000)]: { type: "string" } } },
  "many alternatives": { anyOf: numbered(450).map((n) => object(n)) },
  "alternatives multiplied": {
    allOf: numbered(8).map((row) => ({ anyOf: numbered(8).map((n) => object(row * 8 + n)) })),
  },
  "a tuple of thousands": { prefixItems: numbered(20_000).map(() => true) },
  "a chain of references": chain(900, "#/$defs/d899"),
  "a circle of references too long to see": chain(900, "#/$defs/d0"),
  "references into every level": nested(60, (level) => ({
    $ref: `#${"/properties/inner".repeat(level)}`,
  })),
  "everything refers to everything": {
    $defs: Object.fromEntries(
      numbered(40).map((n) => [
        `d${n}`,
        { type: "object", properties: { all: { anyOf: numbered(40).map((m) => ref(m)) } } },
      ]),
    ),
    ...ref(0),
  },
  "lists in several parts, each of which leads to all": {
    $defs: Object.fromEntries(
      numbered(8).map((n) => [
        `d${n}`,
        {
          type: "object",
          allOf: [
            { properties: listsOf(8, ref) },
            { properties: listsOf(8, (m) => ({ properties: { [`p${m}`]: true } })) },
          ],
        },
      ]),
    ),
    ...ref(0),
  },
  "names that are no names": {
    type: "object",
    properties: Object.fromEntries(
      ["", " ", "*/", "`${x}`", '"', "\\", "\n", "\u2028", "</script>", "\u202E", "\uD800"].map(
        (name) => [name, { const: name, description: `${name} */ export const x = 1; /*` }],
      ),
    ),
    $defs: {},
  },
  "directives for compilers": {
    type: "object",
    properties: {
      a: { type: "string", description: "@ts-ignore" },
      b: { type: "string", description: "*\n * @ts-nocheck\n" },
    },
  },
};

function numbered(count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => index);
}

function object(n: number): unknown {
  return { type: "object", properties: { [`p${n}`]: { const: n } }, required: [`p${n}`] };
}

function ref(n: number): { readonly $ref: string } {
  return { $ref: `#/$defs/d${n}` };
}

function listsOf(count: number, item: (n: number) => object): object {
  return Object.fromEntries(
    numbered(count).map((n) => [`l${n}`, { type: "array", items: item(n) }]),
  );
}

function chain(length: number, last: string): unknown {
  const links = numbered(length - 1).map((n) => [`d${n}`, ref(n + 1)] as const);
  const end = last === ref(length - 1).$ref ? { type: "string" } : { $ref: last };
  return { ...ref(0), $defs: Object.fromEntries([...links, [`d${length - 1}`, end]]) };
}

function nested(depth: number, extra: (level: number) => object): unknown {
  let schema: unknown = { type: "string" };
  for (let level = depth / 2; level > 0; level -= 1)
    schema = { type: "object", properties: { inner: schema, other: extra(level) } };
  return schema;
}
