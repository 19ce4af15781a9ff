import { Command } from "commander";

import { createError } from "../errors/families.ts";
import type { McpError } from "../errors/mcp-error.ts";
import { closest } from "../text/closest.ts";
import { type CommandName, commandTable } from "./command-table.ts";
import type { Execute } from "./context/command-context.ts";
import { logLevels } from "./output/stderr-logger.ts";
import type { Terminal } from "./terminal/terminal.ts";
import { addExamples } from "./words/examples.ts";
import { choiceOption, collect } from "./words/option-values.ts";

const maxHelpWidth = 100;

/** Where help is written: as a result if it was asked for, else as a note. Somebody has to hear when nobody reads it. */
export type HelpOutput = Pick<Terminal, "data" | "note">;

/**
 * The tree of commands. All of them have their name and summary; the rest of a command, and with it the host, is
 * loaded when it is used.
 */
export function createProgram(version: string, execute: Execute, output?: HelpOutput): Command {
  const program = new Command("plugboard")
    .description("The secure MCP host for TypeScript agents.")
    .version(version, "-V, --version", "print the version")
    .helpOption("-h, --help", "print help")
    .helpCommand(false)
    .configureHelp({ showGlobalOptions: true })
    // Errors are told by `main`, in the same style as all others.
    .configureOutput({
      outputError: () => {},
      ...(output && {
        writeOut: (text) => output.data(text),
        writeErr: (text) => output.note(text.replace(/\n$/, "")),
      }),
      getOutHelpWidth: () => helpWidth(process.stdout),
      getErrHelpWidth: () => helpWidth(process.stderr),
    })
    .exitOverride()
    .option("--json", "print one JSON object; errors become one on stderr")
    .option("--quiet", "no progress, no notices and no warnings")
    .option("--no-color", "no colour")
    .option(
      "--config <file>",
      "read this file, not the usual ones (repeatable; the last wins)",
      collect,
    )
    .option("--cwd <folder>", "work as if started in this folder")
    .option("--db <place>", "keep everything in this store: a file, or postgres://…")
    .option("--yes", "confirm what a command asks to confirm; never approval or consent")
    .addOption(
      choiceOption(
        "--log-level <level>",
        "what the host reports on stderr; warn by default",
        logLevels,
      ),
    );

  addExamples(program, [
    { says: "see what it does, with servers of its own", line: "plugboard up --once" },
    {
      says: "add a server of your own, and try it",
      line: "plugboard add files -- npx -y @modelcontextprotocol/server-filesystem .",
    },
    { says: "call a tool", line: "plugboard call demo.add a=2 b=3" },
  ]);
  for (const [name, { summary }] of Object.entries(commandTable))
    program.command(name).summary(summary);
  program
    .command("help")
    .summary("print help for a command")
    .argument("[command]")
    .action(async (name: string | undefined) => {
      if (name === undefined) return program.outputHelp();
      const command = program.commands.find((candidate) => candidate.name() === name);
      if (command === undefined) throw unknownCommand(program, name);
      await defineCommand(command, execute);
      command.outputHelp();
    });
  return program.hook("preSubcommand", (_, command) => defineCommand(command, execute));
}

/** Loads the words and the code of a command that has only its name so far. */
export async function defineCommand(command: Command, execute: Execute): Promise<void> {
  const name = command.name();
  if (!isInTable(name)) return;
  const { define } = await commandTable[name].load();
  define(command, execute);
  command.addHelpText("after", `\nJSON Schema of --json: plugboard/schema/cli/${name}.json`);
}

function isInTable(name: string): name is CommandName {
  return Object.hasOwn(commandTable, name);
}

export function unknownCommand(program: Command, name: string): McpError {
  const names = program.commands.map((command) => command.name());
  return createError("invalid_arguments", `no command "${name.slice(0, 80)}"`, {
    details: { suggestions: closest(name, names) },
    hint: "plugboard --help lists the commands",
  });
}

/** A terminal that does not know its size says 0. */
function helpWidth({ columns = 0 }: { readonly columns?: number }): number {
  return columns > 0 ? Math.min(columns, maxHelpWidth) : maxHelpWidth;
}
