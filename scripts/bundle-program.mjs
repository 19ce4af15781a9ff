// @ts-check
// A program of the tests, or a bundled server while the sources run, as one script with its compiled code beside it.
// The tests start hundreds of them, and a loader of TypeScript or the many files of the SDK take several times as long
// as Node itself.
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";

import { withLock } from "./lock.mjs";
import { findProgram } from "./run-compiled.cjs";
import { root } from "./run.mjs";

const programs = path.join(root, ".bootstrap", "programs");

/**
 * The program to start for a source; it is there once `bundleProgram` was called.
 *
 * @param {string} source relative to the root; no two programs have the same file name
 */
export function programFile(source) {
  const name = path.basename(source).replace(/\.[a-z]+$/, "");
  return path.join(programs, name, `${name}.cjs`);
}

/** Writes the program for a source, unless the one that is there was made of the same files. @param {string} source */
export async function bundleProgram(source) {
  const file = programFile(source);
  const folder = path.dirname(file);
  if (findProgram(folder) === undefined)
    await withLock(`${folder}.lock`, async () => {
      if (findProgram(folder) === undefined) await writeProgram(source, file);
    });
  return file;
}

/** @param {string} source @param {string} file */
async function writeProgram(source, file) {
  const folder = path.dirname(file);
  mkdirSync(folder, { recursive: true });
  const { code, isModule, inputs } = await bundle(path.join(root, source));
  const hash = createHash("sha256").update(code).digest("hex").slice(0, 16);
  const script = `script-${hash}.${isModule ? "mjs" : "cjs"}`;
  writeFileSync(path.join(folder, script), code);
  writeFileSync(file, isModule ? `void import("./${script}");\n` : startOf(script));
  const madeOf = path.join(folder, "made-of.json");
  writeFileSync(`${madeOf}.new`, JSON.stringify({ script, inputs }));
  renameSync(`${madeOf}.new`, madeOf);
  const kept = new Set([path.basename(file), script, path.basename(madeOf)]);
  for (const name of readdirSync(folder))
    if (!kept.has(name)) rmSync(path.join(folder, name), { force: true });
}

/** @param {string} script */
function startOf(script) {
  const runner = JSON.stringify(path.join(root, "scripts", "run-compiled.cjs"));
  return `require(${runner}).runCompiled(require("node:path").join(__dirname, "${script}"));\n`;
}

/** @param {string} entry */
async function bundle(entry) {
  // Not at the top: who finds the program there does without the bundler.
  const { rolldown } = await import("rolldown");
  const { loadThread, ownVersion } = await import("./bundle.mjs");
  const since = Date.now();
  const bundle = await rolldown({
    cwd: root,
    input: entry,
    platform: "node",
    tsconfig: false,
    resolve: { mainFields: ["module", "main"] },
    transform: { target: "node20.19", define: { builtVersion: JSON.stringify(ownVersion()) } },
    plugins: [{ name: "threads", load: loadThread }],
    // What packages look for and do without is no fault of the program.
    onLog: () => {},
  });
  try {
    const script = await generate(bundle, "cjs").catch(() => undefined);
    // One that awaits at its top level can be nothing but a module, of which Node keeps no compiled code.
    const { code, moduleIds } = script ?? (await generate(bundle, "esm"));
    const own = moduleIds.filter(
      (file) => path.isAbsolute(file) && !file.includes(`${path.sep}node_modules${path.sep}`),
    );
    // The lockfile stands for all packages.
    const files = [...own, path.join(root, "package-lock.json"), import.meta.filename];
    return {
      code,
      isModule: script === undefined,
      inputs: files.map((file) => stateOf(file, since)),
    };
  } finally {
    await bundle.close();
  }
}

/** @param {import("rolldown").RolldownBuild} bundle @param {"cjs" | "esm"} format */
async function generate(bundle, format) {
  const { output } = await bundle.generate({
    format,
    codeSplitting: false,
    comments: false,
    // One character beyond Latin-1 makes the engine keep all of it at two bytes a character.
    minify: { compress: false, mangle: false, codegen: { asciiOnly: true } },
  });
  return output[0];
}

/**
 * A file that was saved meanwhile makes the program stale.
 *
 * @param {string} file
 * @param {number} since
 * @returns {readonly [string, number, number]}
 */
function stateOf(file, since) {
  const { mtimeMs, size } = statSync(file);
  return [file, mtimeMs > since ? 0 : mtimeMs, size];
}
