import { existsSync, readFileSync } from "node:fs";

import { createError } from "../errors/families.ts";

/** Put in by `scripts/bundle.mjs`; there is no such thing where the sources run. */
declare const builtVersion: string;

/** Whether the built package runs, or a program that was bundled with it, and not the sources. */
export const isBuilt = typeof builtVersion !== "undefined";

/** The version of this code, whatever files lie beside it by now. */
export function readOwnVersion(): string {
  return isBuilt
    ? builtVersion
    : readManifest(new URL("../../package.json", import.meta.url)).version;
}

/** Where this code lies; undefined in a bundle of CommonJS. */
export function ownAddress(): string | undefined {
  return import.meta.url;
}

/**
 * The file of a module that is started as a program. `source` is its path in `src/`. In the package only
 * the entries of the bundle are files: see `scripts/bundle.mjs`. Throws where the package was bundled
 * into a program, which has no such file.
 */
export function ownModule(source: string): URL {
  return packageFile(isBuilt ? `dist/${source.replace(/\.[a-z]+$/, ".js")}` : `src/${source}`);
}

/** A file by its path below the folder of the manifest. */
export function packageFile(file: string): URL {
  const folder = packageFolder();
  if (folder === undefined)
    throw createError(
      "config_invalid",
      `${file} is a file of the package plugboard, which is not beside this program`,
      { hint: "leave plugboard out of the bundle as an external package, and install it" },
    );
  return new URL(file, folder);
}

/** Looked for upwards, because a bundler decides how deep this code lies. The manifest of a program is not ours. */
function packageFolder(): URL | undefined {
  const address = ownAddress();
  if (address === undefined) return undefined;
  for (let folder = new URL(".", address); ; folder = new URL("..", folder)) {
    const file = new URL("package.json", folder);
    if (existsSync(file)) {
      const { name, version } = readManifest(file);
      return name === "plugboard" && version === readOwnVersion() ? folder : undefined;
    }
    if (folder.href === new URL("..", folder).href) return undefined;
  }
}

function readManifest(file: URL): { readonly name: string; readonly version: string } {
  return JSON.parse(readFileSync(file, "utf8")) as { name: string; version: string };
}
