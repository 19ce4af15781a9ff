import { Argument, Option } from "commander";

import { createError } from "../../errors/families.ts";
import type { PermissionLevel } from "../../policy/permission-level.ts";
import { closest } from "../../text/closest.ts";

const levels: readonly PermissionLevel[] = ["yolo", "trusted", "sandboxed"];

/** Commander shows the choices in the help; its own error about another word is replaced by ours. */
export function choiceArgument(
  name: string,
  description: string,
  choices: readonly string[],
): Argument {
  return new Argument(name, description).choices(choices).argParser(parseChoice(choices));
}

export function choiceOption(
  flags: string,
  description: string,
  choices: readonly string[],
): Option {
  return new Option(flags, description).choices(choices).argParser(parseChoice(choices));
}

export function levelOption(): Option {
  return choiceOption("--level <level>", "the agent's level", levels);
}

/** Reads a word of a closed list. */
function parseChoice(choices: readonly string[]): (word: string) => string {
  return (word) => {
    if (choices.includes(word)) return word;
    const known = choices.join(", ");
    throw createError("invalid_arguments", `"${word.slice(0, 80)}" is none of ${known}`, {
      details: { suggestions: closest(word, choices) },
    });
  };
}

/** Reads a TCP port; `0` lets the system choose. */
export function parsePort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (port <= 65_535) return port;
  throw createError("invalid_arguments", `"${text.slice(0, 40)}" is no port`, {
    hint: "give a number from 0 to 65535; 0 lets the system choose",
  });
}

/** Reads a number of things; with `orAll`, `all` is as many as there are. */
export function parseCount(
  text: string,
  { orAll = false, max = 1_000_000 }: { readonly orAll?: boolean; readonly max?: number } = {},
): number {
  if (orAll && text === "all") return Number.POSITIVE_INFINITY;
  const count = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (count <= max) return count;
  throw createError("invalid_arguments", `"${text.slice(0, 40)}" is no number of lines`, {
    hint: `give a number from 0 to ${max}${orAll ? ", or all" : ""}`,
  });
}

/** Gathers the values of an option that may be given several times. */
export function collect(value: string, previous: readonly string[] = []): readonly string[] {
  return [...previous, value];
}
