import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";

import { ownAddress } from "./package-files.ts";

/**
 * The file of a package that not everybody installs; undefined where it is missing. It is looked for
 * beside this code and beside the program that runs, since a bundle may lie somewhere else than what it
 * was made of, but never in the working folder, which may be anybody's. The name is no literal of an
 * import, so that a bundler neither asks for a package nobody needs nor takes native code apart.
 */
export function findOptionalPackage(name: string): string | undefined {
  return firstFound((require) => require.resolve(name));
}

/**
 * Whether the folder of such a package is there. `findOptionalPackage` also finds out which of its files to load, which
 * takes 2.6 ms; this takes 0.1 ms.
 */
export function hasOptionalPackage(name: string): boolean {
  if (isAboveProgram(path.join("node_modules", name))) return true;
  const found = firstFound(({ resolve }) =>
    resolve.paths(name)?.find((folder) => existsSync(path.join(folder, name))),
  );
  return found !== undefined;
}

/** Where nearly every program finds its packages; to ask Node for all places takes 2 ms on a first time. */
function isAboveProgram(file: string): boolean {
  const [, program = ""] = process.argv;
  if (!path.isAbsolute(program)) return false;
  for (let folder = program; folder !== path.dirname(folder); folder = path.dirname(folder))
    if (existsSync(path.join(path.dirname(folder), file))) return true;
  return false;
}

function firstFound(find: (require: NodeJS.Require) => string | undefined): string | undefined {
  for (const from of [ownAddress(), process.argv[1]]) {
    try {
      const found = from === undefined ? undefined : find(createRequire(from));
      if (found !== undefined) return found;
    } catch {
      // Not there, or an address that is none of a file.
    }
  }
  return undefined;
}

/** What the package exports to CommonJS. Throws what the package itself throws while it is loaded. */
export function requireFile(file: string): unknown {
  return createRequire(file)(file) as unknown;
}
