// @ts-check

const mebibyte = 1_048_576;

/** What launchers, loggers and broken programs leave on stdout: never a message. */
const garbage = [
  "npm warn deprecated: use something else",
  "\u001B[2J\u001B]0;owned\u0007 in colour",
  '{"jsonrpc":"2.0","id":1,"result":{',
  '{jsonrpc: "2.0"}',
  "null",
  "true",
  "42",
  '"a string"',
  "[]",
  "[1, 2, 3]",
  "",
  "   \t ",
  "\u0000\u0000\u0000",
  "}".repeat(1_000),
  Buffer.from([0xff, 0xfe, 0xc3, 0x28, 0x80]),
];

/** One line of `bytes` in all, in pieces. @param {number} bytes */
function* longLine(bytes) {
  const piece = "x".repeat(65_536);
  yield '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"';
  for (let left = bytes; left > 0; left -= piece.length) yield piece.slice(0, left);
  yield '"}}\n';
}

function* endlessLine() {
  const piece = "x".repeat(65_536);
  for (;;) yield piece;
}

/** The answer that repeats the text of the call. @param {import("./line-server.mjs").Call} call */
function repetition({ id, args }) {
  const result = { content: [{ type: "text", text: args["text"] }] };
  return JSON.stringify({ jsonrpc: "2.0", id, result });
}

/** Bytes in unusual amounts, places and pieces. @type {Record<string, import("./modes.mjs").Mode>} */
export const streamModes = {
  /** One line of as many MiB as the call says, and then the answer. */
  "oversize-line": () => ({
    async onCall(call, peer) {
      await peer.pour(longLine(call.args["mib"] * mebibyte));
      peer.answer(call);
    },
  }),

  "endless-line": () => ({
    onCall(_call, peer) {
      void peer.pour(endlessLine());
    },
  }),

  /** Every kind of garbage, then the answer. */
  "garbage-stdout": () => ({
    onCall(call, peer) {
      for (const line of garbage) {
        peer.raw(line);
        peer.raw("\n");
      }
      peer.answer(call);
    },
  }),

  /** Repeats the text of the call in lines that end as on Windows, blank ones between them. */
  crlf: () => ({
    onCall(call, peer) {
      peer.raw(`\r\n\r\n${repetition(call)}\r\n\r\n`);
    },
  }),

  /** Repeats the text of the call in pieces that end inside characters. */
  "split-utf8": () => ({
    async onCall(call, peer) {
      const bytes = Buffer.from(`${repetition(call)}\n`);
      for (let start = 0, size = 1; start < bytes.length; start += size, size = (size % 7) + 1) {
        peer.raw(bytes.subarray(start, start + size));
        // A turn of the loop, so that each piece is a write of its own.
        await new Promise(setImmediate);
      }
    },
  }),

  /** Repeats the text of the call byte by byte, `ms` apart. */
  trickle: ({ ms = 2 }) => ({
    async onCall(call, peer) {
      for (const byte of Buffer.from(`${repetition(call)}\n`)) {
        peer.raw(Uint8Array.of(byte));
        await new Promise((resolve) => setTimeout(resolve, ms));
      }
    },
  }),
};
