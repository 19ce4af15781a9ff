import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";

import { describe, expect, it } from "vitest";

import { namesElsewhere } from "./corpus/names-elsewhere.ts";

const text = readFileSync(path.resolve(import.meta.dirname, "../docs/coming-from.md"), "utf8");

interface Row {
  readonly there: string;
  readonly here: string;
}

/** The rows of the table under a heading, without its head. */
function rowsUnder(document: string, heading: string): readonly Row[] {
  const [, section = ""] = document.split(`\n## ${heading}\n`);
  const [table = ""] = section.split("\n## ");
  return table
    .split("\n")
    .filter((line) => line.startsWith("| ") && !line.startsWith("| ---"))
    .slice(1)
    .map((line) => {
      const [, there = "", here = ""] = line.split(/(?<!\\)\|/);
      return { there: there.trim(), here: here.trim() };
    });
}

/** Names that no row has in code on its left side, as a word of its own. */
function missingNames(rows: readonly Row[], names: readonly string[]): readonly string[] {
  const code = rows.flatMap(({ there }) => [...there.matchAll(/`([^`]+)`/g)].map(([, it]) => it));
  return names.filter((name) => {
    const isWord = (at: string | undefined): boolean => at !== undefined && /\w/.test(at);
    const holds = (span = ""): boolean => {
      for (let at = span.indexOf(name); at !== -1; at = span.indexOf(name, at + 1)) {
        const [first, last] = [name[0], name.at(-1)];
        const begins = !isWord(first) || !isWord(span[at - 1]);
        if (begins && (!isWord(last) || !isWord(span[at + name.length]))) return true;
      }
      return false;
    };
    return !code.some(holds);
  });
}

describe("docs/coming-from.md", () => {
  it.each(Object.keys(namesElsewhere))("has a row for every name of %s", (heading) => {
    const rows = rowsUnder(text, heading);
    expect(missingNames(rows, namesElsewhere[heading] ?? [])).toEqual([]);
    expect(rows.filter(({ here }) => here === "")).toEqual([]);
  });

  it("begins with whole programs, and has no table of names that nobody listed", () => {
    const headings = [...text.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading);
    expect(headings).toEqual([
      "mcporter",
      "@ai-sdk/mcp",
      "LangChain (@langchain/mcp-adapters)",
      "mcp-use",
      "Mastra (@mastra/mcp)",
      "The official SDK",
      ...Object.keys(namesElsewhere),
    ]);
  });

  it("shows every program that is run, before and after", () => {
    const folder = "tests/external/coming-from";
    const programs = readdirSync(path.resolve(import.meta.dirname, "..", folder));
    const shown = [...text.matchAll(/<!-- (\S+) -->\n\n```js/g)].map(([, file]) => file);
    expect(new Set(shown)).toEqual(new Set(programs.map((file) => `${folder}/${file}`)));
  });

  it("a name counts only where it stands alone, in code and on the left", () => {
    const document = [
      "# Title",
      "",
      "## There",
      "",
      "| there | here |",
      "| --- | --- |",
      "| `MCPToolResult`, `--all` and Tool | `MCPTool` |",
      "| `a\\|b(x)` | something |",
      "",
      "## Elsewhere",
      "",
      "| there | here |",
      "| --- | --- |",
      "| `other` | |",
    ].join("\n");
    const names = ["MCPToolResult", "--all", "b", "MCPTool", "Tool", "other"];
    expect(missingNames(rowsUnder(document, "There"), names)).toEqual(["MCPTool", "Tool", "other"]);
    expect(rowsUnder(document, "Elsewhere")).toEqual([{ there: "`other`", here: "" }]);
  });
});
