import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";

import { commandTable } from "../../src/cli/command-table.ts";
import { errorTable } from "../../src/errors/error-codes.ts";
import { type JsonRun, jsonRuns } from "./json-runs.ts";
import { ajv, idFolder, outputComplaints, type Schema, schemas } from "./json-schemas.ts";
import { PreparedPlace } from "./prepared-place.ts";
import type { CliResult } from "./run-cli.ts";

let place: PreparedPlace;
beforeAll(async () => {
  place = await PreparedPlace.create();
});
afterAll(() => place.close());
beforeEach(() => place.restore());

async function run({ words, input, stays }: JsonRun): Promise<CliResult> {
  const [command = "", ...others] = words.map((word) => place.addressed(word));
  const typed = [command, "--json", ...others];
  const options = { env: place.env, ...(input === undefined ? {} : { input }) };
  // The REPL has the streams of its process to itself.
  if (stays !== true && command !== "repl") return await place.sandbox.run(typed, options);
  const cli = place.sandbox.start(typed, options);
  if (stays === true) {
    await cli.writes("stdout", "\n");
    cli.signal("SIGINT");
  }
  return await cli.ended;
}

/** The runs of all commands as rows of a table of tests. */
function rowsOf(kind: "prints" | "fails"): readonly (readonly [string, JsonRun])[] {
  return Object.values(jsonRuns).flatMap((runs) =>
    runs[kind].map((one) => [one.words.join(" ").slice(0, 60), one] as const),
  );
}

describe("--json", () => {
  it.each(rowsOf("prints"))(
    "CLI-14: %s prints one object of its schema, and nothing else",
    async (_, one) => {
      const result = await run(one);
      expect(outputComplaints(one.words, result), JSON.stringify(result)).toEqual([]);
      expect(result.stdout).not.toBe("");
      expect(result.exitCode).toBe(one.exitCode ?? 0);
    },
  );

  it.each(rowsOf("fails"))(
    "CLI-14: %s prints one error of its schema, and nothing else",
    async (_, one) => {
      const result = await run(one);
      expect(outputComplaints(one.words, result), JSON.stringify(result)).toEqual([]);
      expect(result.stdout).toBe("");
      expect(result.stderr).not.toBe("");
      expect(result.exitCode).toBe(one.exitCode);
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
