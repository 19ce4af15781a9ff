// @ts-check
import { randomBytes } from "node:crypto";
import { gzipSync } from "node:zlib";

const noise = `data: ${"1".repeat(50)}\n\n`.repeat(2_000);

/** What arrives faster than it is read, by what it is. @type {Record<string, { readonly headers: string, readonly body: Buffer }>} */
const floods = {
  events: { headers: "content-type: text/event-stream", body: Buffer.from(noise) },
  gzip: {
    headers: "content-type: application/json\r\ncontent-encoding: gzip",
    body: gzipSync(Buffer.concat([randomBytes(100_000), Buffer.alloc(8 * 2 ** 20)])),
  },
};

/** Connections that end when they should not. @type {Record<string, import("./http-modes.mjs").HttpMode>} */
export const httpEndModes = {
  /** Announces another length than it sends: more and then silence, more and then the end, or less. */
  "content-length-lie": () => ({
    onCall(reply) {
      const { lie } = reply.args;
      const length = reply.text.length + (lie === "less" ? -10 : 10);
      reply.raw(
        `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n${reply.text}`,
      );
      if (lie === "end") reply.response.socket?.end();
    },
  }),

  /** Does what it is asked and breaks off in the middle of saying so. */
  "drop-mid-body": () => ({
    onCall(reply) {
      reply.begin("application/json", { "content-length": reply.text.length });
      reply.response.write(reply.text.slice(0, 20), () => reply.cut());
    },
  }),

  /** Does what it is asked and says nothing. */
  "reset-on-post": () => ({ onCall: (reply) => reply.response.socket?.resetAndDestroy() }),

  /** A flood in a body without an end of its own, whose connection ends while much of it is unread. */
  "cut-flood": () => ({
    onCall(reply) {
      const { of, how, ms } = reply.args;
      const { headers, body } = floods[of] ?? { headers: "", body: Buffer.alloc(0) };
      reply.raw(`HTTP/1.1 200 OK\r\n${headers}\r\nconnection: close\r\n\r\n`);
      const end = () => {
        if (how === "reset") reply.response.socket?.resetAndDestroy();
        else reply.response.socket?.end();
      };
      reply.response.socket?.write(body.subarray(0, body.length - 100), () => setTimeout(end, ms));
    },
  }),

  /** Ends the stream, cleanly or not, before the answer; with event ids it may be resumed, in vain. */
  "sse-drop": ({ ids = 0, how = "end" }) => ({
    isAboutStreams: true,
    onCall(reply) {
      reply.beginEvents();
      const notification = {
        jsonrpc: "2.0",
        method: "notifications/message",
        params: { level: "info", data: "" },
      };
      const id = ids === 0 ? "" : `id: ${reply.id}\nretry: 1\n`;
      reply.response.write(`${id}data: ${JSON.stringify(notification)}\n\n`, () => {
        if (how === "end") reply.response.end();
        else reply.cut();
      });
    },
  }),
};
