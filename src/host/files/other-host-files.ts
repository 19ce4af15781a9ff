import { statSync } from "node:fs";

import { allSourceFiles } from "../../config/sources/source-table.ts";
import type { Folders } from "../../config/variables/variable-reference.ts";

/** A configuration file of another program that was found, and that no host of ours reads by itself. */
export interface OtherHostFile {
  readonly path: string;
  /** Whose file it is. */
  readonly program: string;
}

/** Finds the files that hold nothing but the MCP servers of other programs. Reads none of them. */
export function findOtherHostFiles(
  folders: Folders,
  { platform, env }: Pick<NodeJS.Process, "platform" | "env"> = process,
): readonly OtherHostFile[] {
  const ground = { ...folders, platform, env };
  const candidates = allSourceFiles(ground).filter(({ isDedicated }) => isDedicated);
  return candidates
    .filter(({ path: file }) => isFile(file))
    .map(({ path: file, program = "" }) => ({ path: file, program }));
}

/** Asked at once: there are dozens of places, and a promise for each takes ten times as long as to look. */
function isFile(file: string): boolean {
  try {
    return statSync(file, { throwIfNoEntry: false })?.isFile() === true;
  } catch {
    return false;
  }
}
