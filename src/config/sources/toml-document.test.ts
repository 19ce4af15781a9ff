import { describe, expect, it } from "vitest";

import { parseToml } from "./toml-document.ts";

const text = `# settings
model = "x"
notes = """
[mcp_servers.inside]
key = 1
"""
literal = '''
[other]'''

[mcp_servers.docs] # comment
command = "npx"
  args = ["a"]

[mcp_servers . "team api"]
url = "https://example.com"
env.KEY = "value"

[[profiles]]
name = "a"
`;

describe("parseToml", () => {
  it("CFG-42: finds the line of a table, of a key and of what has none", () => {
    const parsed = parseToml(text);
    if (!parsed.ok) throw new Error(parsed.message);
    const { locate } = parsed;
    expect(locate(["mcp_servers", "docs"])).toEqual({ line: 10, column: 1 });
    expect(locate(["mcp_servers", "docs", "args"])).toEqual({ line: 12, column: 3 });
    expect(locate(["mcp_servers", "docs", "args", 0])).toEqual({ line: 12, column: 3 });
    expect(locate(["mcp_servers", "team api", "env", "KEY"])).toEqual({ line: 16, column: 1 });
    expect(locate(["mcp_servers", "team api", "nothing"])).toEqual({ line: 14, column: 1 });
    expect(locate(["mcp_servers"])).toEqual({ line: 10, column: 1 });
    expect(locate(["profiles", 0])).toEqual({ line: 18, column: 1 });
    expect(locate(["mcp_servers", "inside"])).toEqual({ line: 10, column: 1 });
    expect(locate(["absent"])).toEqual({ line: 1, column: 1 });
  });

  it("CFG-42: names the place of a mistake, and repeats nothing of the text", () => {
    const secret = "canary-1234567";
    expect(parseToml(`a = 1\nb = "${secret}`)).toEqual({
      ok: false,
      message: expect.not.stringContaining(secret) as unknown,
      position: { line: 2, column: expect.any(Number) as unknown },
    });
    expect(parseToml("a = 1\na = 2")).toMatchObject({ ok: false, position: { line: 2 } });
  });

  it("keeps names of prototypes as data, and refuses what is nested too deep", () => {
    const parsed = parseToml("[mcp_servers.__proto__]\ncommand = 'x'");
    expect(parsed).toMatchObject({ ok: true });
    expect({}).not.toHaveProperty("command");
    const deep = `a = ${"[".repeat(5_000)}${"]".repeat(5_000)}`;
    expect(parseToml(deep)).toMatchObject({ ok: false });
  });
});
