import { existsSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

let checkout = path.resolve(import.meta.dirname, "../..");

/**
 * Makes the clients of this process load another build of Plugboard. They load it with their module, so
 * this comes before their import.
 *
 * @param {string} folder a checkout of Plugboard with a built `dist/`
 */
export function useBuild(folder) {
  checkout = path.resolve(folder);
}

/**
 * Loads a file of the build in use.
 *
 * @param {...string} files of `dist/`, where newer builds have it first; the first that exists is loaded
 * @returns {Promise<any>} what it exports
 */
export function importBuilt(...files) {
  const paths = files.map((file) => path.join(checkout, "dist", file));
  const found = paths.find((file) => existsSync(file));
  if (found === undefined) throw new Error(`${checkout} has no built ${files.join(" or ")}`);
  return import(pathToFileURL(found).href);
}

/** The file that the package's command starts with, of the build in use. */
export function commandFile() {
  return path.join(checkout, "bin", "plugboard.js");
}
