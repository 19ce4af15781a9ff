import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { ListenOptions, Socket } from "node:net";

import { type HttpBindings, RequestError, getRequestListener } from "@hono/node-server";

import { type FetchHandler, fetchCapped } from "./body-cap.ts";
import { ConnectionTracker } from "./connection-tracker.ts";
import type { ListenerLimits } from "./listener-limits.ts";
import type { Refusal } from "./request-gate.ts";

export interface HttpListenerOptions {
  /** Called only for requests that passed `judge`; `request.signal` aborts when the client goes. */
  readonly fetch: FetchHandler;
  readonly limits: ListenerLimits;
  /** Decides from the head of a request whether it is answered at all. */
  readonly judge: (incoming: IncomingMessage) => Refusal | undefined;
  /** Names whose connection it is, for the limit per client; undefined for one that has gone again. */
  readonly clientOf: (socket: Socket) => string | undefined;
  /** What `fetch` threw, or the body of its answer; the client sees only a 500 or a cut connection. */
  readonly onError: (error: unknown) => void;
}

/**
 * An HTTP server that is bounded in body, headers, time and connections, wherever it listens. It knows nothing of
 * tokens and addresses: `judge` does.
 */
export class HttpListener {
  readonly #server: Server;
  readonly #tracker: ConnectionTracker;
  readonly #options: HttpListenerOptions;
  #closed: Promise<void> | undefined;

  constructor(options: HttpListenerOptions) {
    this.#options = options;
    const { limits, judge, clientOf } = options;
    const tracker = new ConnectionTracker(limits.maxConnectionsPerAddress);
    const server = createServer({
      maxHeaderSize: limits.maxHeaderBytes,
      headersTimeout: limits.headersTimeoutMs,
      requestTimeout: limits.requestTimeoutMs,
      keepAliveTimeout: limits.keepAliveTimeoutMs,
      connectionsCheckingInterval: limits.connectionCheckMs,
      // A missing Host is refused by the gate, like a wrong one.
      requireHostHeader: false,
    });
    server.maxConnections = limits.maxConnections;
    server.on("connection", (socket) => tracker.admit(socket, clientOf(socket)));
    const answer = this.#createAnswer();
    server.on("request", (incoming, outgoing) => {
      tracker.begin(incoming.socket, outgoing);
      const refusal = judge(incoming);
      if (refusal === undefined) void answer(incoming, outgoing);
      else refuse(outgoing, refusal);
    });
    this.#server = server;
    this.#tracker = tracker;
  }

  /** Rejects with the error of the system when that cannot be listened on. */
  async listen(where: ListenOptions): Promise<ReturnType<Server["address"]>> {
    this.#server.listen(where);
    await once(this.#server, "listening");
    this.#server.on("error", this.#options.onError);
    return this.#server.address();
  }

  /** Stops listening, lets running answers end within the grace, cuts the rest. May be called again. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  #createAnswer(): ReturnType<typeof getRequestListener> {
    const { fetch, limits, onError: report } = this.#options;
    return getRequestListener(
      async (request, { outgoing }) => {
        const response = await fetchCapped(fetch, request, limits.maxBodyBytes);
        return cutOnFailure(response, outgoing as HttpBindings["outgoing"], report);
      },
      {
        overrideGlobalObjects: false,
        errorHandler: (error) => {
          if (error instanceof RequestError) return new Response("Bad request.\n", { status: 400 });
          report(error);
          return new Response("Internal error.\n", { status: 500 });
        },
      },
    );
  }

  async #close(): Promise<void> {
    const timer = setTimeout(() => this.#tracker.destroyAll(), this.#options.limits.closeGraceMs);
    await new Promise((resolve) => {
      this.#server.close(resolve);
      this.#tracker.drain();
    });
    clearTimeout(timer);
  }
}

function refuse(outgoing: ServerResponse, { status, text }: Refusal): void {
  outgoing.writeHead(status, { "content-type": "text/plain; charset=utf-8", connection: "close" });
  outgoing.end(`${text}\n`);
}

/**
 * A body that fails half-way must not look complete, and its error is no business of the client: the
 * connection is cut instead.
 */
function cutOnFailure(
  response: Response,
  outgoing: ServerResponse,
  report: (error: unknown) => void,
): Response {
  if (response.body === null) return response;
  const reader = response.body.getReader();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (done) controller.close();
        else controller.enqueue(value);
      } catch (error) {
        report(error);
        outgoing.destroy();
        controller.close();
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
  return new Response(body, response);
}
