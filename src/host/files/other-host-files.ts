import { stat } from "node:fs/promises";

import { allSourceFiles } from "../../config/sources/source-table.ts";
import type { Folders } from "../../config/variables/variable-reference.ts";

/** A configuration file of another program that was found, and that no host of ours reads by itself. */
export interface OtherHostFile {
  readonly path: string;
  /** Whose file it is. */
  readonly program: string;
}

/** Finds the files that hold nothing but the MCP servers of other programs. Reads none of them. */
export async function findOtherHostFiles(
  folders: Folders,
  { platform, env }: Pick<NodeJS.Process, "platform" | "env"> = process,
): Promise<readonly OtherHostFile[]> {
  const ground = { ...folders, platform, env };
  const candidates = allSourceFiles(ground).filter(({ isDedicated }) => isDedicated);
  const found = await Promise.all(
    candidates.map(async ({ path: file, program = "" }) => {
      const isFile = await stat(file).then(
        (stats) => stats.isFile(),
        () => false,
      );
      return isFile ? [{ path: file, program }] : [];
    }),
  );
  return found.flat();
}
