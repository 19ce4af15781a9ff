/**
 * What both echo servers say in either era of the protocol: the handshake, a handful of tools and
 * `tools/call`. No checks and no state, so that a measurement is about the client.
 */

/** @param {string} name @param {string} description @param {Record<string, object>} properties */
const tool = (name, description, properties) => ({
  name,
  description,
  inputSchema: { type: "object", properties, required: Object.keys(properties) },
});

const tools = [
  tool("echo", "Returns its text.", { text: { type: "string" } }),
  tool("add", "Adds two numbers.", { a: { type: "number" }, b: { type: "number" } }),
  tool("reverse", "Reverses a text.", { text: { type: "string", maxLength: 10_000 } }),
  tool("repeat", "Repeats a text.", {
    text: { type: "string" },
    times: { type: "integer", minimum: 1, maximum: 100 },
  }),
  tool("pick", "Picks one of a list.", { from: { type: "array", items: { type: "string" } } }),
];

/** @typedef {Record<string, (params: any) => object>} Answers by method */

const serverInfo = { name: "bench-echo", version: "1.0.0" };
const capabilities = { tools: {} };

/** @type {Answers} */
const legacy = {
  initialize: () => ({ protocolVersion: "2025-11-25", capabilities, serverInfo }),
  ping: () => ({}),
  "tools/list": () => ({ tools }),
  "tools/call": ({ arguments: { text } }) => ({ content: [{ type: "text", text }] }),
};

const complete = {
  resultType: "complete",
  _meta: { "io.modelcontextprotocol/serverInfo": serverInfo },
};
const cached = { ...complete, ttlMs: 60_000, cacheScope: "public" };

/** @type {Answers} */
const modern = {
  "server/discover": () => ({ ...cached, supportedVersions: ["2026-07-28"], capabilities }),
  "tools/list": () => ({ ...cached, tools }),
  "tools/call": ({ arguments: { text } }) => ({ ...complete, content: [{ type: "text", text }] }),
};

/**
 * @typedef {keyof typeof eras} Era
 * @typedef {(json: string) => string | undefined} Answer takes one JSON-RPC message and returns the
 *   answer as JSON, or nothing for a notification
 */
const eras = { legacy, modern };

/** @param {string | undefined} era @returns {Answer} */
export function createAnswer(era) {
  const results = eras[/** @type {Era} */ (era)];
  return (json) => {
    const { id, method, params } = JSON.parse(json);
    if (id === undefined) return undefined;
    const result = results[method]?.(params);
    const outcome =
      result === undefined ? { error: { code: -32601, message: "Method not found" } } : { result };
    return JSON.stringify({ jsonrpc: "2.0", id, ...outcome });
  };
}
