// @ts-check
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";

import { pruneDeclarations } from "./prune-declarations.mjs";
import { elapsed, note, root, runTool, ScriptError } from "./run.mjs";

const dist = path.join(root, "dist");
const stampFile = path.join(dist, ".stamp");
// The manifest pins the versions of compiler and bundler.
const inputs = [
  "package.json",
  "tsconfig.json",
  "tsconfig.build.json",
  "scripts/bundle.mjs",
  "scripts/bundle-groups.mjs",
  "scripts/bundle-node-modules.mjs",
  "scripts/prune-declarations.mjs",
];

/** Hash of everything the build reads: equal hashes, equal output. */
function hashInputs() {
  const hash = createHash("sha256");
  const sources = readdirSync(path.join(root, "src"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith(".test.ts"))
    .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)));
  for (const file of [...inputs, ...sources.toSorted()])
    hash
      .update(`${file}\0`)
      .update(readFileSync(path.join(root, file)))
      .update("\0");
  return hash.digest("hex");
}

export function isBuilt() {
  return existsSync(stampFile) && readFileSync(stampFile, "utf8") === hashInputs();
}

/**
 * Builds beside `dist` and swaps it in whole: a failed or interrupted build leaves the old one.
 * Callers hold the lock of `bootstrap.mjs`.
 */
export async function buildDist() {
  const since = performance.now();
  // Before compiling: a file saved meanwhile must make the result stale, not fresh.
  const stamp = hashInputs();
  const scratch = path.join(root, ".bootstrap", "dist");
  const replaced = path.join(root, ".bootstrap", "dist-replaced");
  const clear = () => {
    for (const folder of [scratch, replaced]) rmSync(folder, { recursive: true, force: true });
  };
  clear();
  try {
    await writeDeclarations(scratch);
    // Not at the top: this file is loaded before the bundler is installed.
    const { writeBundle } = await import("./bundle.mjs");
    await writeBundle(scratch);
    writeFileSync(path.join(scratch, ".stamp"), stamp);
    if (existsSync(dist)) renameSync(dist, replaced);
    renameSync(scratch, dist);
  } finally {
    clear();
  }
  note(`✓ built  ${elapsed(since)}`);
}

/** Checks the types too: sources that do not fit together are not worth bundling. @param {string} folder */
async function writeDeclarations(folder) {
  const { code, output } = await runTool("tsc", ["-p", "tsconfig.build.json", "--outDir", folder], {
    package: "typescript",
    capture: true,
  });
  if (code !== 0) throw new ScriptError(`${output.trimEnd()}\nThe build failed.`);
  pruneDeclarations(folder);
}

export async function ensureBuilt() {
  if (!isBuilt()) await buildDist();
}
