#!/usr/bin/env node
import { existsSync, readFileSync } from "node:fs";

const words = process.argv.slice(2);
const entry = new URL("../dist/cli/main.js", import.meta.url);

if (words.length === 1 && (words[0] === "--version" || words[0] === "-V")) {
  // Asked by scripts and shells all the time: nothing but this file is loaded for it.
  const manifest = readFileSync(new URL("../package.json", import.meta.url), "utf8");
  process.stdout.write(`${JSON.parse(manifest).version}\n`);
} else if (existsSync(entry)) {
  const { main } = await import(entry.href);
  await main(words);
} else {
  process.stderr.write("plugboard is not built yet. Run: npm run build\n");
  process.exitCode = 1;
}
