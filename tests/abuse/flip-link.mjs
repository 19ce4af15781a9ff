// Turns a link between two targets as fast as it can, until its input ends: node flip-link.mjs <link> <one> <other>
import { renameSync, symlinkSync } from "node:fs";

const [link = "", ...targets] = process.argv.slice(2);
let turns = 0;
let isOver = false;
process.stdin.resume().on("end", () => {
  isOver = true;
});
process.stdout.write("ready\n");

function flip() {
  if (isOver) return;
  for (let count = 0; count < 20; count += 1) {
    symlinkSync(targets[turns % 2] ?? "", `${link}.next`);
    // Replaces the link in one step, so that it is never missing.
    renameSync(`${link}.next`, link);
    turns += 1;
  }
  setImmediate(flip);
}
flip();
