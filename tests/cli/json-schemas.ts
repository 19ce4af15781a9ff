import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";

import { Ajv2020 } from "ajv/dist/2020.js";

import { commandTable } from "../../src/cli/command-table.ts";

const folder = path.resolve(import.meta.dirname, "../../schema/cli");
export const idFolder = "https://raw.githubusercontent.com/plugboard-mcp/plugboard/main/schema/cli";

export type Schema = Readonly<Record<string, unknown>>;

/** The published schemas by their names. */
export const schemas: ReadonlyMap<string, Schema> = new Map(
  readdirSync(folder).map((file) => [
    path.basename(file, ".json"),
    JSON.parse(readFileSync(path.join(folder, file), "utf8")) as Schema,
  ]),
);

export const ajv = new Ajv2020({ allErrors: true, strict: true, allowUnionTypes: true });
for (const schema of schemas.values()) ajv.addSchema(schema);

/** What an independent validator has against the text, which has to be one line with one object. */
function complaints(text: string, schema: string): readonly unknown[] {
  if (!text.endsWith("\n") || text.indexOf("\n") !== text.length - 1) return ["not one line", text];
  const validate = ajv.getSchema(`${idFolder}/${schema}`);
  if (validate === undefined) return [`no schema ${schema}`];
  return validate(JSON.parse(text)) === true ? [] : (validate.errors ?? []);
}

interface Output {
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * What is wrong with the output of a command that was typed with `--json`. One that follows something prints lines of
 * `$defs/line` in its schema; `--log-level` adds lines of its own to stderr.
 */
export function outputComplaints(
  words: readonly string[],
  { stdout, stderr }: Output,
): readonly unknown[] {
  const command = words.find((word) => Object.hasOwn(commandTable, word)) ?? "";
  const follows = words.includes("-f") || words.includes("--follow");
  const schema = follows ? `${command}.json#/$defs/line` : `${command}.json`;
  const printed = follows ? linesOf(stdout) : [stdout].filter((text) => text !== "");
  const errors = linesOf(stderr).filter((line) => !line.startsWith('{"log":'));
  return [
    ...printed.flatMap((text) => complaints(text, schema)),
    ...errors.flatMap((line) => complaints(line, "error.json")),
    ...(errors.length > 1 ? ["more than one error", ...errors] : []),
  ];
}

function linesOf(text: string): readonly string[] {
  return text.split(/(?<=\n)/).filter((line) => line !== "");
}
