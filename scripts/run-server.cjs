// @ts-check
"use strict";

// The program behind a bundled server while the sources run: one script of it where that fits them, which the tests see
// to and which starts in a third of the time; else `dist`, else the sources themselves.
const path = require("node:path");

const { findProgram, runCompiled } = require("./run-compiled.cjs");

const program = findProgram(path.join(__dirname, "..", ".bootstrap", "programs", "run-stdio"));
if (program === undefined) void runOtherwise();
else runCompiled(program);

async function runOtherwise() {
  const { isBuilt } = await import("./build-dist.mjs");
  if (isBuilt()) {
    // By its path, because the types are checked before there is a build.
    await import(path.join(__dirname, "..", "dist", "testing", "run-stdio.js"));
    return;
  }
  const { register } = await import("tsx/esm/api");
  register();
  await import("../src/testing/run-stdio.ts");
}
