// @ts-check

/** As much as a reader gets at once, so that what it does with it adds up. */
const pieceCharacters = 65_536;

/** What a flood consists of, by kind, each made from its index. @type {Record<string, (index: number) => string>} */
const floods = {
  notification: (index) =>
    `data: {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":${index}}}\n\n`,
  junk: () => "data: 1\n\n",
  comment: () => ":\n",
  // Each of these costs a reader more than it costs the server.
  return: () => ":\r",
  field: () => "a\n",
};

/** @param {number} count @param {(index: number) => string} make */
function* pieces(count, make) {
  let text = "";
  for (let index = 0; index < count; index += 1) {
    text += make(index);
    if (text.length < pieceCharacters) continue;
    yield text;
    text = "";
  }
  yield text;
}

/** Streams with too much in them. @type {Record<string, import("./http-modes.mjs").HttpMode>} */
export const httpStreamModes = {
  /** Keeps a stream busy for ever and never answers. */
  "sse-endless": ({ kind = "comment", ms = 20 }) => ({
    isAboutStreams: true,
    onCall(reply) {
      let index = 0;
      reply.beginEvents();
      reply.drip(ms, () => floods[kind]?.((index += 1)) ?? "");
    },
  }),

  /** As many of one kind as the call says, then the answer. */
  "sse-flood": () => ({
    isAboutStreams: true,
    onCall(reply) {
      const { n, kind } = reply.args;
      const make = floods[kind];
      reply.beginEvents();
      if (make !== undefined)
        void reply.pour(pieces(n, make)).then(() => {
          reply.response.write(`\ndata: ${reply.text}\n\n`);
          // The server's own stream outlives the call.
          if (!reply.path.startsWith("/message")) reply.response.end();
        });
    },
  }),

  /** Says first on every stream what it would answer to the calls on all the others. */
  "sse-cross-id": () => {
    /** @type {Record<string, Set<import("./http-reply.mjs").HttpReply>>} */
    const waitingAt = {};
    return {
      onCall(reply) {
        const waiting = (waitingAt[reply.path] ??= new Set());
        reply.beginEvents();
        waiting.add(reply);
        if (waiting.size < reply.args["together"]) return;
        for (const one of waiting)
          for (const other of waiting) {
            const result = { content: [{ type: "text", text: "crossed" }] };
            if (one !== other) one.event(JSON.stringify({ jsonrpc: "2.0", id: other.id, result }));
          }
        for (const one of waiting) {
          one.event(one.text);
          one.response.end();
        }
        waiting.clear();
      },
    };
  },
};
