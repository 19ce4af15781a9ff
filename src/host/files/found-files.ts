import path from "node:path";

import { type ConfigProblem, problemError } from "../../config/keys/config-problem.ts";
import type { SourceServer } from "../../config/sources/read-source.ts";
import {
  type SourceFile,
  sourceFileAt,
  sourceFiles,
  type SourceGround,
  type SourceName,
  sourceNames,
} from "../../config/sources/source-table.ts";
import { createError } from "../../errors/families.ts";
import type { McpError } from "../../errors/mcp-error.ts";
import { closest } from "../../text/closest.ts";
import { existingFiles } from "./import-sources.ts";
import { readImport } from "./read-import.ts";

/** A file that was read, with what is to be imported of it. */
export interface FoundFile {
  readonly file: SourceFile;
  readonly servers: readonly SourceServer[];
  readonly problems: readonly ConfigProblem[];
  readonly elsewhere: readonly { readonly name: string; readonly folder: string }[];
}

/** Reads the files that `from` names. Throws when there is none, and when nothing in them can be used. */
export async function readFiles(from: string, ground: SourceGround): Promise<readonly FoundFile[]> {
  const files = await findFiles(from, ground);
  const found = await Promise.all(
    files.map(async (file): Promise<FoundFile> => {
      const read = await readImport(file, ground.workspaceFolder);
      if (read.status === "read") return { file, ...read };
      if (read.status === "missing") throw noFile(file.path, from);
      return { file, servers: [], problems: [read.problem], elsewhere: [] };
    }),
  );
  const errors = found.flatMap(({ problems }) => problems.filter(isError));
  const isUseless = found.every(
    ({ servers, elsewhere }) => servers.length + elsewhere.length === 0,
  );
  // An entry that cannot be used is named by the result; a file, or one without a name, by an error.
  const ofFiles = errors.filter(({ serverName }) => serverName === undefined);
  if (!isUseless || ofFiles.length === 0) return found;
  const [{ code }] = ofFiles as [ConfigProblem];
  if (code === "config_invalid") throw problemError(ofFiles);
  throw createError(code, ofFiles.map(({ message }) => message).join("; "));
}

async function findFiles(from: string, ground: SourceGround): Promise<readonly SourceFile[]> {
  const names = programsNamed(from);
  if (names.length === 0) return [sourceFileAt(path.resolve(ground.workspaceFolder, from), ground)];
  const files = await existingFiles(names, ground);
  if (files.length > 0) return files;
  const places = names.flatMap((name) => sourceFiles(name, ground).map((file) => file.path));
  throw createError("config_invalid", `no file of "${from}" is here`, {
    hint: `looked for ${places.join(", ")}`,
    details: { searched: places },
  });
}

/** The words for programs; `claude` stands for both that are called so. */
function programsNamed(from: string): readonly SourceName[] {
  if (from === "claude") return ["claude-desktop", "claude-code"];
  return sourceNames.filter((name) => name === from);
}

function noFile(file: string, from: string): McpError {
  const suggestions = closest(from, sourceNames);
  return createError("config_invalid", `there is no file ${file}`, {
    hint: `name a file, or a program: ${sourceNames.join(", ")}`,
    details: { path: file, suggestions },
  });
}

/** Keeps the servers that were asked for. Throws `server_unknown` for a name that no file has. */
export function chooseNames(
  found: readonly FoundFile[],
  names: readonly string[] | undefined,
): readonly FoundFile[] {
  if (names === undefined || names.length === 0) return found;
  const wanted = new Set(names);
  const isWanted = (name: string | undefined): boolean => name !== undefined && wanted.has(name);
  const chosen = found.map((it) => ({
    ...it,
    servers: it.servers.filter(({ config }) => isWanted(config.name)),
    problems: it.problems.filter(
      ({ serverName }) => serverName === undefined || isWanted(serverName),
    ),
    elsewhere: it.elsewhere.filter(({ name }) => isWanted(name)),
  }));
  const known = new Set(found.flatMap(namesIn));
  const unknown = names.find((name) => !known.has(name));
  if (unknown === undefined) return chosen;
  throw createError(
    "server_unknown",
    `no server "${unknown}" in ${found.map(({ file }) => file.path).join(", ")}`,
    {
      details: { suggestions: closest(unknown, known), configured: [...known] },
    },
  );
}

function namesIn({ servers, problems, elsewhere }: FoundFile): readonly string[] {
  return [
    ...servers.map(({ config }) => config.name),
    ...problems.flatMap(({ serverName }) => serverName ?? []),
    ...elsewhere.map(({ name }) => name),
  ];
}

export function isError({ severity }: ConfigProblem): boolean {
  return severity === "error";
}
