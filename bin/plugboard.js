#!/usr/bin/env node
"use strict";

// CommonJS, because the loader of ES modules alone takes a quarter of the CPU time of a bare start of Node.
const fs = require("node:fs");
const path = require("node:path");

const words = process.argv.slice(2);
const folder = path.join(__dirname, "..", "dist", "cli");

if (words.length === 1 && (words[0] === "--version" || words[0] === "-V")) {
  // Asked by scripts and shells all the time: nothing but this file is loaded for it, not even a stream to write to.
  const manifest = fs.readFileSync(path.join(__dirname, "..", "package.json"), "utf8");
  fs.writeSync(1, `${JSON.parse(manifest).version}\n`);
} else if (fs.existsSync(path.join(folder, "main.cjs"))) {
  const { loadScripts } = require("./load-scripts.js");
  void loadScripts(folder, words)("./main.cjs").main(words);
} else {
  process.stderr.write("plugboard is not built yet. Run: npm run build\n");
  process.exitCode = 1;
}
