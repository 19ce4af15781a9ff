// @ts-check
/** What a server of the modern era answers, as plain data. */

export const complete = { resultType: "complete" };

export const discovery = {
  ...complete,
  supportedVersions: ["2026-07-28"],
  capabilities: { tools: {} },
};

export const toolList = {
  ...complete,
  tools: ["echo", "attack"].map((name) => ({ name, inputSchema: { type: "object" } })),
  ttlMs: 0,
  cacheScope: "private",
};

/** Its handshake and its list. @type {NonNullable<import("./line-server.mjs").Behaviour["methods"]>} */
export const modernMethods = {
  "server/discover": (id, _params, peer) => peer.respond(id, discovery),
  "tools/list": (id, _params, peer) => peer.respond(id, toolList),
};
