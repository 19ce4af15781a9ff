import type { Argument, Command, Option } from "commander";

import type { ServerStatus } from "../../host/host.ts";
import { parseToolAddress } from "../words/tool-address.ts";
import {
  argumentCandidates,
  candidate,
  type Candidate,
  completing,
  serverCandidates,
  toolCandidates,
} from "./candidates.ts";

/** The options in front of or behind a command that decide which servers there are. */
export interface PlaceOptions {
  readonly config: readonly string[];
  readonly cwd: string | undefined;
  readonly db: string | undefined;
}

export interface Completion {
  readonly program: Command;
  /** Adds the words of a command that has only its name so far. */
  readonly define: (command: Command) => Promise<void>;
  /** The servers of a place as they are remembered; starts none. */
  readonly servers: (place: PlaceOptions) => Promise<readonly ServerStatus[]>;
  /** Whoever inserts a candidate quotes it, so that it may hold anything. */
  readonly isQuoted?: boolean | undefined;
}

/** What stands in front of the cursor. */
interface Typed {
  readonly command: Command;
  readonly operands: readonly string[];
  /** The option whose value is at the cursor. */
  readonly option: Option | undefined;
  readonly place: PlaceOptions;
}

/** Offers what may stand at the cursor, the end of the last word. Empty where files or anything may stand there. */
export async function completeLine(
  completion: Completion,
  words: readonly string[],
): Promise<readonly Candidate[]> {
  const current = words.at(-1) ?? "";
  const typed = await readWords(completion, words.slice(0, -1));
  if (typed === undefined) return [];
  const { isQuoted } = completion;
  return completing(await offer(completion, typed, current), current, { isQuoted });
}

/** Undefined behind `--`, where the words of another program stand. */
async function readWords(
  { program, define }: Completion,
  words: readonly string[],
): Promise<Typed | undefined> {
  let command = program;
  let option: Option | undefined;
  const operands: string[] = [];
  const config: string[] = [];
  let cwd: string | undefined;
  let db: string | undefined;
  const keep = (value: string): void => {
    if (option?.long === "--config") config.push(value);
    if (option?.long === "--cwd") cwd = value;
    if (option?.long === "--db") db = value;
    option = undefined;
  };
  for (const word of words) {
    if (option !== undefined) keep(word);
    else if (word === "--") return undefined;
    else if (word.length > 1 && word.startsWith("-")) {
      const [flag = "", ...value] = word.split("=");
      option = optionsOf(command).find((known) => isNamed(known, flag));
      if (option?.required !== true) option = undefined;
      else if (value.length > 0) keep(value.join("="));
    } else {
      const named = operands.length === 0 ? subcommand(command, word) : undefined;
      if (named === undefined) operands.push(word);
      else {
        if (command === program) await define(named);
        command = named;
      }
    }
  }
  return { command, operands, option, place: { config, cwd, db } };
}

async function offer(
  completion: Completion,
  { command, operands, option, place }: Typed,
  current: string,
): Promise<readonly Candidate[]> {
  if (option !== undefined) return choicesOf(option);
  if (current.startsWith("-")) return optionCandidates(command, current);
  if (operands.length === 0 && command.commands.length > 0) return commandCandidates(command);
  const { registeredArguments: places } = command;
  const last = places.at(-1);
  const argument = places[operands.length] ?? (last?.variadic === true ? last : undefined);
  if (argument === undefined) return [];
  const choices = choicesOf(argument);
  if (choices.length > 0) return choices;
  switch (argument.name()) {
    case "command":
      return commandCandidates(completion.program);
    case "server":
      // A command that works with one server takes several words for it: those of its launch.
      return operands.length > 0 ? [] : serverCandidates(await completion.servers(place));
    case "server.tool":
      return toolCandidates(await completion.servers(place), current);
    case "arguments": {
      const [address = "", ...given] = operands;
      const schema = schemaOf(await completion.servers(place), address);
      return argumentCandidates(schema, given, current);
    }
    default:
      return [];
  }
}

function subcommand(command: Command, name: string): Command | undefined {
  return command.commands.find((known) => known.name() === name);
}

function commandCandidates({ commands }: Command): readonly Candidate[] {
  return commands.map((command) =>
    candidate(command.name(), command.summary() || command.description()),
  );
}

function isNamed({ long, short }: Option, flag: string): boolean {
  return flag === long || flag === short;
}

/** The options of a command and those of every command. */
function optionsOf(command: Command): readonly Option[] {
  const help = command.createHelp();
  return [...help.visibleOptions(command), ...help.visibleGlobalOptions(command)];
}

function optionCandidates(command: Command, current: string): readonly Candidate[] {
  const [flag = "", ...value] = current.split("=");
  const options = optionsOf(command);
  if (value.length === 0)
    return options.map(({ long, short, description }) =>
      candidate(long ?? short ?? "", description),
    );
  const named = options.find((option) => isNamed(option, flag));
  return named === undefined
    ? []
    : choicesOf(named).map((one) => candidate(`${flag}=${one.value}`));
}

function choicesOf({ argChoices = [] }: Argument | Option): readonly Candidate[] {
  return argChoices.map((choice) => candidate(choice));
}

function schemaOf(servers: readonly ServerStatus[], address: string): unknown {
  if (!address.includes(".")) return undefined;
  const names = servers.map(({ name }) => name);
  const target = parseToolAddress(address, names);
  const { tools = [] } = servers.find(({ name }) => name === target.server) ?? {};
  return tools.find(({ name }) => name === target.tool)?.inputSchema;
}
