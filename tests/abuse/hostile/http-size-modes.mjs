// @ts-check
import { constants, crc32, deflateRawSync } from "node:zlib";

import { pour } from "./line-server.mjs";

const mib = 2 ** 20;
const piece = Buffer.alloc(mib, "a");

/** A MiB when put together. */
const tinyChunks = Buffer.alloc(6 * mib, "1\r\na\r\n");

/** A MiB each. @type {Record<string, Buffer>} */
const eventPieces = {
  lines: Buffer.from(`data: ${"a".repeat(1_017)}\n`.repeat(1_024)),
  "empty lines": Buffer.alloc(mib, "data\n"),
};

/** @param {number} count @param {Uint8Array} bytes */
function* repeat(count, bytes) {
  for (let index = 0; index < count; index += 1) yield bytes;
}

/**
 * What inflates to `head`, as many MiB of letters and `tail`, at next to no cost for whoever sends it.
 *
 * @param {string} head @param {number} sizeMib @param {string} tail
 */
function* gzipBomb(head, sizeMib, tail) {
  yield Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]);
  const flushed = { finishFlush: constants.Z_FULL_FLUSH };
  yield deflateRawSync(head, flushed);
  yield* repeat(sizeMib, deflateRawSync(piece, flushed));
  yield deflateRawSync(tail);
  let sum = crc32(head);
  for (const bytes of repeat(sizeMib, piece)) sum = crc32(bytes, sum);
  const trailer = Buffer.alloc(8);
  trailer.writeUInt32LE(crc32(tail, sum), 0);
  trailer.writeUInt32LE((head.length + sizeMib * mib + tail.length) % 2 ** 32, 4);
  yield trailer;
}

/** The right answer around a text that is yet to come. @param {import("./http-reply.mjs").HttpReply} reply */
function around(reply) {
  const [head = "", tail = ""] = reply.textWith("|").split("|");
  return { head, tail };
}

/** Answers of `mib` MiB. @type {Record<string, import("./http-modes.mjs").HttpMode>} */
export const httpSizeModes = {
  /** As JSON or as the event of a stream. */
  "gzip-bomb": ({ mib: sizeMib, as = "json" }) => ({
    onCall(reply) {
      const { head, tail } = around(reply);
      const isStream = as === "event";
      reply.begin(isStream ? "text/event-stream" : "application/json", {
        "content-encoding": "gzip",
      });
      const bomb = gzipBomb(
        isStream ? `data: ${head}` : head,
        sizeMib,
        isStream ? `${tail}\n\n` : tail,
      );
      void reply.pour(bomb).then(() => reply.response.end());
    },
  }),

  /** A body in chunks of one byte each, which cost a reader far more than they hold. */
  "tiny-chunks": ({ mib: sizeMib, as = "json" }) => ({
    onCall(reply) {
      const { head } = around(reply);
      const isStream = as === "event";
      const type = isStream ? "text/event-stream" : "application/json";
      const begin = isStream ? `data: ${head}` : head;
      reply.raw(`HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\ntransfer-encoding: chunked\r\n\r\n`);
      reply.raw(`${begin.length.toString(16)}\r\n${begin}\r\n`);
      const { socket } = reply.response;
      if (socket !== null) pour(socket, repeat(sizeMib, tinyChunks)).catch(() => {});
    },
  }),

  /** One event: in one line, in lines that each look harmless, or in lines that hold nothing. */
  "sse-huge-event": ({ mib: sizeMib, as = "line" }) => ({
    isAboutStreams: true,
    onCall(reply) {
      const { head, tail } = around(reply);
      const bytes = eventPieces[as] ?? piece;
      const isOneLine = as === "line";
      reply.beginEvents();
      reply.response.write(`data: ${head}${isOneLine ? "" : "\n"}`);
      void reply.pour(repeat(sizeMib, bytes)).then(() => {
        reply.response.end(`${isOneLine ? "" : "data: "}${tail}\n\n`);
      });
    },
  }),
};
