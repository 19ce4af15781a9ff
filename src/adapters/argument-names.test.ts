import { describe, expect, it } from "vitest";

import { originalArguments, shownSchema } from "./argument-names.ts";

const text = { type: "string" };
const long = "a".repeat(70);

describe("the names of arguments", () => {
  it("BRG-16: stay when every provider takes them", () => {
    const schema = { type: "object", properties: { "a.b-c_1": text }, required: ["a.b-c_1"] };
    const input = { "a.b-c_1": "x", other: 1 };
    expect(shownSchema(schema)).toEqual(schema);
    expect(originalArguments(schema, input)).toBe(input);
  });

  it("BRG-19: are shown to models as every provider takes them, and to servers as they wrote them", () => {
    const schema = {
      type: "object",
      properties: {
        "filter[id]": text,
        filter_id_: text,
        $top: { type: "integer" },
        [`${long}1`]: text,
        [`${long}2`]: text,
        "": text,
        plain: { properties: { "nested[]": text } },
      },
      required: ["filter[id]", "plain"],
    };
    const shown = shownSchema(schema);
    const names = Object.keys(shown["properties"] as object);
    expect(names).toEqual([
      "filter_id__2",
      "filter_id_",
      "_top",
      "a".repeat(64),
      `${"a".repeat(62)}_2`,
      "_",
      "plain",
    ]);
    expect(shown["required"]).toEqual(["filter_id__2", "plain"]);
    expect(shown).toMatchObject({ properties: { plain: { properties: { "nested[]": text } } } });
    const input = Object.fromEntries(names.map((name) => [name, name]));
    expect(Object.keys(originalArguments(schema, input))).toEqual(Object.keys(schema.properties));
  });

  it("may be the server's own all the same", () => {
    const schema = { properties: { $top: { type: "integer" } } };
    expect(originalArguments(schema, { $top: 1 })).toEqual({ $top: 1 });
    expect(originalArguments(schema, { $top: 1, _top: 2 })).toEqual({ $top: 1, _top: 2 });
  });

  it("BRG-22: are never taken from what every object has", () => {
    const schema = { properties: { "a b": text } };
    const input = JSON.parse('{"__proto__":1,"constructor":2,"a_b":"x"}') as Record<
      string,
      unknown
    >;
    expect(JSON.stringify(originalArguments(schema, input))).toBe(
      '{"__proto__":1,"constructor":2,"a b":"x"}',
    );
  });

  it("BRG-19: are pointed at by no reference that leads nowhere", () => {
    const schema = { properties: { "a b": text, c: { $ref: "#/properties/a%20b" } } };
    expect(shownSchema(schema)).toEqual({
      type: "object",
      properties: { a_b: text, c: {} },
    });
  });
});
