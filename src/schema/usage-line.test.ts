import { describe, expect, it } from "vitest";

import { formatSignature, formatUsage } from "./usage-line.ts";

const add = {
  type: "object",
  properties: { a: { type: "number" }, b: { type: "number" } },
  required: ["a", "b"],
};

const search = {
  type: "object",
  properties: {
    query: { type: "string" },
    state: { enum: ["open", "closed"] },
    tags: { type: "array", items: { type: "string" } },
    owner: { $ref: "#/$defs/User" },
    until: { anyOf: [{ type: "string" }, { type: "null" }] },
    mixed: { type: "array", items: { type: ["string", "number"] } },
    anything: {},
  },
  required: ["query", "state"],
  $defs: { User: { type: "object" } },
};

describe("formatSignature", () => {
  it("shows parameters with their types", () => {
    expect(formatSignature("add", add)).toBe("add(a: number, b: number)");
    expect(formatSignature("search", search)).toBe(
      'search(query: string, state: "open" | "closed", tags?: string[], owner?: User, ' +
        "until?: string | null, mixed?: (string | number)[], anything?: any)",
    );
  });

  it.each([undefined, {}, { type: "object" }, "nonsense"])(
    "shows no parameters for %j",
    (schema) => {
      expect(formatSignature("ping", schema)).toBe("ping()");
    },
  );

  it("shows required parameters that the schema forgot to declare", () => {
    expect(formatSignature("f", { required: ["x", 5] })).toBe("f(x: any)");
  });

  it("cuts long lists, and shows no control characters of a server", () => {
    const properties = Object.fromEntries(
      Array.from({ length: 30 }, (_, index) => [`p${index}`, { type: "string" }]),
    );
    expect(formatSignature("f", { properties })).toMatch(/p11\?: string, …\)$/);
    const values = Array.from({ length: 30 }, (_, index) => index);
    expect(formatSignature("f", { properties: { v: { enum: values } } })).toBe(
      "f(v?: 0 | 1 | 2 | 3 | 4 | 5 | …)",
    );
    expect(formatSignature("f", { properties: { v: { enum: [] } } })).toBe("f(v?: nothing)");
    const text = formatSignature("\u001B[31mf", { properties: { "a\u202E": { const: "\u0007" } } });
    // oxlint-disable-next-line no-control-regex -- looking for control characters is the purpose
    expect(text).not.toMatch(/[\u0000-\u001F\u202E]/);
  });
});

describe("formatUsage", () => {
  it("BRG-10: repeats what was given and leaves a place for what is missing", () => {
    expect(formatUsage(add, { a: 2 })).toBe("a=2 b=<number>");
    expect(formatUsage(add)).toBe("a=<number> b=<number>");
    expect(formatUsage(search, { tags: ["x", "y"] })).toBe(
      `tags='["x","y"]' query=<string> state=<open|closed>`,
    );
    expect(formatUsage(undefined)).toBe("");
  });

  it("quotes what a shell would read differently", () => {
    expect(formatUsage(search, { query: "it's $HOME", state: "open" })).toBe(
      String.raw`query='it'\''s $HOME' state=open`,
    );
  });

  it("writes raw JSON where the schema does not say what the text means", () => {
    expect(formatUsage(search, { query: "x", state: "open", anything: 5, unknown: true })).toBe(
      "query=x state=open anything:=5 unknown:=true",
    );
  });
});
