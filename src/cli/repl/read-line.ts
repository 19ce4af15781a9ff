import { createError } from "../../errors/families.ts";
import type { McpError } from "../../errors/mcp-error.ts";
import { closest } from "../../text/closest.ts";

/** Words that only the REPL knows, with what stands behind them and what they do. */
export const ownWords = {
  agent: ["[name] [level]", "who types: shows it, or changes it"],
  last: ["", "the whole last result"],
  log: ["on|off", "what servers log, as it comes"],
  "edit-args": ["<server.tool>", "write the arguments of a call in your editor"],
  reload: ["", "read the configuration again"],
  questions: ["", "what agents elsewhere wait for"],
  answer: ["[number]", "answer such a question; the oldest without a number"],
  help: ["[topic]", "this, or help for a command"],
  exit: ["", "leave (also Ctrl-D)"],
} as const satisfies Readonly<Record<string, readonly [words: string, says: string]>>;
export type OwnWord = keyof typeof ownWords;

/** Other words for commands, as people know them from elsewhere. */
const aliases: Readonly<Record<string, string>> = {
  retry: "reconnect",
  ls: "list",
  quit: "exit",
  "?": "help",
};

/** What a line asks for: a command of the command line, or one of the REPL itself. */
export type ReadLine =
  | { readonly kind: "command"; readonly words: readonly string[] }
  | { readonly kind: "own"; readonly name: OwnWord; readonly words: readonly string[] };

/**
 * Reads the words of a line: `/mcp …`, `/command …`, `/server:prompt key=value`, `@server:uri` and `server.tool
 * key=value`. A word that means nothing is refused, and never replaced by a similar one.
 */
export function readLine(words: readonly string[], commandNames: readonly string[]): ReadLine {
  const [first = "", ...rest] = words;
  if (first.startsWith("@")) return readResource(first, rest);
  if (!first.startsWith("/")) return readCall(words, commandNames);
  const name = first.slice(1);
  if (name === "mcp") return readMcp(rest, commandNames);
  if (commandNames.includes(name) || isOwnWord(name) || aliases[name] !== undefined)
    return readCommand([name, ...rest]);
  const place = name.indexOf(":");
  if (place > 0) return command("prompts", name.slice(0, place), name.slice(place + 1), ...rest);
  throw unknownWord(`/${name}`, ["mcp", ...commandNames, ...Object.keys(ownWords)], "/");
}

function readMcp(words: readonly string[], commandNames: readonly string[]): ReadLine {
  const [name, ...rest] = words;
  if (name === undefined) return command("list");
  // Options alone are those of the list.
  if (name.startsWith("-")) return command("list", ...words);
  if (name === "status") return command(rest[0] === undefined ? "list" : "get", ...rest);
  const isKnown = commandNames.includes(name) || isOwnWord(name) || aliases[name] !== undefined;
  if (isKnown) return readCommand(words);
  throw unknownWord(`/mcp ${name}`, ["status", ...commandNames, ...Object.keys(ownWords)], "/mcp ");
}

function readCommand([typed = "", ...rest]: readonly string[]): ReadLine {
  const name = aliases[typed] ?? typed;
  if (isOwnWord(name)) return { kind: "own", name, words: rest };
  return command(name, ...rest);
}

function readResource(first: string, rest: readonly string[]): ReadLine {
  const place = first.indexOf(":");
  if (place < 2)
    throw createError("invalid_arguments", `"${first.slice(0, 80)}" is no @server:uri`, {
      hint: "/mcp resources lists what can be read",
    });
  return command("resources", first.slice(1, place), first.slice(place + 1), ...rest);
}

function readCall(words: readonly string[], commandNames: readonly string[]): ReadLine {
  const [first = ""] = words;
  if (/^[^=]+\.[^=]+$/.test(first)) return command("call", ...words);
  const suggestions = closest(first, [...new Set([...commandNames, ...Object.keys(ownWords)])]);
  throw createError("invalid_arguments", `"${first.slice(0, 80)}" is no command`, {
    details: { suggestions: suggestions.map((name) => `/${name}`) },
    hint: "commands begin with /, as in /mcp; a call is <server>.<tool> key=value; /help",
  });
}

function command(...words: readonly string[]): ReadLine {
  return { kind: "command", words };
}

function isOwnWord(name: string): name is OwnWord {
  return Object.hasOwn(ownWords, name);
}

function unknownWord(typed: string, known: readonly string[], prefix: string): McpError {
  const suggestions = closest(typed.slice(prefix.length), [...new Set(known)]);
  return createError("invalid_arguments", `no command "${typed.slice(0, 80)}"`, {
    details: { suggestions: suggestions.map((name) => `${prefix}${name}`) },
    hint: "/help lists the commands",
  });
}
