// @ts-check
import { text } from "node:stream/consumers";

import { badNames } from "./bad-names.mjs";
import { handshake } from "./line-server.mjs";
import { tool } from "./list-modes.mjs";
import { complete, discovery, toolList } from "./modern-answers.mjs";

/**
 * @typedef {{ id?: string | number, method: string, params?: any }} Message
 * @typedef {import("node:http").IncomingMessage} IncomingMessage
 * @typedef {import("node:http").ServerResponse} ServerResponse
 * @typedef {{ readonly status?: number, readonly headers?: Record<string, string>, readonly body?: object }} Reply the body goes with the id of the message
 */

/**
 * Answers what is POSTed to `/mcp` and nothing else.
 *
 * @param {(message: Message, request: IncomingMessage, body: string) => Reply} answer
 * @param {Record<string, number>} counts
 * @returns {import("./http-site.mjs").HttpBehaviour}
 */
export function answering(answer, counts) {
  /** @param {IncomingMessage} request @param {ServerResponse} response */
  const reply = async (request, response) => {
    const asked = await text(request);
    const message = JSON.parse(asked);
    const { status, headers, body } = answer(message, request, asked);
    const { id } = message;
    const isEmpty = id === undefined || body === undefined;
    response
      .writeHead(status ?? (isEmpty ? 202 : 200), {
        ...headers,
        "content-type": "application/json",
      })
      .end(isEmpty ? "" : JSON.stringify({ jsonrpc: "2.0", id, ...body }));
  };
  return {
    counts,
    onRequest(request, response) {
      if (request.method !== "POST" || request.url !== "/mcp") return false;
      reply(request, response).catch(() => response.destroy());
      return true;
    },
  };
}

/** @param {Message} message @returns {Reply} */
function honest({ method, params }) {
  if (method === "initialize") return { body: { result: handshake("sessions") } };
  if (method === "tools/list") return { body: { result: { tools: toolList.tools } } };
  if (method !== "tools/call")
    return { body: { error: { code: -32_601, message: "Method not found" } } };
  const { message, nonce } = params.arguments ?? {};
  const said = params.name === "echo" ? String(message) : `honest ${nonce}`;
  return { body: { result: { content: [{ type: "text", text: said }] } } };
}

/** Names of sessions that no client should repeat as they are, and one that it may. @type {Record<string, string>} */
const sessionNames = {
  plain: "session-1",
  accents: "caf\u00E9",
  blanks: "one two",
  long: "x".repeat(8_000),
};

/** Names that a header may hold by the rules of the protocol: visible ASCII. */
const usable = /^[\u0021-\u007E]+$/;

/** Sessions that end or mislead, and refusals that invite to try again. @type {Record<string, import("./http-modes.mjs").HttpMode>} */
export const sessionModes = {
  /** Gives its session a name of some `kind`, and other names in later answers, which do not count. */
  "session-evil": ({ kind = "plain" }) => {
    const name = sessionNames[kind] ?? "";
    const expected = usable.test(name) ? name : undefined;
    const counts = { initializes: 0, wrong: 0 };
    return answering((message, request) => {
      const isFirst = message.method === "initialize";
      if (isFirst) counts.initializes += 1;
      else if (message.method !== "server/discover")
        counts.wrong += Number(request.headers["mcp-session-id"] !== expected);
      const headers = { "mcp-session-id": isFirst ? name : `other-${Math.random()}` };
      return { headers, ...honest(message) };
    }, counts);
  },

  /** Forgets every session after so many requests of it, and says so with a status. */
  "session-expire": ({ after = 5, status = 404 }) => {
    const counts = { initializes: 0, refused: 0, executed: 0 };
    let used = 0;
    return answering((message, request) => {
      if (message.method === "initialize") {
        counts.initializes += 1;
        used = 0;
        return { headers: { "mcp-session-id": `s${counts.initializes}` }, ...honest(message) };
      }
      if (message.method === "server/discover") return honest(message);
      used += 1;
      const isKnown = request.headers["mcp-session-id"] === `s${counts.initializes}`;
      if (!isKnown || used > after) {
        counts.refused += 1;
        return { status };
      }
      if (message.method === "tools/call") counts.executed += 1;
      return honest(message);
    }, counts);
  },

  /** Wants other headers in each list, and never those it is sent. */
  "header-mismatch-loop": () => {
    const counts = { calls: 0, lists: 0 };
    return answering(({ method, params }) => {
      if (method === "server/discover") return { body: { result: discovery } };
      if (method === "tools/list") {
        counts.lists += 1;
        const properties = { nonce: { type: "string", "x-mcp-header": `N${counts.lists}` } };
        const [echo] = toolList.tools;
        const attack = { name: "attack", inputSchema: { type: "object", properties } };
        return { body: { result: { ...toolList, tools: [echo, attack] } } };
      }
      if (method === "tools/call" && params.name === "attack") {
        counts.calls += 1;
        return { status: 400, body: { error: { code: -32_020, message: "Header mismatch" } } };
      }
      const { body } = /** @type {any} */ (honest({ method, params }));
      return { body: { result: { ...complete, ...body.result } } };
    }, counts);
  },

  /** Declares headers for arguments: four that no client may send, one of its own, one with a name that means something. */
  "bad-header-schema": () => {
    const counts = { injected: 0, authorization: 0, "param authorization": 0, calls: 0 };
    const declaring = (
      /** @type {string} */ name,
      /** @type {Record<string, object>} */ properties,
    ) => ({
      name,
      inputSchema: { type: "object", properties },
    });
    const value = (/** @type {unknown} */ header, type = "string") => ({
      type,
      "x-mcp-header": header,
    });
    const tools = [
      ...toolList.tools,
      declaring("line_break", { value: value("A\r\nX-Injected") }),
      declaring("colon", { value: value("X-Injected: 1, A") }),
      declaring("twice", { value: value("Same"), other: value("same") }),
      declaring("object", { value: value("X-Injected", "object") }),
      declaring("good", { value: value("Tenant") }),
      declaring("auth", { value: value("Authorization") }),
    ];
    return answering(({ method, params }, { headers }) => {
      counts.injected += Number("x-injected" in headers);
      counts.authorization += Number(headers.authorization !== "Bearer of-the-entry");
      if (method === "server/discover") return { body: { result: discovery } };
      if (method === "tools/list") return { body: { result: { ...toolList, tools } } };
      if (method === "tools/call" && params.name !== "echo") {
        counts.calls += 1;
        counts["param authorization"] += Number("mcp-param-authorization" in headers);
        const structuredContent = { name: params.name, headers };
        return { body: { result: { ...complete, content: [], structuredContent } } };
      }
      const { body } = /** @type {any} */ (honest({ method, params }));
      return { body: { result: { ...complete, ...body.result } } };
    }, counts);
  },

  /** Tools with names that no header may hold as they are; tells which one was called. */
  "bad-names": () => {
    const counts = { injected: 0 };
    const tools = [...toolList.tools, ...Object.values(badNames).map((name) => tool(name))];
    return answering(({ method, params }, { headers }) => {
      counts.injected += Number("x-injected" in headers);
      if (method === "server/discover") return { body: { result: discovery } };
      if (method === "tools/list") return { body: { result: { ...toolList, tools } } };
      const structuredContent = { tag: "web", name: params?.name };
      return { body: { result: { ...complete, content: [], structuredContent } } };
    }, counts);
  },
};
