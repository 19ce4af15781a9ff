// @ts-check
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { isDeepStrictEqual } from "node:util";

import { elapsed, note, root, run, ScriptError } from "./run.mjs";

/** @typedef {{ version?: string, integrity?: string, optional?: boolean, link?: boolean }} LockedPackage */

/** @param {string} file @returns {any} */
const readJson = (file) => JSON.parse(readFileSync(file, "utf8"));

/**
 * Whether `node_modules` of a folder holds what its lockfile says. npm writes what it installed into
 * `node_modules/.package-lock.json` as its last act, so an interrupted install never looks complete
 * and an `npm install` typed by hand is recognised as well.
 *
 * @param {string} directory
 */
export function isInstalled(directory) {
  const installedFile = path.join(directory, "node_modules", ".package-lock.json");
  if (!existsSync(installedFile)) return false;
  const manifest = readJson(path.join(directory, "package.json"));
  const lockfile = readJson(path.join(directory, "package-lock.json"));
  const { "": lockedManifest, ...locked } = lockfile.packages;
  if (!isDeepStrictEqual(declared(manifest), declared(lockedManifest))) return false;
  /** @type {Record<string, LockedPackage>} */
  const installed = readJson(installedFile).packages;
  for (const [where, wanted] of Object.entries(
    /** @type {Record<string, LockedPackage>} */ (locked),
  )) {
    const found = installed[where];
    // Builds for other platforms are optional and absent.
    if (found === undefined ? !wanted.optional : !isSame(found, wanted)) return false;
  }
  // Builds for this platform may be missing in a lockfile written on another one.
  return Object.entries(installed).every(([where, found]) => where in locked || found.optional);
}

/** @param {any} manifest */
function declared({ dependencies = {}, devDependencies = {}, optionalDependencies = {} }) {
  return { dependencies, devDependencies, optionalDependencies };
}

/** @param {LockedPackage} a @param {LockedPackage} b */
function isSame(a, b) {
  return a.version === b.version && a.integrity === b.integrity;
}

/**
 * Installs what the lockfile of a folder names, if it is not there. No package's install script runs:
 * none of those chosen needs one, and one that a dependency grows must not run unseen.
 *
 * Not `npm ci`: that refuses a lockfile without the optional builds of every other platform, and not
 * every registry mirror has those. `--no-save` keeps to the lockfile and leaves it as it is.
 *
 * @param {string} directory
 */
export async function ensureInstalled(directory) {
  if (isInstalled(directory)) return;
  const where = path.relative(root, directory);
  const since = performance.now();
  note(`installing dependencies${where === "" ? "" : ` of ${where}`} …`);
  const { code, output } = await runNpm(
    ["install", "--no-save", "--ignore-scripts", "--include=dev", "--no-audit", "--no-fund"],
    directory,
  );
  if (code !== 0)
    throw new ScriptError(
      `${output.trimEnd()}\nnpm could not install the dependencies (exit code ${code}).`,
    );
  note(`✓ dependencies installed  ${elapsed(since)}`);
}

/** @param {readonly string[]} args @param {string} cwd */
async function runNpm(args, cwd) {
  const script = process.env["npm_execpath"];
  // Under `npm run` npm names its own file, which needs no PATH and no `.cmd` shim.
  if (script?.endsWith("npm-cli.js") && existsSync(script))
    return run(process.execPath, [script, ...args], { cwd, capture: true });
  try {
    return await run("npm", args, { cwd, capture: true, shell: process.platform === "win32" });
  } catch (cause) {
    throw new ScriptError(
      "npm was not found. Install Node with npm, or put npm on the PATH, and run the command again.",
      { cause },
    );
  }
}
