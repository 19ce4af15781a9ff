import path from "node:path";

import { Validator as Cfworker } from "@cfworker/json-schema";
import { Ajv } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";

import { toProviderSchema } from "../src/catalog/provider-schema.ts";
import { assignPublicNames } from "../src/catalog/public-names.ts";
import { dialectOf, type JsonSchemaObject } from "../src/schema/guard/json-schema.ts";
import { inspectSchema } from "../src/schema/guard/schema-guard.ts";
import { formatSignature } from "../src/schema/usage-line.ts";
import { validateToolArguments } from "../src/schema/validate/validate-tool-arguments.ts";
import { createValidator } from "../src/schema/validate/validator.ts";
import { isJsonObject } from "../src/text/json-object.ts";
import { readToolLists, type ToolList as ListOf } from "./corpus/read-tool-lists.ts";
import corpus from "./corpus/schemas.json" with { type: "json" };

interface Tool {
  readonly name: string;
  readonly inputSchema?: unknown;
  readonly outputSchema?: unknown;
}

type ToolList = ListOf<Tool>;

const root = path.resolve(import.meta.dirname, "..");
const ownLists: readonly ToolList[] = [
  ...readToolLists<Tool>(path.join(root, "tests/corpus/tool-lists")),
  {
    name: "corpus",
    tools: corpus.map(({ schema }, index) => ({ name: `schema-${index}`, inputSchema: schema })),
  },
];
/** Lists of published servers, kept outside of the repository. */
const realLists = readToolLists<Tool>(path.join(root, "../shared/toollists"));

const namings = ["mcp__server__tool", "mcp_server_tool", "prefix_tool"] as const;

function expectGoodNames(lists: readonly ToolList[]): void {
  for (const naming of namings) {
    const entries = lists.flatMap(({ name, tools }) =>
      tools.map((tool) => ({ server: name, tool: tool.name, naming })),
    );
    const { names, warnings } = assignPublicNames(entries);
    const assigned = names.filter((name) => name !== undefined);
    for (const name of assigned) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
    expect(new Set(assigned).size).toBe(assigned.length);
    const duplicates = warnings.filter(({ kind }) => kind === "duplicate").length;
    expect(assigned.length).toBe(entries.length - duplicates);
  }
}

interface Counts {
  readonly lists: number;
  tools: number;
  plain: number;
  complex: number;
  refused: number;
  unvalidated: number;
  verdicts: number;
}

/** Judges every schema of the lists and uses it once, however odd it is. */
async function useEverySchema(lists: readonly ToolList[]): Promise<Counts> {
  const counts: Counts = {
    lists: lists.length,
    tools: 0,
    plain: 0,
    complex: 0,
    refused: 0,
    unvalidated: 0,
    verdicts: 0,
  };
  for (const { name, inputSchema, outputSchema } of lists.flatMap(({ tools }) => tools)) {
    counts.tools += 1;
    expect(formatSignature(name, inputSchema)).toMatch(/\(.*\)$/s);
    expect(toProviderSchema(inputSchema)).toMatchObject({ type: "object" });
    await validateToolArguments(inputSchema, {});
    for (const schema of [
      inputSchema ?? {},
      ...(outputSchema === undefined ? [] : [outputSchema]),
    ]) {
      const report = inspectSchema(schema);
      counts[report.kind] += 1;
      if (report.kind === "refused") {
        expect(report.reason).not.toBe("");
        continue;
      }
      counts.unvalidated += report.unvalidated.length;
      const validator = createValidator(schema);
      for (const value of valuesFor(schema)) {
        const verdict = await validator.validate(value);
        expect(verdict?.kind).not.toBe("unchecked");
        counts.verdicts += 1;
      }
    }
  }
  return counts;
}

/** A value of the right shape, and the same with one thing wrong at a time. */
function valuesFor(schema: unknown): readonly unknown[] {
  const sample = sampleOf(schema, schema, 0);
  if (!isJsonObject(sample)) return [sample, {}, []];
  const keys = Object.keys(sample);
  return [
    sample,
    {},
    { ...sample, unexpected: true },
    ...keys.map((key) =>
      Object.fromEntries(Object.entries(sample).filter(([name]) => name !== key)),
    ),
    ...keys.flatMap((key) => [null, 7.5, {}].map((wrong) => ({ ...sample, [key]: wrong }))),
  ];
}

function sampleOf(schema: unknown, document: unknown, depth: number): unknown {
  if (!isJsonObject(schema) || depth > 8) return "text";
  const { $ref, type, properties, items, anyOf, oneOf, minimum } = schema;
  if (typeof $ref === "string") {
    const target = $ref
      .split("/")
      .slice(1)
      .reduce<unknown>((part, key) => (isJsonObject(part) ? part[key] : undefined), document);
    return sampleOf(target, document, depth + 1);
  }
  if (schema["const"] !== undefined) return schema["const"];
  if (Array.isArray(schema["enum"])) return (schema["enum"] as readonly unknown[])[0];
  const alternatives = Array.isArray(anyOf) ? anyOf : oneOf;
  if (Array.isArray(alternatives)) return sampleOf(alternatives[0], document, depth + 1);
  switch (Array.isArray(type) ? type[0] : type) {
    case "number":
    case "integer":
      return typeof minimum === "number" ? minimum : 1;
    case "boolean":
      return true;
    case "null":
      return null;
    case "array":
      return [sampleOf(items, document, depth + 1)];
    case "string":
      return "text";
    default:
      return Object.fromEntries(
        Object.entries(isJsonObject(properties) ? properties : {}).map(([name, property]) => [
          name,
          sampleOf(property, document, depth + 1),
        ]),
      );
  }
}

function print(title: string, counts: Counts): void {
  const text = Object.entries(counts).map(([name, count]) => `${count} ${name}`);
  console.log(`${title}: ${text.join(", ")}`);
}

describe("the repository's own odd tools", () => {
  it("NAM-12, NAM-14: all get valid names of their own", () => {
    expectGoodNames(ownLists);
  });

  it("DSC-17, BRG-21: every schema is used or refused with a reason, none throws", async () => {
    const counts = await useEverySchema(ownLists);
    print("own lists", counts);
    expect(counts.refused).toBeGreaterThan(0);
    expect(counts.plain).toBeGreaterThan(30);
  });
});

const isMissing = realLists.length === 0;
const suffix = isMissing ? " (skipped: ../shared/toollists is not there)" : "";

describe("tools of published servers", () => {
  it.skipIf(isMissing)(`NAM-12: all get valid names of their own${suffix}`, () => {
    expectGoodNames(realLists);
  });

  it.skipIf(isMissing)(
    `BRG-21: every schema is usable as it is${suffix}`,
    async () => {
      const counts = await useEverySchema(realLists);
      print("published lists", counts);
      expect(counts.refused).toBe(0);
      expect(counts.complex).toBe(0);
    },
    120_000,
  );

  it.skipIf(isMissing)(
    `BRG-21: Ajv and cfworker agree with every verdict${suffix}`,
    async () => {
      let compared = 0;
      for (const { inputSchema, outputSchema } of realLists.flatMap(({ tools }) => tools))
        for (const schema of [inputSchema, outputSchema].filter((entry) => isJsonObject(entry)))
          compared += await compareVerdicts(schema);
      console.log(`published lists: ${compared} verdicts compared with Ajv and cfworker`);
      expect(compared).toBeGreaterThan(1_000);
    },
    120_000,
  );
});

async function compareVerdicts(schema: JsonSchemaObject): Promise<number> {
  const isOld = dialectOf(schema) === "draft-07";
  const engine = isOld ? Ajv : Ajv2020;
  const ajv = new engine({ strict: false, validateFormats: false }).compile(schema);
  // cfworker checks formats, which are annotations to everybody else.
  const withoutFormats = JSON.parse(
    JSON.stringify(schema, (key, entry: unknown) =>
      key === "format" && typeof entry === "string" ? undefined : entry,
    ),
  ) as object;
  const cfworker = new Cfworker(withoutFormats, isOld ? "7" : "2020-12", true);
  const validator = createValidator(schema);
  const values = valuesFor(schema);
  for (const value of values) {
    const isValid = (await validator.validate(value)) === undefined;
    expect(ajv(value)).toBe(isValid);
    expect(cfworker.validate(value).valid).toBe(isValid);
  }
  return values.length;
}
