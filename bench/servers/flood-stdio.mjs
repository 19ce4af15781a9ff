import { createAnswer } from "./echo-answers.mjs";
import { answerLines } from "./line-loop.mjs";

// From its first call on this server writes log messages as fast as they are read, without an end. A
// call is answered with the number of those written before the answer.

const perWrite = 500;
const burst = Array.from({ length: perWrite }, (_, index) =>
  JSON.stringify({
    jsonrpc: "2.0",
    method: "notifications/message",
    params: {
      level: "info",
      logger: "flood",
      data: `message ${index} of a server that cannot stop`,
    },
  }),
);
const bytes = Buffer.from(`${burst.join("\n")}\n`);

let written = 0;
let isFlooding = false;

function flood() {
  // The next write waits for the last one: whoever does not read slows the server down.
  process.stdout.write(bytes, () => setImmediate(flood));
  written += perWrite;
}

answerLines(
  createAnswer({}, () => {
    if (!isFlooding) setImmediate(flood);
    isFlooding = true;
    return String(written);
  }),
);
process.stdin.on("end", () => process.exit(0));
