import type { Command } from "commander";

import type { ServerStatus } from "../../host/host.ts";
import { CommandContext } from "../context/command-context.ts";
import type { Interruption } from "../context/interruption.ts";
import { withHost } from "../steps/open-host.ts";
import { completeLine, type PlaceOptions } from "./complete-line.ts";
import { type Shell, shellDialects, shells } from "./shells.ts";

export interface ShellQuestion {
  readonly program: Command;
  readonly define: (command: Command) => Promise<void>;
  readonly interruption: Interruption;
  /** The name of the shell, then what it asks with. */
  readonly words: readonly string[];
}

/**
 * Answers the completion script of a shell from what is known: no server is started, nothing is written but the
 * candidates. Whatever goes wrong has no candidates; there is no place on a line that is being typed to say why.
 */
export async function answerShell(asked: ShellQuestion): Promise<readonly string[]> {
  const [name, ...question] = asked.words;
  const shell = shells.find((known) => known === name);
  if (shell === undefined) return [];
  try {
    return await candidatesFor(shell, question, asked);
  } catch {
    return [];
  }
}

async function candidatesFor(
  shell: Shell,
  question: readonly string[],
  { program, define, interruption }: ShellQuestion,
): Promise<readonly string[]> {
  const { read, write } = shellDialects[shell];
  const servers = async (place: PlaceOptions): Promise<readonly ServerStatus[]> =>
    await knownServers(place, interruption);
  return write(await completeLine({ program, define, servers }, read(question)), question);
}

async function knownServers(
  { config, cwd, db }: PlaceOptions,
  interruption: Interruption,
): Promise<readonly ServerStatus[]> {
  if (cwd !== undefined) process.chdir(cwd);
  const options = {
    // Nobody is asked and nothing is told, as for a program.
    json: true,
    color: false,
    ...(config.length === 0 ? {} : { config }),
    ...(db === undefined ? {} : { db }),
  };
  const context = new CommandContext(options, { line: [], interruption });
  return await withHost(context, async (host) => host.servers());
}
