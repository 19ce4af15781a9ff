// @ts-check
import { complete, toolList } from "./modern-answers.mjs";

/** A schema that only a worker checks, because it could take 2^n steps, and that any object meets. @param {number} n */
function longSchema(n) {
  /** @type {Record<string, object>} */
  const $defs = { d0: { type: "object" } };
  for (let index = 1; index <= n; index += 1) {
    const ref = { $ref: `#/$defs/d${index - 1}` };
    $defs[`d${index}`] = { allOf: [ref, { allOf: [ref] }] };
  }
  return { type: "object", allOf: [{ $ref: `#/$defs/d${n}` }], $defs };
}

/**
 * What a witness offers: `plain` takes any object, `strict` only one path, `slow` is checked in a worker,
 * `destroy` is asked about each time.
 *
 * @param {string} [header] in which the path is repeated
 */
export function witnessTools(header) {
  const repeated = header === undefined ? {} : { "x-mcp-header": header };
  const taking = (/** @type {object} */ path) => ({
    type: "object",
    properties: { path: { ...path, ...repeated } },
  });
  const tools = [
    ...toolList.tools,
    { name: "plain", inputSchema: taking({ type: "string" }) },
    { name: "strict", inputSchema: taking({ type: "string", enum: ["allowed"] }) },
    { name: "slow", inputSchema: longSchema(9) },
    {
      name: "destroy",
      inputSchema: taking({ type: "string" }),
      annotations: { destructiveHint: true },
    },
  ];
  return { ...toolList, tools };
}

const question = {
  method: "elicitation/create",
  params: {
    mode: "form",
    message: "Go on?",
    requestedSchema: { type: "object", properties: { note: { type: "string" } } },
  },
};

/** Asks somebody in the middle of every call, so that each is sent twice. @param {any} params */
export function witnessResult({ name, arguments: args, requestState }) {
  if (name === "echo") return { ...complete, content: [{ type: "text", text: args.message }] };
  return requestState === undefined
    ? { resultType: "input_required", inputRequests: { question }, requestState: "asked" }
    : { ...complete, content: [{ type: "text", text: "done" }] };
}

/** @param {string} text */
export function isCall(text) {
  return text.includes('"method":"tools/call"');
}
