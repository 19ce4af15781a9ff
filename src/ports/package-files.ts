import { existsSync, readFileSync } from "node:fs";

/** Where this code lies. */
export function ownAddress(): string {
  return import.meta.url;
}

/** Whether the built package runs and not its sources. */
export const isBuilt = !import.meta.url.endsWith(".ts");

/**
 * The file of a module that is started by its address, as a thread or as a program. `source` is its path
 * in `src/`. In the package only the entries of the bundle are files: see `scripts/bundle.mjs`.
 */
export function ownModule(source: string): URL {
  return packageFile(isBuilt ? `dist/${source.replace(/\.[a-z]+$/, ".js")}` : `src/${source}`);
}

/** A file by its path below the folder of the manifest. */
export function packageFile(file: string): URL {
  return new URL(file, packageFolder());
}

export function readOwnVersion(): string {
  const manifest = readFileSync(packageFile("package.json"), "utf8");
  return (JSON.parse(manifest) as { readonly version: string }).version;
}

/** Looked for upwards, because a bundler decides how deep this code lies. */
function packageFolder(): URL {
  let folder = new URL(".", import.meta.url);
  while (!existsSync(new URL("package.json", folder))) {
    const parent = new URL("..", folder);
    if (parent.href === folder.href) break;
    folder = parent;
  }
  return folder;
}
