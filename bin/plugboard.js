#!/usr/bin/env node
"use strict";

// CommonJS, because the loader of ES modules alone takes a quarter of the CPU time of a bare start of Node.
const { existsSync, readFileSync, writeSync } = require("node:fs");
const path = require("node:path");

const words = process.argv.slice(2);
const entry = path.join(__dirname, "..", "dist", "cli", "main.js");

if (words.length === 1 && (words[0] === "--version" || words[0] === "-V")) {
  // Asked by scripts and shells all the time: nothing but this file is loaded for it, not even a stream to write to.
  const manifest = readFileSync(path.join(__dirname, "..", "package.json"), "utf8");
  writeSync(1, `${JSON.parse(manifest).version}\n`);
} else if (existsSync(entry)) {
  keepCompiledCode();
  void import(entry).then(({ main }) => main(words));
} else {
  process.stderr.write("plugboard is not built yet. Run: npm run build\n");
  process.exitCode = 1;
}

/**
 * Newer Nodes keep what they have compiled for the next start, which takes 25 ms of 107 off `list`. It goes to the
 * user's own folder once there is one, and not to the folder for temporary files: whoever can write there could put
 * code of theirs into it.
 */
function keepCompiledCode() {
  const { enableCompileCache } = require("node:module");
  if (enableCompileCache === undefined) return;
  const named = process.env["PLUGBOARD_HOME"] || "";
  const folder = named === "" ? path.join(require("node:os").homedir(), ".plugboard") : named;
  if (existsSync(folder)) enableCompileCache(path.join(folder, "cache"));
}
