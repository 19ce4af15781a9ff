import { createError } from "../../errors/families.ts";
import { closest } from "../../text/closest.ts";

/** A word of a closed list. */
export function parseChoice(choices: readonly string[]): (word: string) => string {
  return (word) => {
    if (choices.includes(word)) return word;
    const known = choices.join(", ");
    throw createError("invalid_arguments", `"${word.slice(0, 80)}" is none of ${known}`, {
      details: { suggestions: closest(word, choices) },
    });
  };
}
