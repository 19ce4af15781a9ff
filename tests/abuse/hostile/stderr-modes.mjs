// @ts-check
import { pour } from "./line-server.mjs";

const lineBytes = 1_024;

/** `bytes` in lines, the last of which says so. @param {number} bytes */
function* flood(bytes) {
  const line = `${"z".repeat(lineBytes - 1)}\n`;
  const piece = line.repeat(64);
  for (let left = bytes; left > 0; left -= piece.length) yield piece.slice(0, left);
  yield "\nlast words\n";
}

/** Lines that do something to a terminal, or contain what must not be shown. `EOL` ends the last one. */
const evilLines = [
  "\u001B[2J\u001B[H cleared",
  "\u001B]0;owned\u0007 title",
  "\u001B]52;c;cm0gLXJmIH4=\u0007 clipboard",
  "\u001B]8;;http://evil.test\u0007link\u001B]8;;\u0007",
  "\u009B31m one byte \u0090q\u009C",
  "error\rfine, all good",
  "secret\b\b\b\b\b\bpublic",
  "bidi \u202Egnp.exe and \u2066more\u2069",
  "tags \u{E0041}\u{E0042} and zero\u200Bwidth",
  `token ghp_${"a1B2".repeat(9)}`,
  "key AKIAIOSFODNN7EXAMPLE",
  `Authorization: Bearer ${"c3D4".repeat(10)}`,
  `sk-ant-api03-${"e5F6".repeat(12)}`,
  `ghp_${"a1B2".repeat(4)}\u001B[0m${"a1B2".repeat(5)} broken up`,
  "EOL",
];

/** What is written to stderr. @type {Record<string, import("./modes.mjs").Mode>} */
export const stderrModes = {
  /** As many bytes as the call says, and then the answer. */
  "stderr-flood": () => ({
    async onCall(call, peer) {
      await pour(process.stderr, flood(call.args["bytes"]));
      peer.answer(call);
    },
  }),

  /** Evil lines, and then the answer, or the end of the process if the call asks for it. */
  "stderr-escape": () => ({
    async onCall(call, peer) {
      await pour(
        process.stderr,
        evilLines.map((line) => `${line}\n`),
      );
      if (call.args["exit"] === true) process.exit(1);
      peer.answer(call);
    },
  }),
};
