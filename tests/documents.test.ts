import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

import { parse as parseJsonc } from "jsonc-parser";
import { describe, expect, it } from "vitest";

import { createProgram, defineCommand } from "../src/cli/program.ts";
import { parseConfig } from "../src/config/parse/parse-config.ts";
import { toJson } from "../src/config/parse/to-json.ts";
import { errorTable } from "../src/errors/error-codes.ts";
import { recordedEvents } from "../src/events/audit-types.ts";
import { ruleTexts } from "../src/host/contract/rule-texts.ts";
import { checkTexts, symptoms } from "../src/host/doctor/check-texts.ts";
import { refuseSecrets } from "../src/host/files/entry-secrets.ts";
import { childMarkerVariable } from "../src/isolation/process/child-mark.ts";
import { authorizationAttacks } from "../src/testing/index.ts";

const root = path.resolve(import.meta.dirname, "..");
const readText = (file: string): string => readFileSync(path.join(root, file), "utf8");

const documents = [
  ...readdirSync(root),
  ...readdirSync(path.join(root, "docs"), { recursive: true, encoding: "utf8" }).map((file) =>
    path.join("docs", file),
  ),
].filter((file) => file.endsWith(".md"));

describe.each(documents)("%s", (file) => {
  it("links to files that exist", () => {
    const links = [...readText(file).matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(
      ([, link]) => link,
    );
    const broken = links.filter(
      (link) => !existsSync(path.join(root, path.dirname(file), link ?? "")),
    );
    expect(broken).toEqual([]);
  });

  it("DOC-04, TST-06: shows files as they are", () => {
    const shown = [...readText(file).matchAll(/<!-- (\S+) -->\n\n```\w+\n([^]*?)```/g)];
    for (const [, source = "", code] of shown) expect(code, source).toBe(readText(source));
  });
});

describe.each(["README.md", "docs/building-servers.md"])("%s", (file) => {
  it("DOC-04: shows configurations that load without a complaint", () => {
    const shown = [...readText(file).matchAll(/```jsonc\n([^]*?)```/g)];
    expect(shown).not.toEqual([]);
    for (const [, text = ""] of shown) {
      const { servers, problems } = parseConfig(parseJsonc(text, [], { allowTrailingComma: true }));
      expect(servers).toHaveLength(2);
      expect(problems).toEqual([]);
    }
  });
});

describe("docs/use-cases.md", () => {
  const text = readText("docs/use-cases.md");

  it("DOC-02: shows services, tools of a project and systems of a company", () => {
    const titles = [...text.matchAll(/^## (.*)$/gm)].map(([, title]) => title);
    expect(titles).toEqual(["External services", "Tools of a project", "Systems inside a company"]);
    for (const name of ["GitHub", "Slack", "Jira", "database", "Deployment", "monitoring"])
      expect(text).toContain(name);
  });

  it("DOC-02: shows entries that load without a complaint and hold no secret", () => {
    const shown = [...text.matchAll(/```jsonc\n([^]*?)```/g)].map(([, config = ""]) =>
      parseConfig(parseJsonc(config, [], { allowTrailingComma: true })),
    );
    expect(shown.flatMap(({ problems }) => problems)).toEqual([]);
    expect(shown.map(({ servers }) => servers.map(({ name }) => name))).toEqual([
      ["github", "slack", "jira", "database"],
      ["inventory", "warehouse", "workflows"],
    ]);
    for (const { servers } of shown)
      for (const config of servers)
        expect(() => refuseSecrets(toJson(config, { secrets: "keep" }))).not.toThrow();
  });

  it("DOC-02: shows a program that prints what it says", () => {
    const [, program, output] = /```js\n([^]*?)```\n\n```text\n([^]*?)```/.exec(text) ?? [];
    const options = { cwd: root, encoding: "utf8", input: program ?? "" } as const;
    expect(execFileSync(process.execPath, ["--input-type=module"], options)).toBe(output);
  });
});

describe("docs/mcp.example.jsonc", () => {
  const text = readText("docs/mcp.example.jsonc");

  it("names the schema as the file that it is to be copied to sees it", () => {
    const { $schema } = parseJsonc(text, [], { allowTrailingComma: true }) as { $schema: string };
    const file = path.posix.join("/project/.plugboard", $schema);
    const [, inside = ""] = file.split("/project/node_modules/plugboard/");
    expect(existsSync(path.join(root, inside)) && inside).toBe("schema/mcp.json");
  });

  it("marks what this version only reads", () => {
    const marked = text
      .split("\n")
      .flatMap((line, index, lines) =>
        line.includes("Not in this version") && !line.includes('"Not')
          ? [(lines.slice(index + 1).find((next) => !next.includes("//")) ?? "").trim()]
          : [],
      );
    expect(marked).toEqual(['"isolation": {']);
  });
});

describe("docs/transports.md", () => {
  it("ENV-01: names the variable that every child is given", () => {
    expect(readText("docs/transports.md")).toContain(`\`${childMarkerVariable}\``);
  });

  it("DOC-03: says for every kind when to use it and what to write", () => {
    const text = readText("docs/transports.md");
    const rows = text.split("\n").filter((line) => line.startsWith("| **"));
    for (const key of ['"command"', '"sse"', '"http-post"', '"rest"', "createHost"])
      expect(
        rows.filter((row) => row.includes(key)),
        key,
      ).toHaveLength(1);
  });
});

describe("docs/troubleshooting.md", () => {
  const file = "docs/troubleshooting.md";

  /** The checks of one symptom, in the words of `plugboard doctor`. */
  function renderChecks(title: string): string {
    const { checks = [] } = symptoms.find((symptom) => symptom.title === title) ?? {};
    const rows = checks.map(
      (id) => `| \`${id}\` | ${checkTexts[id].title} | ${checkTexts[id].fix} |`,
    );
    const table = ["| check | what should be true | otherwise |", "| --- | --- | --- |", ...rows];
    // A page takes <server> for a tag.
    return table.join("\n").replaceAll("<", "\\<");
  }

  it("DOC-01: has a section for every symptom, with the checks and texts of the doctor", () => {
    const text = readText(file);
    const parts = [
      ...text.matchAll(/^## (.*)\n[^#]*?<!-- checks -->\n([^]*?)\n?<!-- \/checks -->/gm),
    ];
    expect(parts.map(([, title]) => title)).toEqual(symptoms.map(({ title }) => title));
    if (process.env["UPDATE_DOCS"] === "1") {
      const written = parts.reduce(
        (rest, [whole, title = "", table = ""]) =>
          rest.replace(whole, () =>
            whole.replace(
              `<!-- checks -->\n${table}${table === "" ? "" : "\n"}`,
              () => `<!-- checks -->\n\n${renderChecks(title)}\n\n`,
            ),
          ),
        text,
      );
      writeFileSync(path.join(root, file), written);
      return;
    }
    for (const [, title = "", table = ""] of parts)
      expect(cellsOf(table), "run UPDATE_DOCS=1 npx vitest run tests/documents.test.ts").toEqual(
        cellsOf(renderChecks(title)),
      );
  });
});

describe("docs/building-servers.md", () => {
  it("TST-06: has every rule that test --contract tries, in its words", () => {
    const file = "docs/building-servers.md";
    const text = readText(file);
    const rows = Object.entries(ruleTexts).map(([id, rule]) => `| \`${id}\` | ${rule} |`);
    const rendered = ["| rule | a server that keeps to it |", "| --- | --- |", ...rows].join("\n");
    const [whole = "", table = ""] = /<!-- rules -->\n([^]*?)<!-- \/rules -->/.exec(text) ?? [];
    if (process.env["UPDATE_DOCS"] === "1")
      writeFileSync(
        path.join(root, file),
        text.replace(whole, () => `<!-- rules -->\n\n${rendered}\n\n<!-- /rules -->`),
      );
    else
      expect(cellsOf(table), "run UPDATE_DOCS=1 npx vitest run tests/documents.test.ts").toEqual(
        cellsOf(rendered),
      );
  });
});

/** The cells of a table, however wide they were made. */
function cellsOf(table: string): readonly (readonly string[])[] {
  return table
    .trim()
    .split("\n")
    .filter((line) => !line.startsWith("| --"))
    .map((line) => line.split(/(?<!\\)\|/).map((cell) => cell.trim()));
}

describe("docs/events.md", () => {
  const rows = [...readText("docs/events.md").matchAll(/^\| `([a-z-]+)` .*\| +(.*?) *\|$/gm)];

  it("has a row for every type of event, and for nothing else", () => {
    const source = readText("src/events/host-event.ts");
    const types = [...source.matchAll(/readonly type: ([^;]+);/g)].flatMap(([, text = ""]) =>
      [...text.matchAll(/"([a-z-]+)"/g)].map(([, type]) => type),
    );
    expect(types.length).toBeGreaterThan(20);
    expect(rows).toHaveLength(types.length);
    expect(new Set(rows.map(([, type]) => type))).toEqual(new Set(types));
  });

  it("says which of them are in the audit trail", () => {
    const told = rows.filter(([, , mark]) => mark === "yes").map(([, type]) => type);
    expect(new Set(told)).toEqual(new Set(recordedEvents));
  });
});

describe("docs/command-line.md", () => {
  it("has every command with all of its options, and the README has every command", async () => {
    const execute = async (): Promise<void> => {};
    const program = createProgram("0.0.0", execute);
    for (const command of program.commands) await defineCommand(command, execute);
    const text = readText("docs/command-line.md");
    for (const command of program.commands) {
      const rows = text.split("\n").filter((line) => line.startsWith(`| \`${command.name()} `));
      expect(rows, command.name()).not.toEqual([]);
      for (const { long } of command.options) expect(rows.join("\n")).toContain(long);
      if (command.name() !== "help")
        expect(readText("README.md")).toMatch(
          new RegExp(`^\\| \`plugboard ${command.name()}[ \`]`, "m"),
        );
    }
    for (const { long } of program.options)
      if (long !== "--version") expect(text).toContain(`| \`${long}`);
  });

  it("has every exit code", () => {
    const text = readText("docs/command-line.md");
    const told = new Set(
      [...text.matchAll(/^\| ([\d, ]+?) +\|/gm)].flatMap(([, list = ""]) =>
        list.split(", ").map(Number),
      ),
    );
    const codes = new Set(Object.values(errorTable).map(({ exit }) => exit));
    expect([...codes].filter((code) => !told.has(code))).toEqual([]);
  });
});

describe("the README", () => {
  it("leads to every page", () => {
    const pages = documents.filter((file) => path.dirname(file) === "docs");
    expect(pages.filter((file) => !readText("README.md").includes(`(${file})`))).toEqual([]);
  });
});

describe("docs/building-servers.md", () => {
  it("TST-06: shows every file of the example servers, and no other TypeScript", () => {
    const text = readText("docs/building-servers.md");
    const shown = [...text.matchAll(/<!-- (\S+) -->\n\n```ts/g)].map(([, source]) => source);
    const files = readdirSync(path.join(root, "examples/servers"))
      .filter((file) => !file.endsWith(".test.ts"))
      .map((file) => `examples/servers/${file}`);
    expect(new Set(shown)).toEqual(new Set(files));
    expect(text.match(/```ts/g)).toHaveLength(shown.length);
  });
});

describe("the README", () => {
  it("shows an example that prints what it says", () => {
    const [, program, output] =
      /```js\n([^]*?)```\n\n```text\n([^]*?)```/.exec(readText("README.md")) ?? [];
    const options = { cwd: root, encoding: "utf8", input: program ?? "" } as const;
    // Through the built package, by its own name, as a user would.
    expect(execFileSync(process.execPath, ["--input-type=module"], options)).toBe(output);
  });
});

describe("docs/testing-sign-in.md", () => {
  const file = "docs/testing-sign-in.md";

  it("shows an example that prints what it says", () => {
    const [, program, output] =
      /```js\n([^]*?)```\n\n```text\n([^]*?)```/.exec(readText(file)) ?? [];
    const options = { cwd: root, encoding: "utf8", input: program ?? "" } as const;
    expect(execFileSync(process.execPath, ["--input-type=module"], options)).toBe(output);
  });

  it("has every attack with what it does", () => {
    const text = readText(file);
    const rows = Object.entries(authorizationAttacks).map(
      ([name, does]) => `| \`${name}\` | ${does} |`,
    );
    const rendered = ["| attack | what it does |", "| --- | --- |", ...rows].join("\n");
    const [whole = "", table = ""] = /<!-- attacks -->\n([^]*?)<!-- \/attacks -->/.exec(text) ?? [];
    if (process.env["UPDATE_DOCS"] === "1")
      writeFileSync(
        path.join(root, file),
        text.replace(whole, () => `<!-- attacks -->\n\n${rendered}\n\n<!-- /attacks -->`),
      );
    else
      expect(cellsOf(table), "run UPDATE_DOCS=1 npx vitest run tests/documents.test.ts").toEqual(
        cellsOf(rendered),
      );
  });
});

describe("SECURITY.md", () => {
  it("names tests that exist", () => {
    const cited = [...readText("SECURITY.md").matchAll(/`([\w./-]+\.test\.ts)`: `([^`]+)`/g)];
    expect(cited.length).toBeGreaterThan(10);
    const missing = cited.filter(
      ([, file = "", name = ""]) =>
        !existsSync(path.join(root, file)) || !readText(file).includes(name),
    );
    expect(missing.map(([text]) => text)).toEqual([]);
  });
});
