import { realpathSync } from "node:fs";
import path from "node:path";

import { isWithin } from "../../config/files/project-folders.ts";

export interface SearchPathOptions {
  /** What lies in these folders, or behind a link in them, is not found. */
  readonly without: readonly string[];
  /** What relative folders of the list begin at. */
  readonly cwd: string;
}

/**
 * The environment with a `PATH` that leads into none of the folders. Under `npx` and `npm run` it begins with
 * `node_modules/.bin` of the project, where a project can put any program under any name.
 */
export function withSearchPath(
  env: Readonly<Record<string, string>>,
  { without, cwd }: SearchPathOptions,
): Readonly<Record<string, string>> {
  const name = Object.keys(env).find((key) => key.toUpperCase() === "PATH");
  if (name === undefined || without.length === 0) return env;
  const shunned = without.flatMap((folder) => [folder, realPath(folder)]);
  const isShunned = (folder: string): boolean => {
    const place = path.resolve(cwd, folder);
    const real = realPath(place);
    return shunned.some((it) => isWithin(place, it) || isWithin(real, it));
  };
  const folders = (env[name] ?? "").split(path.delimiter);
  const kept = folders.filter((folder) => !isShunned(folder)).join(path.delimiter);
  return Object.assign(Object.create(null) as object, env, { [name]: kept });
}

/** The path itself where there is nothing. */
function realPath(place: string): string {
  try {
    return realpathSync.native(place);
  } catch {
    return place;
  }
}
