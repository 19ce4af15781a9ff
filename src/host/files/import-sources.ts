import { stat } from "node:fs/promises";
import path from "node:path";

import {
  allSourceFiles,
  type SourceFile,
  sourceFiles,
  type SourceGround,
  type SourceName,
} from "../../config/sources/source-table.ts";
import type { ImportSource } from "../host.ts";
import { readImport } from "./read-import.ts";

/** Finds the files of other programs that hold servers; `ownFiles` are those that the host reads by itself. */
export async function findImportSources(
  ground: SourceGround,
  ownFiles: ReadonlySet<string>,
): Promise<readonly ImportSource[]> {
  const found = await Promise.all(
    allSourceFiles(ground).map((file) => describeSource(file, ground, ownFiles)),
  );
  return found.flat();
}

/** Lists the files of a program that are there, be it only to fail. */
export async function existingFiles(
  names: readonly SourceName[],
  ground: SourceGround,
): Promise<readonly SourceFile[]> {
  const files = names.flatMap((name) => sourceFiles(name, ground));
  const found = await Promise.all(
    files.map(async (file) => ((await isMissing(file.path)) ? [] : [file])),
  );
  return found.flat();
}

async function describeSource(
  file: SourceFile,
  ground: SourceGround,
  ownFiles: ReadonlySet<string>,
): Promise<readonly ImportSource[]> {
  if (await isMissing(file.path)) return [];
  const { source = "", program = "", path: place, scope } = file;
  const isRead = ownFiles.has(path.resolve(place));
  const common = { source, program, path: place, scope, isRead };
  const read = await readImport(file, ground.workspaceFolder);
  if (read.status === "missing") return [];
  if (read.status === "failed")
    return [{ ...common, servers: [], broken: 0, problem: read.problem }];
  const errors = read.problems.filter(({ severity }) => severity === "error");
  const broken = new Set(errors.map(({ serverName, line }) => serverName ?? line)).size;
  if (read.servers.length === 0 && broken === 0 && !file.isDedicated) return [];
  return [{ ...common, servers: read.servers.map(({ config }) => config.name), broken }];
}

/** A link to itself is there, and cannot be read; that is worth a word. */
async function isMissing(file: string): Promise<boolean> {
  return await stat(file).then(
    () => false,
    (error: NodeJS.ErrnoException) => error.code === "ENOENT" || error.code === "ENOTDIR",
  );
}
