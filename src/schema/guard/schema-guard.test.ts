import { describe, expect, it } from "vitest";

import corpus from "../../../tests/corpus/schemas.json" with { type: "json" };
import { defaultLimits } from "../../config/keys/limits.ts";
import { inspectSchema } from "./schema-guard.ts";

function reasonOf(schema: unknown): string | undefined {
  const report = inspectSchema(schema);
  return report.kind === "refused" ? report.reason : undefined;
}

/** Each level offers the next one twice for the same property. */
function compositionBomb(levels: number, keyword: "anyOf" | "oneOf" | "allOf"): unknown {
  const $defs: Record<string, unknown> = { [`d${levels}`]: { type: "string" } };
  for (let level = 0; level < levels; level += 1) {
    const form = { properties: { a: { $ref: `#/$defs/d${level + 1}` } } };
    $defs[`d${level}`] = { [keyword]: [form, { ...form }] };
  }
  return { type: "object", $defs, $ref: "#/$defs/d0" };
}

describe("inspectSchema", () => {
  it.each(corpus.map((entry) => [entry.name, entry] as const))(
    "BRG-21: corpus: %s",
    (_name, { schema, kind, ...expected }) => {
      const report = inspectSchema(schema);
      expect(report.kind).toBe(kind);
      if (report.kind === "refused") expect(report.reason).toContain(expected.reason);
      else expect(report.unvalidated).toEqual(expected.unvalidated ?? []);
    },
  );

  it("BRG-21: refuses a schema that is too large, too deep or has too many parts", () => {
    const { maxSchemaBytes, maxSchemaDepth, maxSchemaNodes } = defaultLimits;
    expect(reasonOf({ description: "x".repeat(maxSchemaBytes) })).toContain("larger than 262144");
    expect(reasonOf({ enum: Array.from({ length: maxSchemaBytes }, () => 1) })).toContain("larger");
    expect(reasonOf({ description: "€".repeat(100_000) })).toContain("larger");
    expect(reasonOf({ enum: Array.from({ length: maxSchemaNodes }, () => ({})) })).toContain(
      "parts",
    );
    let deep: unknown = {};
    for (let level = 1; level < maxSchemaDepth; level += 1) deep = { not: deep };
    expect(inspectSchema(deep).kind).toBe("plain");
    expect(reasonOf({ not: deep })).toContain("deeper than 64");
  });

  it("BRG-21: survives hostile depth, cycles and what is no JSON", () => {
    let deep: unknown = {};
    for (let level = 0; level < 100_000; level += 1) deep = { not: deep };
    expect(reasonOf(deep)).toContain("deeper");
    const cyclic: Record<string, unknown> = {};
    cyclic["not"] = cyclic;
    expect(reasonOf(cyclic)).toContain("deeper");
    for (const value of [undefined, null, 5, "object", [], () => true, Symbol("x"), 5n, Number.NaN])
      expect(inspectSchema(value).kind).toBe("refused");
    expect(reasonOf({ const: Number.NaN })).toBe("it is not plain JSON");
    expect(reasonOf({ const: () => 1 })).toBe("it is not plain JSON");
  });

  it("BRG-21: a schema may be a boolean", () => {
    expect(inspectSchema(true)).toEqual({ kind: "plain", unvalidated: [] });
    expect(inspectSchema(false)).toEqual({ kind: "plain", unvalidated: [] });
  });

  it.each(["anyOf", "oneOf", "allOf"] as const)(
    "BRG-21: alternatives that multiply are complex: %s",
    (keyword) => {
      expect(inspectSchema(compositionBomb(24, keyword)).kind).toBe("complex");
      expect(inspectSchema(compositionBomb(4, keyword)).kind).toBe("plain");
    },
  );

  it("BRG-21: the same part looked at many times in place is complex", () => {
    const $defs: Record<string, unknown> = { d300: { type: "string" } };
    for (let level = 0; level < 300; level += 1) {
      const next = { $ref: `#/$defs/d${level + 1}` };
      $defs[`d${level}`] = { anyOf: [next, { ...next }] };
    }
    expect(inspectSchema({ $defs, $ref: "#/$defs/d0" }).kind).toBe("complex");
  });

  it("BRG-21: a very long chain of references is complex, not a crash", () => {
    const $defs: Record<string, unknown> = { d1900: { type: "string" } };
    for (let level = 0; level < 1_900; level += 1)
      $defs[`d${level}`] = { $ref: `#/$defs/d${level + 1}` };
    expect(inspectSchema({ $defs, $ref: "#/$defs/d0" }).kind).toBe("complex");
  });

  it("BRG-21: recursion is plain as long as each part is looked at once", () => {
    const node = { type: "object", properties: { next: { $ref: "#/$defs/node" } } };
    expect(inspectSchema({ $defs: { node }, $ref: "#/$defs/node" }).kind).toBe("plain");
    const either = { anyOf: [{ type: "null" }, node] };
    expect(inspectSchema({ $defs: { node: either }, $ref: "#/$defs/node" }).kind).toBe("plain");
    const twice = { anyOf: [node, { ...node, required: ["next"] }] };
    expect(inspectSchema({ $defs: { node: twice }, $ref: "#/$defs/node" }).kind).toBe("complex");
    const overlapping = { ...node, patternProperties: { "^n": { $ref: "#/$defs/node" } } };
    expect(inspectSchema({ $defs: { node: overlapping }, $ref: "#/$defs/node" }).kind).toBe(
      "complex",
    );
  });

  it("BRG-21: a schema too large to be judged here is complex, whatever it says", () => {
    const wide = (count: number): unknown => ({
      properties: Object.fromEntries(
        Array.from({ length: count }, (_, index) => [`p${index}`, {}]),
      ),
    });
    expect(inspectSchema(wide(1_990)).kind).toBe("plain");
    expect(inspectSchema(wide(2_010))).toEqual({ kind: "complex", unvalidated: [] });
  });

  it("BRG-21: many large patterns are complex", () => {
    const properties = Object.fromEntries(
      Array.from({ length: 40 }, (_, index) => [
        `p${index}`,
        { pattern: `^[a-z]{${index + 60}}$` },
      ]),
    );
    expect(inspectSchema({ properties }).kind).toBe("complex");
  });

  it("BRG-22: properties called like parts of every object are ordinary properties", () => {
    const schema: unknown = JSON.parse(
      '{"properties":{"__proto__":{"pattern":"(?=a)"},"constructor":{"type":"nonsense"}}}',
    );
    expect(inspectSchema(schema)).toEqual({
      kind: "plain",
      unvalidated: ["pattern at /properties/__proto__", "type at /properties/constructor"],
    });
    expect(({} as Record<string, unknown>)["pattern"]).toBeUndefined();
  });

  it("BRG-21: what a server wrote is shown without control characters and cut", () => {
    const reason = reasonOf({ $ref: `https://outside.test/\u001B[31m${"x".repeat(1_000)}` });
    expect(reason).not.toContain("\u001B");
    expect(reason?.length).toBeLessThanOrEqual(200);
    const properties = Object.fromEntries(
      Array.from({ length: 100 }, (_, index) => [`p${index}`, { type: "any" }]),
    );
    const report = inspectSchema({ properties });
    expect(report.kind === "plain" && report.unvalidated.length).toBe(32);
  });
});
