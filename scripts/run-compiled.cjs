// @ts-check
"use strict";

const fs = require("node:fs");
const { createRequire } = require("node:module");
const path = require("node:path");
const vm = require("node:vm");

/**
 * What `bundle-program.mjs` has written about a program: its script, and the files that it was made of.
 *
 * @typedef {object} Bundled
 * @property {string} script
 * @property {readonly (readonly [file: string, mtimeMs: number, size: number])[]} inputs
 */

/**
 * The script in the folder of a program; undefined where it was made of other files than there are now.
 *
 * @param {string} folder
 * @returns {string | undefined}
 */
function findProgram(folder) {
  try {
    /** @type {Bundled} */
    const { script, inputs } = JSON.parse(
      fs.readFileSync(path.join(folder, "made-of.json"), "utf8"),
    );
    for (const [file, mtimeMs, size] of inputs) {
      const stats = fs.statSync(file);
      if (stats.mtimeMs !== mtimeMs || stats.size !== size) return undefined;
    }
    return path.join(folder, script);
  } catch {
    return undefined;
  }
}

/**
 * Runs such a script as its last run has compiled it: before version 22 Node keeps nothing of that itself. The name of
 * a script changes with its text, so that the code beside it is always its own.
 *
 * @param {string} file
 */
function runCompiled(file) {
  const codeFile = `${file}-${process.version}-${process.arch}.code`;
  const cachedData = fs.existsSync(codeFile) ? fs.readFileSync(codeFile) : undefined;
  const script = new vm.Script(
    `(function (exports, require, module, __filename, __dirname) { ${fs.readFileSync(file, "latin1")}\n})`,
    {
      filename: file,
      cachedData,
      importModuleDynamically: vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    },
  );
  if (cachedData === undefined || script.cachedDataRejected === true)
    process.on("exit", (code) => {
      if (code === 0) keep(codeFile, script.createCachedData());
    });
  const module = { exports: {} };
  script.runInThisContext()(module.exports, createRequire(file), module, file, path.dirname(file));
}

/** Other processes may read it at the same time. @param {string} file @param {Buffer} code */
function keep(file, code) {
  const unfinished = `${file}.${process.pid}`;
  fs.writeFileSync(unfinished, code);
  fs.renameSync(unfinished, file);
}

module.exports = { findProgram, runCompiled };
