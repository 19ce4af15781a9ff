import { Agent, type IncomingMessage, request } from "node:http";

import { createError } from "../errors/families.ts";
import type { McpError } from "../errors/mcp-error.ts";

/** Where another process of this user listens, and what it wants to see. */
export interface SocketAddress {
  readonly path: string;
  readonly token: string;
}

export interface SocketRequest {
  readonly method: "GET" | "POST" | "DELETE";
  readonly path: string;
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
}

export interface SocketAnswer {
  readonly status: number;
  /** Undefined for an answer that is no JSON. */
  readonly body: unknown;
}

/** An answer in lines of JSON, as they come. */
export interface SocketStream {
  readonly status: number;
  /** Ends with the answer; throws `connection_lost` when the other process goes in the middle of it. */
  readonly lines: AsyncGenerator<unknown, void>;
  /** Lets go of it: the other process sees that. */
  close(): void;
}

/** More than the largest result of a call in JSON. */
const maxAnswerChars = 64 * 1_024 * 1_024;

/** Sends requests to another process over a local socket. A request is never sent twice. */
export class SocketClient {
  readonly #address: SocketAddress;
  readonly #agent: Agent;

  constructor(address: SocketAddress) {
    this.#address = address;
    this.#agent = new Agent({ keepAlive: true });
  }

  /** Rejects with `unreachable` when nobody listens, and with `connection_lost` when the other process goes. */
  async send(wanted: SocketRequest): Promise<SocketAnswer> {
    const incoming = await this.#open(wanted);
    const text = await readAll(incoming);
    const isJson = incoming.headers["content-type"]?.includes("json") === true;
    return { status: incoming.statusCode ?? 0, body: isJson ? parse(text) : undefined };
  }

  async stream(wanted: SocketRequest): Promise<SocketStream> {
    const incoming = await this.#open(wanted);
    const status = incoming.statusCode ?? 0;
    return {
      status,
      // A refusal is one object.
      lines: status < 400 ? readLines(incoming) : readRefusal(incoming),
      close: () => incoming.destroy(),
    };
  }

  close(): void {
    this.#agent.destroy();
  }

  #open({ method, path, body, signal }: SocketRequest): Promise<IncomingMessage> {
    const { path: socketPath, token } = this.#address;
    const text = body === undefined ? undefined : JSON.stringify(body);
    return new Promise((resolve, reject) => {
      const outgoing = request({
        socketPath,
        path,
        method,
        agent: this.#agent,
        signal,
        headers: {
          host: "plugboard",
          authorization: `Bearer ${token}`,
          ...(text === undefined
            ? {}
            : {
                "content-type": "application/json",
                "content-length": String(Buffer.byteLength(text)),
              }),
        },
      });
      let isSent = false;
      outgoing.on("finish", () => (isSent = true));
      outgoing.on("response", resolve);
      outgoing.on("error", (cause) => reject(failure(cause, { isSent, signal })));
      outgoing.end(text);
    });
  }
}

const goneCodes: ReadonlySet<string> = new Set(["ENOENT", "ECONNREFUSED", "EACCES"]);

function failure(
  cause: NodeJS.ErrnoException,
  { isSent, signal }: { readonly isSent: boolean; readonly signal?: AbortSignal | undefined },
): McpError {
  if (signal?.aborted === true)
    return createError("cancelled", "the request was called off", { cause });
  if (!isSent && goneCodes.has(cause.code ?? ""))
    return createError("unreachable", "no host listens there any more", { cause });
  return hostGone(cause);
}

async function readAll(incoming: IncomingMessage): Promise<string> {
  let text = "";
  for await (const piece of decoded(incoming)) {
    text += piece;
    if (text.length > maxAnswerChars) throw tooLarge(incoming);
  }
  return text;
}

async function* readLines(incoming: IncomingMessage): AsyncGenerator<unknown, void> {
  let rest = "";
  for await (const piece of decoded(incoming)) {
    // A line of megabytes comes in many pieces, and is looked through once.
    if (!piece.includes("\n")) {
      rest += piece;
      if (rest.length > maxAnswerChars) throw tooLarge(incoming);
      continue;
    }
    const lines = `${rest}${piece}`.split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line !== "") yield parse(line);
  }
  if (rest !== "") throw hostGone();
}

async function* readRefusal(incoming: IncomingMessage): AsyncGenerator<unknown, void> {
  const text = await readAll(incoming);
  yield text.startsWith("{") ? parse(text) : {};
}

async function* decoded(incoming: IncomingMessage): AsyncGenerator<string, void> {
  incoming.setEncoding("utf8");
  try {
    for await (const piece of incoming) yield piece as string;
  } catch (cause) {
    throw hostGone(cause);
  }
}

/** What was asked of it may have had an effect; nobody can tell any more. */
function hostGone(cause?: unknown): McpError {
  return createError("connection_lost", "the host that ran here has ended", {
    hint: "typed again, it works without that host; what was under way may have had an effect",
    cause,
  });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw createError("protocol_violation", "the host that runs here sent no JSON", { cause });
  }
}

function tooLarge(incoming: IncomingMessage): McpError {
  incoming.destroy();
  return createError("too_large", "the answer of the host that runs here is too large");
}
