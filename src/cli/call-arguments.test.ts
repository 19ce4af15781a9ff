import { describe, expect, it } from "vitest";

import type { McpTool } from "../session/session.ts";
import { argumentFacts, buildArguments } from "./call-arguments.ts";

const inputSchema = {
  type: "object",
  properties: { a: { type: "number" }, b: { type: "number" }, token: { type: "string" } },
  required: ["a", "b"],
};
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
    expect(argumentFacts(tool, { a: 2 })).toEqual([
      { label: "got", text: '{"a":2}' },
      { label: "usage", text: "plugboard call demo.add a=2 b=<number>" },
    ]);
  });

  it("secrets are masked in the echo by their name and by their shape", () => {
    const key = `sk-${"x".repeat(20)}`;
    const facts = argumentFacts(tool, { token: "hunter two", a: key, nested: { password: "p" } });
    const text = JSON.stringify(facts);
    expect(text).not.toContain("hunter");
    expect(text).not.toContain(key);
    expect(facts[0]?.text).toBe(
      '{"token":"[redacted]","a":"[redacted]","nested":{"password":"[redacted]"}}',
    );
  });

  it("a long echo is cut", () => {
    const [got] = argumentFacts(tool, { a: "x".repeat(10_000) });
    expect(got?.text.length).toBeLessThanOrEqual(200);
  });
});
