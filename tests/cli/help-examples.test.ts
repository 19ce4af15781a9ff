import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";

import { createProgram, defineCommand } from "../../src/cli/program.ts";
import { type Example, examplesOf } from "../../src/cli/words/examples.ts";
import { PreparedPlace } from "./prepared-place.ts";

const execute = async (): Promise<void> => {};
const program = createProgram("0.0.0", execute);
for (const command of program.commands) await defineCommand(command, execute);
/** `help` is of the parser, and its argument is the name of a command. */
const commands = [program, ...program.commands.filter((command) => command.name() !== "help")];
const examples: readonly Example[] = commands.flatMap((command) => examplesOf(command));

let place: PreparedPlace;
beforeAll(async () => {
  place = await PreparedPlace.create();
});
afterAll(() => place.close());
beforeEach(() => place.restore());

describe("the help of a command", () => {
  it.each(commands.map((command) => [command.name(), command] as const))(
    "%s has examples, in lines that fit a screen",
    (name, command) => {
      let help = "";
      command.configureOutput({ writeOut: (text) => (help += text) }).outputHelp();
      const own = examplesOf(command);
      expect(own).not.toEqual([]);
      for (const { line, says } of own) {
        expect(help).toContain(`\n  # ${says}\n  ${line}\n`);
        if (command !== program) expect(line).toMatch(new RegExp(`\\bplugboard ([a-z]+ )?${name}`));
      }
      const widest = Math.max(...help.split("\n").map((text) => text.length));
      expect(widest).toBeLessThanOrEqual(100);
    },
  );

  it.each(examples.filter(({ stays }) => stays !== true).map((example) => [example.line, example]))(
    "%s does what it says, typed as it stands",
    async (line, { exitCode = 0 }) => {
      const result = await place.sandbox.type(place.addressed(line), place.env);
      expect(result, JSON.stringify(result)).toMatchObject({ exitCode });
    },
  );

  it.each(examples.filter(({ stays }) => stays === true).map((example) => [example.line, example]))(
    "%s goes on until Ctrl-C",
    async (line, { exitCode = 0 }) => {
      // In place of the shell, so that the signal reaches it.
      const cli = place.sandbox.startLine(`exec ${place.addressed(line)}`, place.env);
      await cli.writes("stdout", "\n");
      cli.signal("SIGINT");
      expect(await cli.ended).toMatchObject({ exitCode });
    },
  );
});
