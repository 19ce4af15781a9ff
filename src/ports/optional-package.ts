import { createRequire } from "node:module";

import { ownAddress } from "./package-files.ts";

/**
 * The file of a package that not everybody installs; undefined where it is missing. The name is no literal
 * of an import, so that a bundler neither asks for a package nobody needs nor takes native code apart.
 */
export function findOptionalPackage(name: string): string | undefined {
  try {
    return createRequire(ownAddress()).resolve(name);
  } catch {
    return undefined;
  }
}

/** What the package exports to CommonJS. Throws what the package itself throws while it is loaded. */
export function requireFile(file: string): unknown {
  return createRequire(file)(file) as unknown;
}
