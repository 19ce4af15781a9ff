import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";

import { ownAddress } from "./package-files.ts";

/**
 * The file of a package that not everybody installs; undefined where it is missing. It is looked for
 * beside this code and beside the program that runs, since a bundle may lie somewhere else than what it
 * was made of, but never in the working folder, which may be anybody's. The name is no literal of an
 * import, so that a bundler neither asks for a package nobody needs nor takes native code apart.
 */
export function findOptionalPackage(name: string): string | undefined {
  return firstFound((require, from) =>
    // By the folder, Node reads the manifest alone; by the name, it loads what resolves `exports`.
    require.resolve(folderAbove(from, path.join("node_modules", name)) ?? name),
  );
}

/**
 * Whether the folder of such a package is there. `findOptionalPackage` also finds out which of its files to load, which
 * takes a millisecond; this takes 0.1 ms.
 */
export function hasOptionalPackage(name: string): boolean {
  // Where nearly every program finds its packages; to ask Node for all places takes 2 ms on a first time.
  const [, program = ""] = process.argv;
  if (folderAbove(program, path.join("node_modules", name)) !== undefined) return true;
  const found = firstFound(({ resolve }) =>
    resolve.paths(name)?.find((folder) => existsSync(path.join(folder, name))),
  );
  return found !== undefined;
}

/** The nearest folder of this name beside the file or above it. */
function folderAbove(file: string, name: string): string | undefined {
  if (!path.isAbsolute(file)) return undefined;
  for (let folder = file; folder !== path.dirname(folder); folder = path.dirname(folder)) {
    const found = path.join(path.dirname(folder), name);
    if (existsSync(found)) return found;
  }
  return undefined;
}

function firstFound(
  find: (require: NodeJS.Require, from: string) => string | undefined,
): string | undefined {
  for (const from of [ownAddress(), process.argv[1]]) {
    try {
      if (from === undefined) continue;
      const file = from.startsWith("file:") ? fileURLToPath(from) : from;
      const found = find(createRequire(file), file);
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
