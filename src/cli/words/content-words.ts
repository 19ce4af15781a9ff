import type { Command } from "commander";

import { ownCommand } from "../../text/own-command.ts";
import { shellWord } from "../../text/shell-word.ts";
import type { Standpoint } from "../output/display-path.ts";
import { parseDuration } from "../output/duration.ts";
import type { TypedArgument } from "./call-words.ts";
import { addLaunchOptions, isAddress, type LaunchOptions } from "./entry-words.ts";
import { readCall, type TypedServer } from "./server-words.ts";

/** The options of commands that list and read what servers offer beside tools, as the parser gives them. */
export interface ContentOptions extends LaunchOptions {
  /** Standard output when there is none, and for `-`. */
  readonly output?: string;
  /** Milliseconds. */
  readonly timeout?: number;
}

export function addContentOptions(command: Command): Command {
  return addLaunchOptions(command)
    .option("-o, --output <file>", "write it to this file; several contents to this folder")
    .option("--timeout <time>", "how long to wait for the answer: 500ms, 60s, 2m", parseDuration);
}

/** What was typed: nothing for a list of all, a server for its list, and one thing of it to be read. */
export interface ContentWords {
  readonly server: TypedServer | undefined;
  /** The address of a resource, or the name of a prompt. */
  readonly item: string | undefined;
  /** Its variables or arguments, as typed. */
  readonly words: readonly string[];
}

export function readContentWords(
  operands: readonly string[],
  options: LaunchOptions,
  line: readonly string[],
): ContentWords {
  const typed = readCall(operands, options, line);
  if (typed.server !== undefined) {
    const [item, ...words] = typed.words;
    return { server: typed.server, item, words };
  }
  const [name, item, ...words] = typed.words;
  const server = name === undefined ? undefined : { name, words: shellWord(name) };
  return { server, item, words };
}

/** Both know texts only: what was typed as JSON is sent as its text. */
export function textsOfArguments(
  typed: readonly TypedArgument[],
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    typed.map((argument) => {
      if (argument.kind === "text") return [argument.key, argument.text];
      const { value } = argument;
      return [argument.key, typeof value === "string" ? value : JSON.stringify(value)];
    }),
  );
}

/** A command to copy: the same server, configured or typed, with these words behind or in front of it. */
export function contentCommand(
  command: "resources" | "prompts",
  name: string,
  words: readonly string[],
  { program, typedServer }: Pick<Standpoint, "program" | "typedServer">,
): string {
  if (typedServer === undefined) return ownCommand(command, name, words, program);
  const { words: server } = typedServer;
  const operands = isAddress(server) ? [server, ...words] : [...words, server];
  return [program, command, ...operands].join(" ");
}
