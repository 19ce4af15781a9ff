import { describe, expect, it } from "vitest";

import { createError } from "../../errors/families.ts";
import type { McpTool } from "../../session/mcp-tool.ts";
import { argumentFacts, buildArguments, wrongArguments } from "./call-arguments.ts";

const inputSchema = {
  type: "object",
  properties: { a: { type: "number" }, b: { type: "number" }, token: { type: "string" } },
  required: ["a", "b"],
};
const none = new Set<string>();
const without = (wrong: ReadonlySet<string>) => ({ wrong, program: "plugboard" });
const tool = { serverName: "demo", originalName: "add", inputSchema } as unknown as McpTool;

describe("the arguments of a typed call", () => {
  it("are read as the schema asks, and lie over those of --args", () => {
    const args = buildArguments(inputSchema, { a: 1, other: true }, [
      { key: "a", kind: "text", text: "2" },
      { key: "token", kind: "text", text: "7" },
      { key: "b", kind: "json", value: "3" },
    ]);
    expect(args).toEqual({ a: 2, other: true, token: "7", b: "3" });
  });

  it("keep a key such as __proto__ as plain data", () => {
    const args = buildArguments({}, {}, [{ key: "__proto__", kind: "text", text: "x" }]);
    expect(Object.entries(args)).toEqual([["__proto__", "x"]]);
  });

  it("ERR-17: what was given is echoed with the line to type", () => {
    expect(argumentFacts(tool, { a: 2 }, without(none))).toEqual([
      { label: "got", text: '{"a":2}' },
      { label: "usage", text: "plugboard call demo.add a=2 b=<number>" },
    ]);
  });

  it("ERR-17: what was wrong is not offered again", () => {
    const problems = [{ path: "/a/0/name" }, { path: "/x~1y" }, { path: "" }];
    const error = createError("invalid_arguments", "wrong", { details: { problems } });
    const wrong = wrongArguments(error);
    expect(wrong).toEqual(new Set(["a", "x/y", ""]));
    const [got, usage] = argumentFacts(tool, { a: ["?"], b: 3, "x/y": 1 }, without(wrong));
    expect(got?.text).toBe('{"a":["?"],"b":3,"x/y":1}');
    expect(usage?.text).toBe("plugboard call demo.add b=3 a=<number>");
    expect(wrongArguments(createError("invalid_arguments", "not checked"))).toEqual(none);
  });

  it("ERR-17: a tool with an odd name is one word of the line to type", () => {
    const odd = { ...tool, originalName: "x; touch owned #" } as McpTool;
    expect(argumentFacts(odd, { a: 1, b: 2 }, without(none))[1]?.text).toBe(
      "plugboard call 'demo.x; touch owned #' a=1 b=2",
    );
  });

  it("secrets are masked in the echo by their name and by their shape", () => {
    const key = `sk-${"x".repeat(20)}`;
    const args = { token: "hunter two", a: key, nested: { password: "p" } };
    const facts = argumentFacts(tool, args, without(none));
    const text = JSON.stringify(facts);
    expect(text).not.toContain("hunter");
    expect(text).not.toContain(key);
    expect(facts[0]?.text).toBe(
      '{"token":"[redacted]","a":"[redacted]","nested":{"password":"[redacted]"}}',
    );
  });

  it("a long echo is cut", () => {
    const [got] = argumentFacts(tool, { a: "x".repeat(10_000) }, without(none));
    expect(got?.text.length).toBeLessThanOrEqual(200);
  });
});
