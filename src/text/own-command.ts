import { existsSync } from "node:fs";
import path from "node:path";

import { shellWord } from "./shell-word.ts";

/** The commands of the command line, as they are typed. */
export const ownCommandNames = [
  "up",
  "repl",
  "add",
  "add-json",
  "import",
  "get",
  "edit",
  "remove",
  "enable",
  "disable",
  "connect",
  "disconnect",
  "reconnect",
  "call",
  "list",
  "tools",
  "resources",
  "prompts",
  "types",
  "consent",
  "secret",
  "why",
  "logs",
  "audit",
  "test",
  "approve",
  "login",
  "logout",
  "config",
  "doctor",
  "completion",
  "test-server",
  "help",
] as const;
export type OwnCommandName = (typeof ownCommandNames)[number];

/** A command of ours to copy from the screen. Whatever a project calls its server stays one word of it. */
export function ownCommand(
  command: OwnCommandName,
  name: string,
  options: readonly string[] = [],
  program = ownProgram(),
): string {
  const word = shellWord(name);
  // A name such as "-x" would be read as an option.
  const words = name.startsWith("-") ? [...options, "--", word] : [word, ...options];
  return [program, command, ...words].join(" ");
}

let lastLookup: { readonly searched: string; readonly program: string } | undefined;

/** What a person types in front of a command: `plugboard` where their shell finds it, else `npx plugboard`. */
export function ownProgram(): string {
  const searched = process.env["PATH"] ?? "";
  if (lastLookup?.searched !== searched)
    lastLookup = { searched, program: isOnPath(searched) ? "plugboard" : "npx plugboard" };
  return lastLookup.program;
}

/** npm puts its own folders in front of the `PATH` of what it starts; the shell outside does not have them. */
const npmFolder = /(?:^|[\\/])node_modules[\\/]\.bin[\\/]?$/;

function isOnPath(searched: string): boolean {
  const files = process.platform === "win32" ? ["plugboard.cmd", "plugboard.exe"] : ["plugboard"];
  return searched
    .split(path.delimiter)
    .filter((folder) => path.isAbsolute(folder) && !npmFolder.test(folder))
    .some((folder) => files.some((file) => existsSync(path.join(folder, file))));
}

const written = new RegExp(
  String.raw`(?<![^\s(])(?:npx )?plugboard(?= (?:--help|${ownCommandNames.join("|")})(?![^\s)]))`,
  "g",
);

/** Replaces the beginning of every command of ours that a text mentions, for whoever has to begin it differently. */
export function ownCommandsIn(text: string, program: string): string {
  return text.replaceAll(written, () => program);
}
