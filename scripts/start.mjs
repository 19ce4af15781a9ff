// @ts-check
import path from "node:path";
import { pathToFileURL } from "node:url";

import { bootstrap } from "./bootstrap.mjs";
import { main, root } from "./run.mjs";

const program = path.join(root, "bin", "plugboard.js");

await main(() => bootstrap());
if (process.exitCode === 0) {
  // In this process, not in a child: signals, terminal and exit code are then the command's own.
  process.argv.splice(1, 1, program, "up");
  await import(pathToFileURL(program).href);
}
