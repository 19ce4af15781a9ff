"use strict";

const fs = require("node:fs");
const path = require("node:path");
const vm = require("node:vm");

const { readCompiled, writeCompiled } = require("./compiled-code.js");

/**
 * What loads the scripts in a folder, by `require` of one another. They are compiled as they were the last time, which
 * takes half of the CPU time off a short command: the engine's compiled code of all of them is kept in a file for each
 * of the commands that are typed most, with the functions that such a command runs, and in one for all others.
 *
 * @param {string} folder
 * @param {readonly string[]} words of the command
 * @returns {(script: string) => any}
 */
function loadScripts(folder, words) {
  const kept = readCompiled(words);
  /** @type {Map<string, { exports: object, script: vm.Script, identity: string }>} */
  const loaded = new Map();
  let build = "";
  let isComplete = true;

  /** @param {string} request */
  const load = (request) => {
    if (!request.startsWith("./")) return require(request);
    const known = loaded.get(request);
    if (known !== undefined) return known.exports;
    const file = path.join(folder, request);
    const { text, stamp } = readScript(file);
    if (loaded.size === 0) build = text.slice(0, text.indexOf("\n"));
    const identity = `${build} ${stamp}`;
    const found = kept.scripts.get(request);
    const cachedData = found?.identity === identity ? found.data : undefined;
    const script = new vm.Script(
      // On the first line, so that those of the file keep their numbers.
      `(function (exports, require, module, __filename, __dirname) { "use strict"; ${text}\n})`,
      {
        filename: file,
        cachedData,
        importModuleDynamically: vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
      },
    );
    if (cachedData === undefined || script.cachedDataRejected === true) isComplete = false;
    const module = { exports: {}, script, identity };
    loaded.set(request, module);
    script.runInThisContext()(module.exports, load, module, file, folder);
    return module.exports;
  };

  process.on("exit", (code) => {
    // A command that failed has run less of the code than one that does its work.
    if (code === 0 && !isComplete) writeCompiled(kept, loaded);
  });
  return load;
}

/**
 * The engine recognizes a script by its length alone. A file that was edited has another time; npm gives all files of all
 * packages the same, so the file that is loaded first begins with a hash of the build.
 *
 * @param {string} file
 */
function readScript(file) {
  const descriptor = fs.openSync(file, "r");
  try {
    const { size, mtimeMs } = fs.fstatSync(descriptor);
    const text = fs.readFileSync(descriptor, "latin1");
    return { text, stamp: `${mtimeMs} ${size}` };
  } finally {
    fs.closeSync(descriptor);
  }
}

module.exports = { loadScripts };
