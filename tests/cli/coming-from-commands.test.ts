import { readFileSync } from "node:fs";
import path from "node:path";

import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";

import { splitLine } from "../../src/cli/repl/line-words.ts";
import { PreparedPlace } from "./prepared-place.ts";
import type { CliResult } from "./run-cli.ts";

const page = readFileSync(path.resolve(import.meta.dirname, "../../docs/coming-from.md"), "utf8");

/** The commands in the right column under "Command lines", each once. */
function commandsOf(text: string): readonly string[] {
  const [, section = ""] = text.split("\n## Command lines\n");
  const [table = ""] = section.split("\n## ");
  const rows = table.split("\n").filter((line) => line.startsWith("| "));
  const here = rows.map((row) => row.split(/(?<!\\)\|/)[2] ?? "");
  const code = here.flatMap((cell) =>
    [...cell.matchAll(/`((?:echo '[^`]+' \\\| )?plugboard [^`]+)`/g)].map(([, it = ""]) =>
      it.replaceAll(String.raw`\|`, "|"),
    ),
  );
  return [...new Set(code)];
}

const commands = commandsOf(page);

let place: PreparedPlace;
beforeAll(async () => {
  place = await PreparedPlace.create();
});
afterAll(() => place.close());
beforeEach(() => place.restore());

/** A line of which a shell makes nothing but words; the REPL has the streams of its process to itself. */
const plainLine = /^plugboard (?!repl\b)[^|&;<>()$`"\\*?~#!]+$/;

async function run(line: string): Promise<CliResult> {
  const { sandbox, env } = place;
  if (!plainLine.test(line)) return await sandbox.type(place.addressed(line), env);
  const [, ...words] = splitLine(place.addressed(line)).words;
  return await sandbox.run(words, { env });
}

describe("docs/coming-from.md", () => {
  it("has commands for those who come from another command line", () => {
    expect(commands.length).toBeGreaterThan(30);
  });

  it.each(commands)("%s runs as it stands", async (line) => {
    const result = await run(line);
    expect(result, JSON.stringify(result)).toMatchObject({ exitCode: 0 });
  });
});
