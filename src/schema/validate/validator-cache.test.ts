import { describe, expect, it } from "vitest";

import { defaultLimits } from "../../config/keys/limits.ts";
import { SchemaReports } from "../guard/schema-reports.ts";
import { ValidatorCache } from "./validator-cache.ts";

describe("ValidatorCache", () => {
  it("BRG-21: equal schemas share one validator, and each is built once", () => {
    const cache = new ValidatorCache();
    const schema = { type: "string" };
    const validator = cache.forSchema(schema);
    expect(cache.forSchema(schema)).toBe(validator);
    expect(cache.forSchema({ type: "string" })).toBe(validator);
    expect(cache.forSchema({ type: "number" })).not.toBe(validator);
    expect(cache.forSchema(true).validate(1)).toBeUndefined();
  });

  it("BRG-21: schemas with one $id answer each for themselves", () => {
    const cache = new ValidatorCache();
    const text = cache.forSchema({ $id: "https://example.test/args", type: "string" });
    const number = cache.forSchema({ $id: "https://example.test/args", type: "number" });
    expect(text.validate("x")).toBeUndefined();
    expect(text.validate(1)).toMatchObject({ kind: "invalid" });
    expect(number.validate(1)).toBeUndefined();
    expect(number.validate("x")).toMatchObject({ kind: "invalid" });
  });

  it("BRG-21: changing a schema object later changes nothing", () => {
    const cache = new ValidatorCache();
    const schema: Record<string, unknown> = { type: "string" };
    const validator = cache.forSchema(schema);
    expect(validator.validate("x")).toBeUndefined();
    schema["type"] = "number";
    expect(validator.validate("x")).toBeUndefined();
    expect(cache.forSchema(schema).validate("x")).toBeUndefined();
  });

  it("BRG-21: a full cache keeps what is in use and lets go of what is not", () => {
    const schemas = Array.from({ length: 5 }, (_, index) => ({ minimum: index }));
    const size = JSON.stringify(schemas[0]).length;
    const cache = new ValidatorCache({ maxChars: size * 3 });
    const [first, second, third] = schemas.slice(0, 3).map((schema) => cache.forSchema(schema));
    cache.forSchema(schemas[3]);
    expect(cache.forSchema(schemas[1])).toBe(second);
    cache.forSchema(schemas[4]);
    expect(cache.forSchema(schemas[1])).toBe(second);
    expect(cache.forSchema(schemas[0])).not.toBe(first);
    expect(cache.forSchema(schemas[2])).not.toBe(third);
  });

  it("BRG-21: what is evicted works when asked for again", () => {
    const cache = new ValidatorCache({ maxChars: 0 });
    const schemas = [{ type: "string" }, { type: "number" }];
    for (let round = 0; round < 3; round += 1)
      for (const schema of schemas)
        expect(cache.forSchema(schema).validate(true)).toMatchObject({ kind: "invalid" });
  });

  it("BRG-21: judging a schema for a listing gives the same answer as using it", () => {
    const cache = new ValidatorCache();
    const reports = new SchemaReports(defaultLimits);
    for (const schema of [{ type: "string" }, { $ref: "#" }, { pattern: "(?=a)" }, true, 5]) {
      const report = reports.of(schema);
      expect(cache.forSchema(schema).report).toEqual(report);
      expect(reports.of(schema)).toEqual(report);
    }
  });

  it("BRG-21: refused schemas are answered every time and not kept", () => {
    const cache = new ValidatorCache({
      limits: { maxSchemaBytes: 10, maxSchemaDepth: 4, maxSchemaNodes: 4, schemaTimeoutMs: 1 },
    });
    const schema = { description: "longer than ten bytes" };
    expect(cache.forSchema(schema).report).toEqual({
      kind: "refused",
      reason: "it is larger than 10 bytes",
    });
    expect(cache.forSchema(schema).validate({})).toMatchObject({ kind: "unchecked" });
    expect(cache.forSchema(undefined).report.kind).toBe("refused");
  });
});
