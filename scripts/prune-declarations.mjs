// @ts-check
import { readdirSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";

import { root } from "./run.mjs";

const declaration = /\.d\.m?ts$/;
const reference = /(?:\bfrom|\bimport\(|^import)\s*"(\.[^"]+)"/gm;

/**
 * Removes the declarations that no entry of the package leads to. Two of three are of files that only
 * the bundle sees, and each takes a block of a user's disk.
 *
 * @param {string} folder what becomes `dist`
 */
export function pruneDeclarations(folder) {
  const { exports } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8"));
  const reached = new Set(
    Object.values(exports).flatMap((/** @type {{ types?: string }} */ { types }) =>
      types === undefined ? [] : [path.join(folder, path.relative("dist", types))],
    ),
  );
  // A set that grows while it is walked: what is added is visited too.
  for (const file of reached)
    for (const [, target = ""] of readFileSync(file, "utf8").matchAll(reference))
      reached.add(declarationOf(path.join(path.dirname(file), target)));
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const file = path.join(entry.parentPath, entry.name);
    if (declaration.test(file) && !reached.has(file)) rmSync(file);
  }
  removeEmptyFolders(folder);
}

/** Declarations name each other as the sources do. @param {string} source */
function declarationOf(source) {
  if (declaration.test(source)) return source;
  return source.replace(/\.ts$/, ".d.ts").replace(/\.mjs$/, ".d.mts");
}

/** @param {string} folder */
function removeEmptyFolders(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true }))
    if (entry.isDirectory()) removeEmptyFolders(path.join(folder, entry.name));
  if (readdirSync(folder).length === 0) rmSync(folder, { recursive: true });
}
