// @ts-check

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
