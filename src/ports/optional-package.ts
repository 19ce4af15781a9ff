import { createRequire } from "node:module";

import { ownAddress } from "./package-files.ts";

/**
 * The file of a package that not everybody installs; undefined where it is missing. It is looked for
 * beside this code and beside the program that runs, since a bundle may lie somewhere else than what it
 * was made of, but never in the working folder, which may be anybody's. The name is no literal of an
 * import, so that a bundler neither asks for a package nobody needs nor takes native code apart.
 */
export function findOptionalPackage(name: string): string | undefined {
  for (const from of [ownAddress(), process.argv[1]]) {
    try {
      if (from !== undefined) return createRequire(from).resolve(name);
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
