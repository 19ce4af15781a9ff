import { readFileSync } from "node:fs";

import { Ajv } from "ajv";
import { describe, expect, it } from "vitest";

import { parseJsonc } from "../files/jsonc-document.ts";
import { parseConfig } from "../parse/parse-config.ts";
import { entryKeys } from "./config-keys.ts";
import { configJsonSchema } from "./json-schema.ts";
import { type KeyTable, spellingsOf, type ValueShape } from "./value-shape.ts";

const root = new URL("../../../", import.meta.url);
const example = readFileSync(new URL("docs/mcp.example.jsonc", root), "utf8");

function parseExample(): unknown {
  const parsed = parseJsonc(example);
  if (!parsed.ok) throw new Error(parsed.message);
  return parsed.document.value;
}

/** Every key of a table with those of the objects inside it, dotted. */
function allKeys(table: KeyTable, prefix = ""): string[] {
  const inner = (shape: ValueShape, at: string): string[] => {
    if (shape.type === "object") return allKeys(shape.keys, `${at}.`);
    return shape.type === "either" ? shape.shapes.flatMap((option) => inner(option, at)) : [];
  };
  return Object.entries(table).flatMap(([key, { shape }]) => [
    `${prefix}${key}`,
    ...inner(shape, `${prefix}${key}`),
  ]);
}

function writtenKeys(value: unknown, prefix = ""): string[] {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return [];
  return Object.entries(value).flatMap(([key, item]) => [
    `${prefix}${key}`,
    ...writtenKeys(item, `${prefix}${key}.`),
  ]);
}

describe("the one table of keys", () => {
  it("CFG-45: the committed JSON Schema is the generated one (node scripts/generate-config-schema.mjs)", () => {
    const committed = readFileSync(new URL("schema/mcp.json", root), "utf8");
    expect(committed).toBe(`${JSON.stringify(configJsonSchema(), null, 2)}\n`);
  });

  it("CFG-45: the example parses without a single problem", () => {
    expect(parseConfig(parseExample(), { strict: true }).problems).toEqual([]);
  });

  it("CFG-45: the example shows every key there is", () => {
    const { servers } = parseExample() as { servers: Record<string, unknown> };
    const shown = new Set(Object.values(servers).flatMap((entry) => writtenKeys(entry)));
    // The keys of a transport object are those of the entry; the example shows the object once.
    const missing = allKeys(entryKeys).filter((key) => {
      const alike = key.replace(/^transport\.(?!kind$)/, "");
      return !shown.has(key) && !shown.has(alike);
    });
    expect(missing).toEqual([]);
  });

  it("CFG-45: the schema accepts the example, and what it accepts has no wrong shape for the parser", () => {
    const validate = new Ajv({ strict: false }).compile(configJsonSchema());
    expect(validate(parseExample()), JSON.stringify(validate.errors)).toBe(true);
    const good: unknown[] = [
      {},
      { servers: [{ name: "a", command: ["x"] }] },
      [{ name: "a", url: "http://h" }],
      { name: "a", type: "streamableHttp", url: "http://h", enabled_tools: [] },
      { mcpServers: { a: { command: "x", disabled: true } }, defaults: { timeout: 1 } },
    ];
    const bad: unknown[] = [
      7,
      { servers: 7 },
      { servers: { a: { comand: "x" } } },
      { servers: { a: { command: 7 } } },
      { servers: { a: { command: "x", env: { A: 1 } } } },
      { servers: { a: { command: "x", timeout: -1 } } },
      { servers: { a: { command: "x", isolation: { sandbx: true } } } },
      { servers: { a: { url: "http://h", auth: { type: "magic" } } } },
      { servers: [{ command: "x" }] },
      { defaults: { command: "x" } },
      { sservers: {} },
    ];
    for (const input of good) {
      expect(validate(input), JSON.stringify(input)).toBe(true);
      expect(parseConfig(input, { strict: true }).problems).toEqual([]);
    }
    for (const input of bad) {
      expect(validate(input), JSON.stringify(input)).toBe(false);
      expect(parseConfig(input, { strict: true }).problems).not.toEqual([]);
    }
  });

  it("CFG-41: every key is accepted in snake_case, and no two keys share a spelling", () => {
    const spellings = spellingsOf(entryKeys);
    expect(spellings.get("env_passthrough")).toBe("envPassthrough");
    expect(spellings.get("skip_read_only_prompts")).toBe("skipReadOnlyPrompts");
    expect(spellings.get("type")).toBe("transport");
    for (const name of Object.keys(entryKeys)) expect(spellings.get(name)).toBe(name);
  });
});
