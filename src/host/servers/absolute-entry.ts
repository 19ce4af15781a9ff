import { existsSync } from "node:fs";
import path from "node:path";

import { resolvePath } from "../../config/variables/resolve-path.ts";
import { isJsonObject } from "../../text/json-object.ts";

type WrittenEntry = Readonly<Record<string, unknown>>;

export interface AbsoluteEntry {
  readonly entry: WrittenEntry;
  /** Says what is written differently from what was given, and what may not be meant. */
  readonly notes: readonly string[];
}

/**
 * Makes the relative paths of an entry absolute, from where it is added: the user's own servers start in a folder
 * of their own. Of the arguments only words that look like a path and exist are changed; any other word may be
 * a command of the program.
 */
export function absoluteEntry(given: WrittenEntry, base: string): AbsoluteEntry {
  const { command, args, cwd, envFile, isolation } = given;
  const program = isTexts(command) ? command[0] : command;
  if (typeof program !== "string") return { entry: given, notes: [] };
  const notes: string[] = [];
  const keep = (what: string, before: string, after: string): string => {
    if (after !== before) notes.push(`${what} "${before}" is kept as ${after}`);
    return after;
  };
  const folder = typeof cwd === "string" ? keep("cwd", cwd, resolvePath(cwd, base) ?? cwd) : cwd;
  const start = typeof folder === "string" ? folder : base;
  const found = /[\\/]/.test(program) ? (resolvePath(program, start) ?? program) : program;
  const file = keep("command", program, found);
  const keepWord = (word: string, index: number): string => {
    const place = path.resolve(base, word);
    // An entry that names a folder means its arguments to be looked up there.
    if (folder !== undefined || word === place || !isFile(word, place)) return word;
    const what = `argument ${index + 1}`;
    if (looksLikePath.test(word)) return keep(what, word, place);
    notes.push(`${what} "${word}" is kept as it is: write ${place} if that is meant`);
    return word;
  };
  const entry = {
    ...given,
    command: isTexts(command) ? [file, ...command.slice(1).map(keepWord)] : file,
    ...(isTexts(args) ? { args: isTexts(command) ? args : args.map(keepWord) } : {}),
    ...(folder === undefined ? {} : { cwd: folder }),
    ...(typeof envFile === "string"
      ? { envFile: keep("envFile", envFile, resolvePath(envFile, base) ?? envFile) }
      : {}),
    ...(isJsonObject(isolation) ? { isolation: absoluteIsolation(isolation, base) } : {}),
  };
  return { entry, notes };
}

function absoluteIsolation(isolation: WrittenEntry, base: string): WrittenEntry {
  const { paths } = isolation;
  if (!isJsonObject(paths)) return isolation;
  const resolved = Object.entries(paths).map(([key, list]) => [
    key,
    isTexts(list) ? list.map((folder) => resolvePath(folder, base)) : list,
  ]);
  return { ...isolation, paths: Object.fromEntries(resolved) as WrittenEntry };
}

/** Matches words that begin with a dot, hold a slash (but are no scoped package), or end like a file. */
const looksLikePath = /^\.|^[^@]*[\\/]|\.\w{1,8}$/;

function isFile(word: string, place: string): boolean {
  return word !== "" && !word.startsWith("-") && existsSync(place);
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((it) => typeof it === "string");
}
