/**
 * What the servers of the benchmarks say in either era of the protocol: the handshake, a handful of
 * tools and `tools/call`. No checks and no state, so that a measurement is about the client.
 */

/** @param {string} name @param {string} description @param {Record<string, object>} properties */
const tool = (name, description, properties) => ({
  name,
  description,
  inputSchema: { type: "object", properties, required: Object.keys(properties) },
});

export const echo = tool("echo", "Returns its text.", { text: { type: "string" } });
const otherTools = [
  tool("add", "Adds two numbers.", { a: { type: "number" }, b: { type: "number" } }),
  tool("reverse", "Reverses a text.", { text: { type: "string", maxLength: 10_000 } }),
  tool("repeat", "Repeats a text.", {
    text: { type: "string" },
    times: { type: "integer", minimum: 1, maximum: 100 },
  }),
  tool("pick", "Picks one of a list.", { from: { type: "array", items: { type: "string" } } }),
];

/** One of many tools that promise what their results look like, each differently. @param {number} index */
const promisingTool = (index) => ({
  ...tool(`record_${index}`, `Returns record ${index}.`, { id: { type: "string" } }),
  outputSchema: {
    type: "object",
    properties: {
      [`record${index}`]: {
        type: "object",
        properties: {
          id: { type: "string", minLength: 1 },
          amount: { type: "number", minimum: 0 },
          state: { enum: ["new", "open", "closed"] },
          tags: { type: "array", items: { type: "string" }, maxItems: 20 },
        },
        required: ["id", "state"],
      },
      count: { type: "integer" },
    },
    required: [`record${index}`],
  },
});

const promisingEcho = {
  ...echo,
  outputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
};

/** @param {number} outputSchemas how many have one @returns {readonly object[]} */
const usualTools = (outputSchemas) =>
  outputSchemas === 0
    ? [echo, ...otherTools]
    : [promisingEcho, ...Array.from({ length: outputSchemas - 1 }, (_, i) => promisingTool(i))];

const serverInfo = { name: "bench-echo", version: "1.0.0" };
const complete = {
  resultType: "complete",
  _meta: { "io.modelcontextprotocol/serverInfo": serverInfo },
};
const cached = { ...complete, ttlMs: 60_000, cacheScope: "public" };

/**
 * @typedef {"legacy" | "modern"} Era
 *
 * @typedef {object} EchoOptions
 * @property {Era | undefined} [era] the one era the server speaks; legacy by default
 * @property {number | undefined} [answerBytes] a text comes back repeated until it is this long
 * @property {number} [outputSchemas] tools that have one, `echo` among them
 * @property {readonly object[]} [tools] in place of the usual ones; a list has those of its moment
 * @property {boolean} [reportsChanges] whether it promises to report a change of its list
 *
 * @typedef {(params: any) => object} ResultOf
 * @typedef {(json: string) => string | undefined} Answer takes one JSON-RPC message and returns the
 *   answer as JSON, or nothing for a notification
 */

/** What `echo` makes of a text; measurements compare with it. @param {string} text @param {number} [answerBytes] */
export const echoOf = (text, answerBytes = 0) => text.padEnd(answerBytes, text);

/** @param {EchoOptions} options @param {(text: string) => string} [textOf] what `echo` answers */
export function createAnswer(
  {
    era = "legacy",
    answerBytes,
    outputSchemas = 0,
    tools = usualTools(outputSchemas),
    reportsChanges = false,
  },
  textOf = (text) => echoOf(text, answerBytes),
) {
  const capabilities = { logging: {}, tools: reportsChanges ? { listChanged: true } : {} };
  /** @type {ResultOf} */
  const callResult = ({ arguments: given }) => {
    const text = textOf(given.text);
    const content = [{ type: "text", text }];
    return outputSchemas === 0 ? { content } : { content, structuredContent: { text } };
  };
  /** @type {Record<Era, Record<string, ResultOf>>} by method */
  const eras = {
    legacy: {
      initialize: () => ({ protocolVersion: "2025-11-25", capabilities, serverInfo }),
      ping: () => ({}),
      "logging/setLevel": () => ({}),
      "tools/list": () => ({ tools }),
      "tools/call": callResult,
    },
    modern: {
      "server/discover": () => ({ ...cached, supportedVersions: ["2026-07-28"], capabilities }),
      "tools/list": () => ({ ...cached, tools }),
      "tools/call": (params) => ({ ...complete, ...callResult(params) }),
    },
  };
  const results = eras[era];
  /** @type {Answer} */
  const answer = (json) => {
    const { id, method, params } = JSON.parse(json);
    if (id === undefined) return undefined;
    const result = results[method]?.(params);
    const outcome =
      result === undefined ? { error: { code: -32601, message: "Method not found" } } : { result };
    return JSON.stringify({ jsonrpc: "2.0", id, ...outcome });
  };
  return answer;
}
