import path from "node:path";

import type { Command } from "commander";

import { createError } from "../../errors/families.ts";
import { shellWord } from "../../text/shell-word.ts";
import { slug } from "../../text/slug.ts";
import { addLaunchOptions, isAddress, type LaunchOptions, readEntry } from "./entry-words.ts";

/** A server as it was typed: the name of a configured one, or the entry of one that is not configured. */
export interface TypedServer {
  readonly name: string;
  /** Set for a server that is not configured: typing it approves exactly this, once. */
  readonly entry?: Readonly<Record<string, unknown>>;
  /** What is typed to mean it, for a command to copy. */
  readonly words: string;
}

/** What was typed in front of `--`, and the command behind it. */
interface SplitWords {
  readonly operands: readonly string[];
  readonly launch: readonly string[];
}

/** Adds the argument of a command that works with one server, and the options of one that is not configured. */
export function addServerArgument(command: Command, isRequired: boolean): Command {
  const name = isRequired ? "<server...>" : "[server...]";
  return addLaunchOptions(
    command.argument(name, "its name in plugboard list; or an address, or -- and a command"),
  );
}

/** Reads that argument of the whole line that was typed. The parser sees to it that a required one is there. */
export function readServer(
  words: readonly string[],
  options: LaunchOptions,
  line: readonly string[],
): TypedServer {
  const { operands, launch } = splitAtDashes(words, line);
  if (launch.length > 0) {
    if (operands[0] !== undefined) throw tooMany(operands[0]);
    return typedServer(launch, options);
  }
  const [word = "", extra] = operands;
  if (extra !== undefined) throw tooMany(extra);
  return isAddress(word) ? typedServer([word], options) : { name: word, words: shellWord(word) };
}

/** Reads the words of a call: the tool and its arguments, and a server that is not configured. */
export function readCall(
  words: readonly string[],
  options: LaunchOptions,
  line: readonly string[],
): { readonly server: TypedServer | undefined; readonly words: readonly string[] } {
  const { operands, launch } = splitAtDashes(words, line);
  const [first = "", ...others] = operands;
  if (launch.length > 0) return { server: typedServer(launch, options), words: operands };
  if (!isAddress(first)) return { server: undefined, words: operands };
  return { server: typedServer([first], options), words: others };
}

/** A name that begins with a dash is typed behind `--`, too; no command begins with one. */
function splitAtDashes(operands: readonly string[], line: readonly string[]): SplitWords {
  const place = line.indexOf("--");
  const launch = place === -1 ? [] : line.slice(place + 1);
  if (launch[0]?.startsWith("-") !== false) return { operands, launch: [] };
  return { operands: operands.slice(0, operands.length - launch.length), launch };
}

function typedServer(words: readonly string[], options: LaunchOptions): TypedServer {
  const typed = words.map(shellWord).join(" ");
  return {
    name: nameOf(words),
    entry: readEntry(words, options),
    words: isAddress(words[0] ?? "") ? typed : `-- ${typed}`,
  };
}

/** Programs that run what their next word names. */
const runners = /^(?:npx|npm|pnpm|yarn|bunx?|uvx?|deno|node|tsx|python[\d.]*|sh|bash|env|docker)$/;

/** A short name for messages and lists: of the package, the script or the machine. */
function nameOf(words: readonly string[]): string {
  const [target = ""] = words;
  if (isAddress(target)) return slug(URL.canParse(target) ? new URL(target).host : "") || "server";
  const telling = words.map((word) => path.posix.parse(word).name).find(isTelling);
  return slug(telling ?? "") || "server";
}

function isTelling(word: string): boolean {
  return !word.startsWith("-") && !runners.test(word) && /[a-z]/i.test(word);
}

function tooMany(word: string): Error {
  return createError("invalid_arguments", `"${word.slice(0, 80)}" is too much: name one server`, {
    hint: "one that is not configured is an address, or a command behind --",
  });
}
