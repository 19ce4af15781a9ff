// @ts-check
import { createServer } from "node:http";
import { text } from "node:stream/consumers";

import { HttpReply } from "./http-reply.mjs";

/**
 * @typedef {import("node:http").IncomingMessage} IncomingMessage
 * @typedef {import("node:http").ServerResponse} ServerResponse
 * @typedef {{ id: string | number, method: string, params: any }} RpcRequest
 *
 * @typedef {object} HttpBehaviour how a mode differs from a server that behaves
 * @property {(reply: HttpReply) => void} [onCall] answers calls of `attack`
 * @property {boolean} [isAboutStreams] attacks the server's own stream where a transport has one
 * @property {(request: IncomingMessage, response: ServerResponse, trap: string) => boolean} [onRequest] true when it took the request, before its body was read
 * @property {(trap: string) => string} [endpoint] where it wants the messages of the dialect with a stream of its own
 * @property {(port: number) => Promise<number>} [front] opens the port that is told instead of the site's own
 * @property {Readonly<Record<string, number>>} [counts] what it has seen beyond the report
 * @property {(order: any) => void} [onOrder] takes what a row says in the middle of it
 *
 * @typedef {object} SiteReport
 * @property {number} requests all that came, whatever they were about
 * @property {number} calls requests for the tool `attack`
 * @property {number} repeated those among them that came before, by their nonce
 * @property {number} open attacked answers that are neither complete nor cut off
 * @property {number} sockets open connections
 * @property {number} trapped requests that no configuration asked for
 * @property {Readonly<Record<string, number>>} [counts] of the mode itself
 */

const lifetimeMs = 30_000;
const here = "127.0.0.1";

/**
 * A server of the 2025 era on a free port that speaks every dialect, each at its own path, with the
 * tools `echo`, which behaves, and `attack`. It ends with whoever started it, and in any case after
 * half a minute.
 *
 * @param {HttpBehaviour} behaviour
 * @param {{ at?: string, lifeMs?: number }} settings
 */
export async function serveHttp(behaviour, { at = "call", lifeMs = lifetimeMs }) {
  const site = new Site(behaviour, at === "handshake");
  const server = createServer((request, response) => site.take(request, response));
  server.on("connection", (socket) => site.connected(socket));
  const trap = createServer((_request, response) => site.trapped(response));
  const [port, trapPort] = await Promise.all([listen(server), listen(trap)]);
  site.trapOrigin = `http://${here}:${trapPort}`;
  const publicPort = (await behaviour.front?.(port)) ?? port;
  process.on("message", (/** @type {any} */ { question, order }) => {
    if (order !== undefined) behaviour.onOrder?.(order);
    process.send?.({ question, report: { ...site.report, counts: behaviour.counts } });
  });
  process.once("disconnect", () => process.exit(0));
  setTimeout(() => process.exit(0), lifeMs);
  process.send?.({ port: publicPort });
}

/** @param {import("node:http").Server} server @returns {Promise<number>} */
function listen(server) {
  return new Promise((resolve) => {
    server.listen(0, here, () => {
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : 0);
    });
  });
}

const json = { "content-type": "application/json" };
const tools = ["echo", "attack"].map((name) => ({ name, inputSchema: { type: "object" } }));
/** @type {Record<string, object>} */
const honestAnswers = {
  initialize: {
    result: {
      protocolVersion: "2025-11-25",
      capabilities: { tools: {} },
      serverInfo: { name: "hostile", version: "1.0.0" },
    },
  },
  "tools/list": { result: { tools } },
};
const methodNotFound = { error: { code: -32_601, message: "Method not found" } };

/** @param {ServerResponse} response @param {unknown} value */
function sendJson(response, value) {
  response.writeHead(200, json).end(JSON.stringify(value));
}

/** Keeps account of what is asked and answers it. */
class Site {
  trapOrigin = "";
  /** @type {SiteReport} */
  report = { requests: 0, calls: 0, repeated: 0, open: 0, sockets: 0, trapped: 0 };
  #behaviour;
  #attacksHandshake;
  /** @type {Set<string>} */
  #nonces = new Set();
  /** The server's own streams, in the dialect that has them, by where their messages go. @type {Map<string, ServerResponse>} */
  #streams = new Map();

  /** @param {HttpBehaviour} behaviour @param {boolean} attacksHandshake */
  constructor(behaviour, attacksHandshake) {
    this.#behaviour = behaviour;
    this.#attacksHandshake = attacksHandshake;
  }

  /** @param {import("node:net").Socket} socket */
  connected(socket) {
    this.report.sockets += 1;
    socket.once("close", () => (this.report.sockets -= 1));
    socket.on("error", () => {});
  }

  /** @param {ServerResponse} response */
  trapped(response) {
    this.report.trapped += 1;
    response.writeHead(404).end();
  }

  /** @param {IncomingMessage} request @param {ServerResponse} response */
  take(request, response) {
    this.report.requests += 1;
    request.on("error", () => {});
    response.on("error", () => {});
    if (this.#behaviour.onRequest?.(request, response, this.trapOrigin))
      return this.#watch(response);
    switch (`${request.method} ${request.url}`) {
      case "POST /mcp":
      case "POST /post":
        return this.#read(request, response);
      case "GET /sse":
        return this.#openStream(response);
      case "GET /rest/health":
        return sendJson(response, { status: "ok" });
      case "GET /rest/tools":
        return sendJson(response, { tools });
      case "POST /rest/tools/call":
        return this.#read(request, response);
      case "GET /mcp":
      case "DELETE /mcp":
        return void response.writeHead(405).end();
      default:
        if (this.#streams.has(String(request.url))) this.#read(request, response);
        else this.trapped(response);
    }
  }

  /** @param {ServerResponse} response */
  #openStream(response) {
    const path = `/message/${this.#streams.size}`;
    this.#streams.set(path, response);
    const endpoint = this.#behaviour.endpoint?.(this.trapOrigin) ?? path;
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(`event: endpoint\ndata: ${endpoint}\n\n`);
  }

  /** @param {IncomingMessage} request @param {ServerResponse} response */
  #read(request, response) {
    const path = String(request.url);
    text(request)
      .then((body) => {
        const message = JSON.parse(body);
        const isRest = path === "/rest/tools/call";
        this.#answer(isRest ? { id: 0, method: "tools/call", params: message } : message, {
          response,
          path,
        });
      })
      .catch(() => response.destroy());
  }

  /** @param {RpcRequest} message @param {{ response: ServerResponse, path: string }} from */
  #answer({ id, method, params }, { response, path }) {
    if (id === undefined) return void response.writeHead(202).end();
    const args = params?.arguments ?? {};
    const request = { id, args, path, trap: this.trapOrigin };
    const isAttack = method === "tools/call" && params.name === "attack";
    if (isAttack) this.#count(args);
    if (isAttack || this.#attacksHandshake) {
      const stream = this.#behaviour.isAboutStreams ? this.#streams.get(path) : undefined;
      if (stream !== undefined) response.writeHead(202).end();
      else this.#watch(response);
      return this.#attack(new HttpReply(stream ?? response, request));
    }
    const reply = new HttpReply(response, request);
    if (method === "tools/call") reply.status(200, json, reply.textWith(String(args["message"])));
    else sendJson(response, { jsonrpc: "2.0", id, ...(honestAnswers[method] ?? methodNotFound) });
  }

  /** @param {HttpReply} reply */
  #attack(reply) {
    if (this.#behaviour.onCall === undefined) reply.honest();
    else this.#behaviour.onCall(reply);
  }

  /** @param {Readonly<Record<string, any>>} args */
  #count({ nonce }) {
    this.report.calls += 1;
    if (this.#nonces.has(nonce)) this.report.repeated += 1;
    this.#nonces.add(nonce);
  }

  /** @param {ServerResponse} response */
  #watch(response) {
    this.report.open += 1;
    response.once("close", () => (this.report.open -= 1));
  }
}
