import * as fc from "fast-check";
import { describe, expect, it } from "vitest";

import { McpError } from "../../errors/mcp-error.ts";
import { parseJsonc } from "../files/jsonc-document.ts";
import { parseConfig } from "../parse/parse-config.ts";
import { type ConfigEdit, editConfigText } from "./edit-config-text.ts";

const file = "/project/.plugboard/mcp.json";
const edit = (text: string, change: ConfigEdit, path = file): string =>
  editConfigText(text, change, path);
const entry = { command: "run", args: ["-y", "pkg"] };

function valueOf(text: string): unknown {
  const parsed = parseJsonc(text.replace(/^\uFEFF/, ""));
  if (!parsed.ok) throw new Error(`${parsed.message}: ${text}`);
  return JSON.parse(JSON.stringify(parsed.document.value));
}

function namesOf(text: string): readonly string[] {
  return parseConfig(valueOf(text)).servers.map((server) => server.name);
}

function refusalOf(text: string, change: ConfigEdit): McpError {
  try {
    edit(text, change);
  } catch (error) {
    if (McpError.is(error)) return error;
  }
  throw new Error("expected an McpError");
}

const commented = `// top
{
  "servers": {
    // about a
    "a": { "command": "x" }, // behind a
    /* about b */
    "b": {
      "command": "y", // why y
      "env_passthrough": ["HOME"] // which
    } // behind b
    // the end
  }
}
`;

describe("editing the text of a configuration", () => {
  it("CFG-41: adding keeps every comment where it was", () => {
    expect(edit(commented, { action: "add", name: "c", entry })).toBe(
      commented
        .replace("} // behind b", "}, // behind b")
        .replace(
          "    // the end\n",
          '    // the end\n    "c": {\n      "command": "run",\n      "args": ["-y", "pkg"]\n    }\n',
        ),
    );
  });

  it("CFG-41: removing takes the comment on the entry's own line and no other", () => {
    expect(edit(commented, { action: "remove", name: "a" })).toBe(
      commented.replace('    "a": { "command": "x" }, // behind a\n', ""),
    );
    expect(edit(commented, { action: "remove", name: "b" })).toBe(`// top
{
  "servers": {
    // about a
    "a": { "command": "x" } // behind a
    /* about b */
    // the end
  }
}
`);
  });

  it("CFG-41: replacing touches only what differs and keeps the file's spelling", () => {
    const change = {
      action: "replace",
      name: "b",
      entry: { command: "z", envPassthrough: ["HOME"], callTimeout: 5 },
    } as const;
    expect(edit(commented, change)).toBe(
      commented
        .replace('"command": "y"', '"command": "z"')
        .replace('["HOME"] // which', '["HOME"], // which\n      "call_timeout": 5'),
    );
  });

  it("CFG-41: a list stays a list of entries, and a command list stays a list", () => {
    const text = '[\n  { "name": "a", "command": ["x", "1"], "type": "stdio" }\n]\n';
    const added = edit(text, { action: "put", name: "b", entry });
    expect(valueOf(added)).toEqual([
      { name: "a", command: ["x", "1"], type: "stdio" },
      { name: "b", ...entry },
    ]);
    const replaced = edit(text, {
      action: "put",
      name: "a",
      entry: { command: "y", args: ["2"], transport: "stdio" },
    });
    expect(replaced).toBe(text.replace('["x", "1"]', '["y", "2"]'));
  });

  it("CFG-41: a program with args stays one when a list is given", () => {
    const text = '{"mcpServers":{"a":{"command":"x","args":["1"]}}}';
    const replaced = edit(text, { action: "replace", name: "a", entry: { command: ["y", "2"] } });
    expect(replaced).toBe('{"mcpServers":{"a":{"command":"y","args":["2"]}}}');
  });

  it("CFG-41: a file that is one server becomes a list of two, or empty", () => {
    const text = '// mine\n{ "name": "a", "command": "x" }\n';
    expect(valueOf(edit(text, { action: "add", name: "b", entry }))).toEqual([
      { name: "a", command: "x" },
      { name: "b", ...entry },
    ]);
    expect(edit(text, { action: "remove", name: "a" })).toBe("// mine\n{}\n");
  });

  it.each(["", " \n", "{}", "{ }", "{\n}\n", "{ /* none yet */ }", '{ "$schema": "x" }'])(
    "CFG-43: the first server of %j",
    (text) => {
      const added = edit(text, { action: "add", name: "a", entry });
      expect(valueOf(added)).toMatchObject({ servers: { a: entry } });
      if (text.includes("none yet")) expect(added).toContain("/* none yet */");
    },
  );

  it("CFG-20: a new .mcp.json is written for other hosts too", () => {
    const added = edit("", { action: "add", name: "a", entry }, "/project/.mcp.json");
    expect(added).toBe(
      '{\n  "mcpServers": {\n    "a": {\n      "command": "run",\n      "args": ["-y", "pkg"]\n    }\n  }\n}\n',
    );
  });

  it("CFG-43: byte order mark, line ends, tabs and trailing commas stay", () => {
    const text = '\uFEFF{\r\n\t"servers": {\r\n\t\t"a": { "command": "x" },\r\n\t},\r\n}\r\n';
    const added = edit(text, { action: "add", name: "b", entry: { url: "https://h" } });
    expect(added).toBe(
      text.replace("},\r\n\t}", '},\r\n\t\t"b": {\r\n\t\t\t"url": "https://h"\r\n\t\t},\r\n\t}'),
    );
    expect(edit(added, { action: "remove", name: "b" })).toBe(text);
  });

  describe("switching", () => {
    const enable = (text: string): string => edit(text, { action: "enable", name: "a" });
    const disable = (text: string): string => edit(text, { action: "disable", name: "a" });

    it("CFG-11: uses the word the entry uses", () => {
      const plain = '{ "servers": { "a": { "command": "x" } } }';
      expect(disable(plain)).toBe('{ "servers": { "a": { "command": "x", "enabled": false } } }');
      expect(enable(disable(plain))).toBe(
        '{ "servers": { "a": { "command": "x", "enabled": true } } }',
      );
      expect(enable(plain)).toBe(plain);
      const foreign = '{ "mcpServers": { "a": { "serverUrl": "https://h", "disabled": true } } }';
      expect(enable(foreign)).toBe(foreign.replace("true", "false"));
      expect(disable(foreign)).toBe(foreign);
    });

    it("CFG-14: hides a server of a farther layer, and shows it again", () => {
      const hidden = disable('{ "servers": { "b": { "command": "x" } } }');
      expect(valueOf(hidden)).toEqual({ servers: { b: { command: "x" }, a: { enabled: false } } });
      expect(valueOf(enable(hidden))).toEqual({ servers: { b: { command: "x" } } });
      expect(valueOf(disable("[]"))).toEqual([{ name: "a", enabled: false }]);
    });

    it("CFG-14: refuses to enable what could not work, or is not there", () => {
      const enabling = { action: "enable", name: "a" } as const;
      const idle = '{ "servers": { "a": { "enabled": false, "timeout": 5 } } }';
      expect(refusalOf(idle, enabling).code).toBe("config_invalid");
      expect(refusalOf("{}", enabling).code).toBe("server_unknown");
    });
  });

  it.each([
    ['{ "servers": { "a": {} "b": {} } }', "expected"],
    ['{ "servers": { "a": {}, "a": {} } }', "repeated"],
    ['{ "servers": 7 }', "no servers"],
    ['"text"', "no servers"],
    ["7", "no servers"],
  ])("CFG-42: %s is not edited", (text, reason) => {
    const error = refusalOf(text, { action: "put", name: "c", entry });
    expect(error.code).toBe("config_invalid");
    expect(error.message).toContain(reason);
    expect(error.message).toContain("file not changed");
  });

  it("CFG-40: an entry that would not work in that file is not written", () => {
    const text = '{ "servers": { "Git Hub": { "command": "x" } } }';
    const add = (name: string, given: object): McpError =>
      refusalOf(text, { action: "add", name, entry: given });
    expect(add("Git Hub", entry).message).toContain("already exists");
    expect(add("git-hub", entry).message).toContain("used twice");
    expect(add("other", { command: 7 }).code).toBe("config_invalid");
    expect(add("bad\nname", entry).code).toBe("config_invalid");
    expect(refusalOf(text, { action: "replace", name: "x", entry }).code).toBe("server_unknown");
    expect(refusalOf(text, { action: "remove", name: "x" }).code).toBe("server_unknown");
  });

  it("CFG-31: __proto__ can be added and removed", () => {
    const added = edit("{}", { action: "add", name: "__proto__", entry });
    expect(added).toContain('"__proto__": {');
    expect(valueOf(edit(added, { action: "remove", name: "__proto__" }))).toEqual({ servers: {} });
  });

  it("CFG-41: whatever the layout, an edit changes one entry and no comment", () => {
    const name = fc.stringMatching(/^[a-z]{1,6}$/);
    const comment = fc.constantFrom(
      "",
      " // c\n",
      " /* c */ ",
      "\n// c\n",
      "\n/* c\n c */\n",
      "\n",
      " ",
    );
    const document = fc
      .record({
        names: fc.uniqueArray(name, { minLength: 1, maxLength: 4 }),
        gaps: fc.array(comment, { minLength: 20, maxLength: 20 }),
        isList: fc.boolean(),
        hasTrailingComma: fc.boolean(),
      })
      .map(({ names, gaps, isList, hasTrailingComma }) => {
        let used = 0;
        const gap = (): string => gaps[used++ % gaps.length] ?? "";
        const members = names.map((own) => {
          const command = `"command"${gap()}: "x"${gap()}`;
          return isList
            ? `{${gap()}"name": "${own}", ${command}}`
            : `"${own}"${gap()}:{${gap()}${command}}`;
        });
        const body = members.map((member) => `${gap()}${member}${gap()}`).join(",");
        const inner = `${body}${hasTrailingComma ? `,${gap()}` : ""}`;
        const [open, close] = isList ? ["[", "]"] : ["{", "}"];
        return {
          names,
          text: `${gap()}{${gap()}"servers":${gap()}${open}${inner}${close}${gap()}}${gap()}`,
        };
      });
    const countComments = (text: string): number => text.split(/\/\/ c|\/\* c/).length;
    fc.assert(
      fc.property(document, ({ names, text }) => {
        const before = valueOf(text);
        const added = edit(text, { action: "add", name: "added", entry });
        expect(countComments(added)).toBe(countComments(text));
        expect(valueOf(edit(added, { action: "remove", name: "added" }))).toEqual(before);
        for (const own of names) {
          const rest = names.filter((other) => other !== own);
          expect(namesOf(edit(added, { action: "remove", name: own }))).toEqual([...rest, "added"]);
          const changed = edit(text, { action: "replace", name: own, entry: { url: "https://h" } });
          expect(namesOf(changed)).toEqual(names);
          expect(changed).toContain("https://h");
        }
      }),
      { numRuns: 100 },
    );
  });
});
