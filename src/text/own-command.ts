import { shellWord } from "./shell-word.ts";

/** A command of ours to copy from the screen. Whatever a project calls its server stays one word of it. */
export function ownCommand(command: string, name: string, options: readonly string[] = []): string {
  const word = shellWord(name);
  // A name such as "-x" would be read as an option.
  const words = name.startsWith("-") ? [...options, "--", word] : [word, ...options];
  return ["plugboard", command, ...words].join(" ");
}
