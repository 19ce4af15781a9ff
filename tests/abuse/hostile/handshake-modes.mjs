// @ts-check

/** @param {string} name */
function tool(name) {
  return { name, inputSchema: { type: "object" } };
}

/** Handshakes and lists that are wrong or never end. @type {Record<string, import("./modes.mjs").Mode>} */
export const handshakeModes = {
  "wrong-version": ({ version = "1999-01-01" }) => ({
    methods: {
      initialize: (id, _params, peer) =>
        peer.respond(id, {
          protocolVersion: version,
          capabilities: { tools: {} },
          serverInfo: { name: peer.tag, version: "1.0.0" },
        }),
    },
  }),

  /** Errors that name no request, around the right answer. */
  "null-id-errors": ({ n = 3 }) => ({
    onCall(call, peer) {
      const error = { code: -32_700, message: "Parse error" };
      for (let index = 0; index < n; index += 1) peer.send({ jsonrpc: "2.0", id: null, error });
      peer.answer(call);
      peer.send({ jsonrpc: "2.0", error });
    },
  }),

  /** A list whose last page names the first again; a call tells how many pages were asked for. */
  "cursor-loop": () => {
    let pages = 0;
    return {
      onCall: ({ id }, peer) => peer.respond(id, { content: [], structuredContent: { pages } }),
      methods: {
        "tools/list": (id, _params, peer) => {
          pages += 1;
          const tools = pages === 1 ? [tool("echo"), tool("attack")] : [tool(`page-${pages}`)];
          peer.respond(id, { tools, nextCursor: pages % 2 === 0 ? "a" : "b" });
        },
      },
    };
  },

  /** Every call changes the list and says so. */
  "changing-tools": () => {
    let version = 0;
    return {
      onCall(call, peer) {
        version += 1;
        peer.send({ jsonrpc: "2.0", method: "notifications/tools/list_changed" });
        peer.answer(call);
      },
      methods: {
        "tools/list": (id, _params, peer) =>
          peer.respond(id, { tools: [tool("echo"), tool("attack"), tool(`version-${version}`)] }),
      },
    };
  },
};
