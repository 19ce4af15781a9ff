import { existsSync } from "node:fs";
import os from "node:os";
import path from "node:path";

export interface ProjectPlace {
  /** The folder that the user works in. */
  readonly cwd: string;
  /** The user's home; the one that the system names by default. */
  readonly home?: string | undefined;
}

/** Whether `file` is `folder` or lies in it. Compares the texts of two absolute paths. */
export function isWithin(file: string, folder: string): boolean {
  return file === folder || file.startsWith(folder.endsWith(path.sep) ? folder : folder + path.sep);
}

/**
 * Finds the root of the project that `cwd` belongs to: the outermost repository around it, else `cwd` itself.
 * Undefined in the user's home and above it, which belong to no project.
 */
export function projectRoot({ cwd, home = os.homedir() }: ProjectPlace): string | undefined {
  const folders = foldersUpTo(path.resolve(cwd), path.resolve(home));
  return folders.findLast((folder) => existsSync(path.join(folder, ".git"))) ?? folders[0];
}

/**
 * Lists the folders whose content comes with the project: its root, and every `node_modules` that npm looks
 * into from `cwd`. The author of the project chose their content, not its user.
 */
export function projectFolders({ cwd, home = os.homedir() }: ProjectPlace): readonly string[] {
  const root = projectRoot({ cwd, home });
  if (root === undefined) return [];
  const above = foldersUpTo(path.dirname(root), path.resolve(home));
  return [root, ...above.map((folder) => path.join(folder, "node_modules"))];
}

/**
 * Yields `start` and the folders above it, nearest first, without the root of the disk and the folders
 * that hold `home`.
 */
function foldersUpTo(start: string, home: string): readonly string[] {
  const parent = path.dirname(start);
  if (start === parent || isWithin(home, start)) return [];
  return [start, ...foldersUpTo(parent, home)];
}
