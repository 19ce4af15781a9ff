// @ts-check
import { once } from "node:events";
import { createInterface } from "node:readline";

/**
 * @typedef {string | number} Id
 *
 * @typedef {object} Call a call of any tool but `echo`
 * @property {Id} id
 * @property {string} name of the tool
 * @property {Readonly<Record<string, any>>} args
 * @property {Id | undefined} progressToken
 *
 * @typedef {object} Behaviour how a mode differs from a server that behaves
 * @property {(call: Call, peer: Peer) => void | Promise<void>} [onCall] answers calls of `attack`, and of what it lists beside
 * @property {(message: { method: string, params?: any }, peer: Peer) => void} [onNotification]
 * @property {(answer: { id: Id, result?: any, error?: any }, peer: Peer) => void} [onAnswer] takes what the client answers
 * @property {(text: string) => void} [onLine] sees every line as it came
 * @property {Record<string, (id: Id, params: any, peer: Peer) => void>} [methods] answers these instead
 * @property {string} [moreTools] entries of the tool list behind its own two, as JSON text
 * @property {number} [startAfterMs] reads nothing before that
 */

const lifetimeMs = 30_000;

/** The client's end of the pipe, as a server that misbehaves needs it. */
export class Peer {
  /** Appears in every honest answer, so that whoever gets it can tell where it came from. */
  tag;

  /** @param {string} tag */
  constructor(tag) {
    this.tag = tag;
  }

  /** Exactly these bytes. @param {string | Uint8Array} bytes */
  raw(bytes) {
    process.stdout.write(bytes);
  }

  /** These pieces one after another, no faster than they are read. @param {Iterable<string | Uint8Array>} pieces */
  pour(pieces) {
    return pour(process.stdout, pieces);
  }

  /** What the client writes from now on piles up in its pipe. */
  stopReading() {
    process.stdin.pause();
  }

  resumeReading() {
    process.stdin.resume();
  }

  /** One line, whatever it says. @param {string} text */
  line(text) {
    this.raw(`${text}\n`);
  }

  /** @param {unknown} message */
  send(message) {
    this.line(JSON.stringify(message));
  }

  /** @param {unknown} id @param {unknown} result */
  respond(id, result) {
    this.send({ jsonrpc: "2.0", id, result });
  }

  /** The one right answer. @param {Call} call */
  answer(call) {
    this.respond(call.id, this.result(call));
  }

  /** @param {Call} call */
  result({ args }) {
    return { content: [{ type: "text", text: `${this.tag} ${args["nonce"]}` }] };
  }
}

/** @param {NodeJS.WritableStream} stream @param {Iterable<string | Uint8Array>} pieces */
export async function pour(stream, pieces) {
  for (const piece of pieces) if (!stream.write(piece)) await once(stream, "drain");
}

/** What a server of the 2025 era answers to `initialize`. @param {string} tag @param {object} [tools] */
export function handshake(tag, tools = {}) {
  return {
    protocolVersion: "2025-11-25",
    capabilities: { tools },
    serverInfo: { name: tag, version: "1.0.0" },
  };
}

/**
 * A server of the 2025 era with two tools: `echo` always behaves, `attack` does what the mode says. It
 * ends with its input, and in any case after half a minute, or when it is told to.
 *
 * @param {string} tag
 * @param {Behaviour} behaviour
 * @param {number} [lifeMs]
 */
export function serve(tag, behaviour, lifeMs = lifetimeMs) {
  const { onCall, onNotification, onAnswer, moreTools = "", startAfterMs = 0 } = behaviour;
  const peer = new Peer(tag);
  const tools = ["echo", "attack"].map((name) =>
    JSON.stringify({ name, description: name, inputSchema: { type: "object" } }),
  );
  const toolList = `[${tools.join(",")}${moreTools === "" ? "" : `,${moreTools}`}]`;

  /** @type {NonNullable<Behaviour["methods"]>} */
  const methods = {
    initialize: (id) => peer.respond(id, handshake(tag)),
    ping: (id) => peer.respond(id, {}),
    "tools/list": (id) =>
      peer.line(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"tools":${toolList}}}`),
    "tools/call": (id, params) => {
      const { name, arguments: args = {}, _meta: meta } = params;
      const call = { id, name, args, progressToken: meta?.progressToken };
      if (name === "echo")
        peer.respond(id, { content: [{ type: "text", text: String(args["message"]) }] });
      else if (onCall === undefined) peer.answer(call);
      else void onCall(call, peer);
    },
    ...behaviour.methods,
  };

  const listen = () =>
    createInterface({ input: process.stdin }).on("line", (text) => {
      behaviour.onLine?.(text);
      const message = JSON.parse(text);
      const { id, method, params } = message;
      if (method === undefined) return onAnswer?.(message, peer);
      if (id === undefined) return onNotification?.({ method, params }, peer);
      const handle = methods[method];
      if (handle !== undefined) return handle(id, params, peer);
      peer.send({ jsonrpc: "2.0", id, error: { code: -32_601, message: "Method not found" } });
    });
  if (startAfterMs === 0) listen();
  else setTimeout(listen, startAfterMs);
  process.stdin.once("end", () => process.exit(0));
  process.stdout.once("error", () => process.exit(0));
  setTimeout(() => process.exit(0), lifeMs);
}
