// @ts-check
import { readFileSync, writeSync } from "node:fs";
import { createInterface } from "node:readline";

import { ScriptPlayer } from "./script-player.mjs";

// A server over stdio that plays the transcript in the file it is given:
//   stdio-peer <file>
// After each message of the client it says how many it has dealt with, in a line that is no message
// of the protocol and never reaches the client under test.
const { reactions } = JSON.parse(readFileSync(process.argv[2] ?? "", "utf8"));
const player = new ScriptPlayer(reactions, { send: writeLine, end: () => process.exit(0) });
let receivedCount = 0;

createInterface({ input: process.stdin }).on("line", (line) => {
  receivedCount += 1;
  player.react(player.arrive(JSON.parse(line)));
  writeLine(JSON.stringify({ oracle: { received: receivedCount } }));
});

/** Written before this returns, so that nothing is lost when the script ends the process. @param {string} line */
function writeLine(line) {
  let rest = Buffer.from(`${line}\n`);
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(1, rest));
    } catch (error) {
      if (/** @type {NodeJS.ErrnoException} */ (error).code !== "EAGAIN") throw error;
    }
  }
}
