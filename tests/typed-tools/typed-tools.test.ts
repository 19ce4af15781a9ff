import path from "node:path";

import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";

import { emitType } from "../../src/schema/emit-types/emit-type.ts";
import { type DescribedTool, ToolModule } from "../../src/schema/emit-types/tool-module.ts";
import { createValidator } from "../../src/schema/validate/validator.ts";
import { isJsonObject } from "../../src/text/json-object.ts";
import { readToolLists, type ToolList as ListOf } from "../corpus/read-tool-lists.ts";
import corpus from "../corpus/schemas.json" with { type: "json" };
import { closeSchema } from "./close-schema.ts";
import { type Complaint, compileSources } from "./compile-sources.ts";
import { hostileSchemas } from "./hostile-schemas.ts";
import { literalCases } from "./literal-cases.ts";
import { scatteredArbitrary, schemaArbitrary, valuesArbitrary } from "./schema-arbitrary.ts";

const root = path.resolve(import.meta.dirname, "../..");

type ToolList = ListOf<DescribedTool>;

const ownLists: readonly ToolList[] = [
  ...readToolLists<DescribedTool>(path.join(root, "tests/corpus/tool-lists")),
  {
    name: "corpus",
    tools: corpus.map(({ name, schema }) => ({ name, inputSchema: schema, outputSchema: schema })),
  },
  // The names that a module needs itself, and some that mean something to JavaScript.
  ...["tool", "create tool client", "delete", "7"].map((name) => ({
    name,
    tools: ["then", "__proto__", "constructor", "*/", "a", "A", "\u2028"].map((tool) => ({
      name: tool,
      description: tool,
    })),
  })),
];
/** Lists of published servers, kept outside of the repository. */
const realLists = readToolLists<DescribedTool>(path.join(root, "../shared/toollists"));

/** Every name that a schema gives a field, except those that each object has without having them. */
function namedFields(schema: unknown, found = new Set<string>()): ReadonlySet<string> {
  if (typeof schema !== "object" || schema === null) return found;
  for (const [key, entry] of Object.entries(schema)) {
    if (key === "properties" && isJsonObject(entry))
      for (const name of Object.keys(entry))
        if (!(name in {}) || name === "__proto__") found.add(name);
    namedFields(entry, found);
  }
  return found;
}

/**
 * The type of exactly this value. The fields it lacks are written down as absent: TypeScript refuses an
 * object that shares no field at all with a type, which is advice about typing errors.
 */
function exactType(value: unknown, names: ReadonlySet<string>): string {
  if (Array.isArray(value))
    return `readonly [${value.map((item) => exactType(item, names)).join(", ")}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  const present = Object.entries(value).map(
    ([name, entry]) => `readonly ${JSON.stringify(name)}: ${exactType(entry, names)}`,
  );
  const absent = [...names]
    .filter((name) => !Object.hasOwn(value, name))
    .map((name) => `readonly ${JSON.stringify(name)}?: never`);
  return `{ ${[...present, ...absent].join("; ")} }`;
}

interface Claim {
  readonly schema: unknown;
  readonly value: unknown;
}

/** Source in which each line of a claim compiles only if the value fits the type of its schema. */
class Claims {
  readonly #claims: Claim[] = [];
  readonly #lines: string[] = [];
  readonly #types: string[] = [];
  schemas = 0;
  literals = 0;

  get count(): number {
    return this.#claims.length;
  }

  get source(): string {
    return this.#lines.join("\n");
  }

  /** The types alone. */
  get types(): string {
    return this.#types.join("\n");
  }

  async add(schema: unknown, values: readonly unknown[]): Promise<void> {
    const validator = createValidator(schema);
    const accepted: unknown[] = [];
    for (const value of values)
      if ((await validator.validate(value)) === undefined) accepted.push(value);
    if (accepted.length === 0) return;
    const name = `T${this.schemas}_`;
    this.schemas += 1;
    const types = emitType(schema, { name });
    this.#types.push(types);
    this.#lines.push(...types.split("\n"));
    const names = namedFields(schema);
    for (const value of accepted) {
      const index = this.#claims.push({ schema, value }) - 1;
      this.#lines.push(`declare const v${index}: ${exactType(value, names)};`);
      this.#lines.push(`export const c${index}: ${name} = v${index};`);
    }
    for (const value of await this.#literals(schema, accepted))
      this.addLiteral(schema, value, name);
  }

  /** A literal is compared more strictly: fields that the type does not mention are refused. */
  addLiteral(schema: unknown, value: unknown, declaredAs?: string): void {
    const name = declaredAs ?? `T${this.schemas}_`;
    if (declaredAs === undefined) {
      this.schemas += 1;
      this.#lines.push(...emitType(schema, { name }).split("\n"));
    }
    this.literals += 1;
    const index = this.#claims.push({ schema, value }) - 1;
    this.#lines.push(`export const c${index}: ${name} = ${JSON.stringify(value)};`);
  }

  async #literals(schema: unknown, accepted: readonly unknown[]): Promise<readonly unknown[]> {
    // The old dialect cannot say which fields are spoken of.
    if (!isJsonObject(schema) || schema["$schema"] !== undefined) return [];
    const closed = createValidator(closeSchema(schema));
    const literals: unknown[] = [];
    for (const value of accepted) {
      const isObject = typeof value === "object" && value !== null;
      // In a literal these names are compared with what every object has.
      if (!isObject || /"(?:__proto__|constructor|toString)"/.test(JSON.stringify(value))) continue;
      if ((await closed.validate(value)) === undefined) literals.push(value);
    }
    return literals;
  }

  /** The claims that complaints are about, with the type that was emitted. */
  explain(complaints: readonly Complaint[]): readonly unknown[] {
    return complaints.slice(0, 3).map(({ line, text }) => {
      const [, index] = /^export const c(\d+)/.exec(this.#lines[line - 1] ?? "") ?? [];
      const { schema, value } = this.#claims[Number(index)] ?? {};
      const type = emitType(schema, { name: "T" });
      return { text, schema: JSON.stringify(schema), value: JSON.stringify(value), type };
    });
  }
}

const demoTools: readonly DescribedTool[] = [
  {
    name: "create_issue",
    inputSchema: {
      type: "object",
      properties: {
        owner: { type: "string" },
        title: { type: "string" },
        state: { enum: ["open", "closed"] },
        labels: { type: "array", items: { type: "string" } },
      },
      required: ["owner", "title"],
    },
    outputSchema: {
      type: "object",
      properties: { number: { type: "integer" } },
      required: ["number"],
    },
  },
  { name: "ping", inputSchema: { type: "object", additionalProperties: false } },
  { name: "search-all", inputSchema: { type: "object", properties: { query: {} } } },
];

const goodUse = `
import { github, type GithubClient, type GithubCreateIssueParams, type GithubTools } from "./github.ts";
declare const session: import("plugboard").Session;
export const client: GithubClient = github(session);
export const params: GithubCreateIssueParams = { owner: "o", title: "t", state: "open", labels: ["a"] };
export const outcome = await client.create_issue(params, { timeoutMs: 5 });
export const issue: number = outcome.ok ? outcome.structured.number : outcome.error.message.length;
export const outcomes = [await client.ping(), await client["search-all"](), await client["search-all"]({ query: 1 })];
export type Names = keyof GithubTools;
`;

/** Each line is one mistake. */
const mistakes = [
  'await client.create_issue({ owner: "o", title: 1 });',
  'await client.create_issue({ owner: "o" });',
  "await client.create_issue();",
  'await client.create_issue({ owner: "o", title: "t", titel: "t" });',
  'await client.create_issue({ owner: "o", title: "t", state: "opened" });',
  'await client.create_isue({ owner: "o", title: "t" });',
  'await client.ping({ host: "x" });',
  'const p: GithubCreateIssueParams = { owner: "o", title: "t" }; p.owner = "x"; export { p };',
  'const o = await client.create_issue({ owner: "o", title: "t" }); o.structured.number.toFixed();',
  'const l: GithubCreateIssueParams["labels"] = []; l.push("x"); export { l };',
];
const badUse = [
  'import { github, type GithubCreateIssueParams } from "./github.ts";',
  'declare const session: import("plugboard").Session;',
  "const client = github(session);",
  ...mistakes,
].join("\n");

const hostileTypes = Object.values(hostileSchemas).map((schema, index) =>
  emitType(schema, { name: `T${index}_` }),
);

const moduleOf = (name: string, tools: readonly DescribedTool[]): string =>
  [...new ToolModule(name, tools).pieces()].join("");

const generated = new Claims();
const curated = new Claims();
const literal = new Claims();
let complaints: readonly Complaint[] = [];
const about = (file: string): readonly Complaint[] =>
  complaints.filter((complaint) => complaint.file === file);

// One run of the compiler for all modules: reading the package's own types is most of its work.
beforeAll(async () => {
  const seed = 20_260_728;
  const schemas = [
    ...fc.sample(schemaArbitrary, { numRuns: 1_000, seed }),
    ...fc.sample(scatteredArbitrary, { numRuns: 200, seed }),
  ];
  for (const schema of schemas)
    for (const values of fc.sample(valuesArbitrary(schema), { numRuns: 1, seed }))
      await generated.add(schema, values);
  for (const { schema, valid } of corpus) await curated.add(schema, valid);
  for (const { schema, value } of literalCases) literal.addLiteral(schema, value);
  const claims = new Map([
    ["generated.ts", generated.source],
    ["curated.ts", curated.source],
    ["literal.ts", literal.source],
  ]);
  const files = new Map([
    ["types.ts", generated.types],
    ["hostile.ts", hostileTypes.join("\n")],
    ["github.ts", moduleOf("github", demoTools)],
    ["good-use.ts", goodUse],
    ["bad-use.ts", badUse],
    ["empty.ts", moduleOf("", [])],
  ]);
  for (const { name, tools } of [...ownLists, ...realLists])
    files.set(`list-${name}.ts`, moduleOf(name, tools));
  const runs = [compileSources(claims, { exact: true }), compileSources(files, { exact: false })];
  complaints = (await Promise.all(runs)).flat();
}, 120_000);

describe("emitted types", () => {
  it("BRG-09, LIM-04: accept every value that a generated schema accepts", () => {
    console.log(
      `generated: ${generated.schemas} schemas, ${generated.count} values, ${generated.literals} literals`,
    );
    expect(generated.explain(about("generated.ts"))).toEqual([]);
    expect(about("types.ts")).toEqual([]);
    expect(generated.count).toBeGreaterThan(3_000);
    expect(generated.literals).toBeGreaterThan(300);
  });

  it("BRG-09, LIM-04: accept a literal with every field that the schema speaks of", async () => {
    for (const { schema, value } of literalCases)
      expect(await createValidator(schema).validate(value)).toBeUndefined();
    expect(literal.explain(about("literal.ts"))).toEqual([]);
  });

  it("BRG-09, BRG-11: accept every valid value of the corpus", () => {
    expect(curated.explain(about("curated.ts"))).toEqual([]);
    expect(curated.count).toBeGreaterThan(50);
  });
});

describe("schemas that mean harm", () => {
  it("LIM-04: give a text of bounded length that compiles and holds nothing but types", () => {
    for (const text of hostileTypes) expect(text.length).toBeLessThan(400_000);
    expect(about("hostile.ts")).toEqual([]);
    expect(hostileTypes.join("")).not.toMatch(/^export (?!type |interface )/m);
  });
});

describe("a generated module", () => {
  it.each(ownLists.map(({ name }) => name))("compiles for the odd tools of %s", (name) => {
    expect(about(`list-${name}.ts`)).toEqual([]);
  });

  const isMissing = realLists.length === 0;
  const suffix = isMissing ? " (skipped: ../shared/toollists is not there)" : "";

  it.skipIf(isMissing)(`compiles for the tools of published servers${suffix}`, () => {
    const tools = realLists.flatMap((list) => list.tools).length;
    console.log(`published lists: ${realLists.length} modules, ${tools} tools`);
    expect(complaints.filter(({ file }) => file.startsWith("list-"))).toEqual([]);
  });

  it("compiles for a server without tools, even without a name", () => {
    expect(about("empty.ts")).toEqual([]);
  });

  it("BRG-07, BRG-10: takes right calls", () => {
    expect(about("good-use.ts")).toEqual([]);
    expect(about("github.ts")).toEqual([]);
  });

  it("BRG-07, BRG-08, BRG-10: does not compile with a wrong call", () => {
    const wrong = new Set(about("bad-use.ts").map(({ line }) => line));
    const lines = badUse.split("\n");
    expect(lines.filter((_, index) => wrong.has(index + 1))).toEqual(mistakes);
  });
});
