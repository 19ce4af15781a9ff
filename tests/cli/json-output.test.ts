import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";

import { Ajv2020 } from "ajv/dist/2020.js";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";

import { commandTable } from "../../src/cli/command-table.ts";
import { errorTable } from "../../src/errors/error-codes.ts";
import { type JsonRun, jsonRuns } from "./json-runs.ts";
import { PreparedPlace } from "./prepared-place.ts";
import type { CliResult } from "./run-cli.ts";

const folder = path.resolve(import.meta.dirname, "../../schema/cli");
const idFolder = "https://raw.githubusercontent.com/plugboard-mcp/plugboard/main/schema/cli";

type Schema = Readonly<Record<string, unknown>>;
const schemas = new Map(
  readdirSync(folder).map((file) => [
    path.basename(file, ".json"),
    JSON.parse(readFileSync(path.join(folder, file), "utf8")) as Schema,
  ]),
);
const ajv = new Ajv2020({ allErrors: true, strict: true, allowUnionTypes: true });
for (const schema of schemas.values()) ajv.addSchema(schema);

/** What an independent validator has against the text, which has to be one line with one object. */
function complaints(text: string, schema: string): readonly unknown[] {
  if (!text.endsWith("\n") || text.indexOf("\n") !== text.length - 1) return ["not one line", text];
  const validate = ajv.getSchema(`${idFolder}/${schema}`);
  if (validate === undefined) return [`no schema ${schema}`];
  return validate(JSON.parse(text)) === true ? [] : (validate.errors ?? []);
}

let place: PreparedPlace;
beforeAll(async () => {
  place = await PreparedPlace.create();
});
afterAll(() => place.close());
beforeEach(() => place.restore());

async function run({ words, input, stays }: JsonRun): Promise<CliResult> {
  const [command = "", ...others] = words.map((word) => place.addressed(word));
  const options = { env: place.env, ...(input === undefined ? {} : { input }) };
  const cli = place.sandbox.start([command, "--json", ...others], options);
  if (stays === true) {
    await cli.writes("stdout", "\n");
    cli.signal("SIGINT");
  }
  return await cli.ended;
}

/** The runs of all commands as rows of a table of tests. */
function rowsOf(kind: "prints" | "fails"): readonly (readonly [string, JsonRun, string])[] {
  return Object.entries(jsonRuns).flatMap(([command, runs]) =>
    runs[kind].map((one) => [one.words.join(" ").slice(0, 60), one, command] as const),
  );
}

describe("--json", () => {
  it.each(rowsOf("prints"))(
    "CLI-14: %s prints one object of its schema, and nothing else",
    async (_, one, command) => {
      const { stdout, stderr, exitCode } = await run(one);
      const lines = one.follows === true ? stdout.split(/(?<=\n)/) : [stdout];
      const schema = one.follows === true ? `${command}.json#/$defs/line` : `${command}.json`;
      for (const line of lines) expect(complaints(line, schema), line).toEqual([]);
      if (stderr !== "") expect(complaints(stderr, "error.json"), stderr).toEqual([]);
      expect(exitCode).toBe(one.exitCode ?? 0);
    },
  );

  it.each(rowsOf("fails"))(
    "CLI-14: %s prints one error of its schema, and nothing else",
    async (_, one) => {
      const { stdout, stderr, exitCode } = await run(one);
      expect(stdout).toBe("");
      expect(complaints(stderr, "error.json"), stderr).toEqual([]);
      expect(exitCode).toBe(one.exitCode);
    },
  );
});

describe("schema/cli", () => {
  it("has a schema and runs for every command, and no others", () => {
    const commands = Object.keys(commandTable).toSorted();
    expect(Object.keys(jsonRuns).toSorted()).toEqual(commands);
    expect([...schemas.keys()].toSorted()).toEqual([...commands, "error", "shared"].toSorted());
  });

  it.each([...schemas])("%s.json has its address and describes every member", (name, schema) => {
    expect(schema).toMatchObject({
      $schema: "https://json-schema.org/draft/2020-12/schema",
      $id: `${idFolder}/${name}.json`,
      title: expect.any(String) as string,
      description: expect.any(String) as string,
    });
    expect(undescribed(schema)).toEqual([]);
    expect(ajv.validateSchema(schema)).toBe(true);
  });

  it("is closed wherever an object lists its members, but for parts of others", () => {
    const open = [...schemas].flatMap(([name, schema]) => openObjects(schema, name));
    // A block of a server's result may hold anything; a server's members stand beside those of a command.
    expect(open).toEqual(["shared/$defs/serverMembers", "shared/$defs/contentBlock"]);
  });

  it("knows every code of an error", () => {
    const { $defs } = schemas.get("shared") as { $defs: { errorCode: { enum: string[] } } };
    expect($defs.errorCode.enum.toSorted()).toEqual(Object.keys(errorTable).toSorted());
  });
});

/** The places in a schema at which a member has no description, neither its own nor that of what it refers to. */
function undescribed(schema: unknown, at = ""): readonly string[] {
  if (typeof schema !== "object" || schema === null) return [];
  return Object.entries(schema).flatMap(([key, value]) => {
    const members = key === "properties" ? Object.entries(value as Schema) : [];
    const silent = members.filter(
      ([, member]) => !("description" in (member as Schema)) && !("$ref" in (member as Schema)),
    );
    return [
      ...silent.map(([name]) => `${at}/properties/${name}`),
      ...undescribed(value, `${at}/${key}`),
    ];
  });
}

/** The places of objects that list their members and allow others. */
function openObjects(schema: unknown, at: string): readonly string[] {
  if (typeof schema !== "object" || schema === null) return [];
  const isOpen =
    "properties" in schema &&
    "type" in schema &&
    !("additionalProperties" in schema) &&
    !("unevaluatedProperties" in schema);
  return [
    ...(isOpen ? [at] : []),
    ...Object.entries(schema).flatMap(([key, value]) => openObjects(value, `${at}/${key}`)),
  ];
}
