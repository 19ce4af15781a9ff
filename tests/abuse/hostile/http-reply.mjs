// @ts-check
import { pour } from "./line-server.mjs";

/** The answer to one request, as a server that misbehaves needs it. */
export class HttpReply {
  response;
  id;
  args;
  /** Where the request came in, which tells the dialect. */
  path;
  /** Where nobody should ever knock. */
  trap;

  /**
   * @param {import("node:http").ServerResponse} response
   * @param {{ id: string | number, args: Readonly<Record<string, any>>, path: string, trap: string }} request
   */
  constructor(response, { id, args, path, trap }) {
    this.response = response;
    this.id = id;
    this.args = args;
    this.path = path;
    this.trap = trap;
  }

  /** The one right answer, as text. */
  get text() {
    return this.textWith(`honest ${this.args["nonce"]}`);
  }

  /** A result of that text, in the words of the dialect. @param {string} text */
  textWith(text) {
    const result = { content: [{ type: "text", text }] };
    const { id, path } = this;
    return JSON.stringify(
      path.startsWith("/rest") ? { result: text } : { jsonrpc: "2.0", id, result },
    );
  }

  /** Exactly these bytes, past everything that makes an answer well-formed. @param {string | Uint8Array} bytes */
  raw(bytes) {
    this.response.socket?.write(bytes);
  }

  /** @param {number} status @param {import("node:http").OutgoingHttpHeaders} [headers] @param {string} [body] */
  status(status, headers = {}, body = "") {
    this.response.writeHead(status, headers).end(body);
  }

  honest() {
    this.status(200, { "content-type": "application/json" }, this.text);
  }

  /** Begins a body of that type, unless it has begun. @param {string} type @param {import("node:http").OutgoingHttpHeaders} [headers] */
  begin(type, headers = {}) {
    if (this.response.headersSent) return;
    this.response.writeHead(200, { "content-type": type, ...headers });
    this.response.flushHeaders();
  }

  beginEvents() {
    this.begin("text/event-stream");
  }

  /** @param {string} data */
  event(data) {
    this.response.write(`data: ${data}\n\n`);
  }

  /** These pieces one after another, no faster than they are read. @param {Iterable<string | Uint8Array>} pieces */
  pour(pieces) {
    return pour(this.response, pieces);
  }

  /** One piece after another until the other side hangs up. @param {number} everyMs @param {() => string} piece */
  drip(everyMs, piece) {
    const timer = setInterval(() => this.response.write(piece()), everyMs);
    this.response.once("close", () => clearInterval(timer));
  }

  /** Ends the connection in the middle of everything. */
  cut() {
    this.response.socket?.destroy();
  }
}
