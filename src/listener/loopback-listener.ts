import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

import { type HttpBindings, RequestError, getRequestListener } from "@hono/node-server";

import { createError } from "../errors/families.ts";
import type { McpError } from "../errors/mcp-error.ts";
import { type FetchHandler, fetchCapped } from "./body-cap.ts";
import { ConnectionTracker } from "./connection-tracker.ts";
import { type ListenerLimits, defaultListenerLimits } from "./listener-limits.ts";
import { type Refusal, judgeRequest } from "./request-gate.ts";

const address = "127.0.0.1";

export interface LoopbackListenerOptions {
  /** Called only for requests that passed the checks; `request.signal` aborts when the client goes. */
  readonly fetch: FetchHandler;
  /** The default 0 lets the system choose. */
  readonly port?: number | undefined;
  /** Origins other than the listener's own that may call it, exactly as a browser sends them. */
  readonly allowedOrigins?: readonly string[] | undefined;
  readonly limits?: Partial<ListenerLimits> | undefined;
  /** What `fetch` threw, or the body of its answer; the client sees only a 500 or a cut connection. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

export interface LoopbackListener {
  /** `http://127.0.0.1:<port>`, without a slash at the end. */
  readonly url: string;
  readonly port: number;
  /** Stops listening, lets running answers end within the grace, cuts the rest. May be called again. */
  close(): Promise<void>;
}

/**
 * The one HTTP listener: bound to 127.0.0.1, closed to other hosts and origins, bounded in body,
 * headers, time and connections. Who may do what is up to the handler: there is no token check here.
 */
export async function listenOnLoopback(
  options: LoopbackListenerOptions,
): Promise<LoopbackListener> {
  const limits = { ...defaultListenerLimits, ...options.limits };
  const allowedOrigins = new Set(options.allowedOrigins);
  const report = options.onError ?? (() => {});
  const tracker = new ConnectionTracker(limits.maxConnectionsPerAddress);

  const answer = getRequestListener(
    async (request, { outgoing }) => {
      const response = await fetchCapped(options.fetch, request, limits.maxBodyBytes);
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
  server.on("connection", (socket) => tracker.admit(socket));
  server.on("request", (incoming, outgoing) => {
    tracker.begin(incoming.socket, outgoing);
    const refusal = judgeRequest(incoming, allowedOrigins);
    if (refusal === undefined) void answer(incoming, outgoing);
    else refuse(outgoing, refusal);
  });

  const port = await listen(server, options.port ?? 0);
  server.on("error", report);

  let closed: Promise<void> | undefined;
  return {
    url: `http://${address}:${port}`,
    port,
    close: () => (closed ??= closeServer(server, tracker, limits.closeGraceMs)),
  };
}

async function listen(server: Server, port: number): Promise<number> {
  try {
    server.listen({ port, host: address });
    await once(server, "listening");
  } catch (cause) {
    throw cannotListen(port, cause);
  }
  return (server.address() as AddressInfo).port;
}

const listenFailures: Readonly<Record<string, string>> = {
  EADDRINUSE: "is already in use by another program",
  EACCES: "is reserved for the administrator of this machine",
  ERR_SOCKET_BAD_PORT: "does not exist (ports are 0 to 65535)",
};

function cannotListen(port: number, cause: unknown): McpError {
  const code = String((cause as NodeJS.ErrnoException).code);
  const reason = listenFailures[code] ?? `could not be opened (${code})`;
  return createError("config_invalid", `Port ${port} on ${address} ${reason}.`, {
    hint: "Choose another port, or port 0 to let the system pick a free one.",
    details: { port, address },
    cause,
  });
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

async function closeServer(
  server: Server,
  tracker: ConnectionTracker,
  graceMs: number,
): Promise<void> {
  const timer = setTimeout(() => tracker.destroyAll(), graceMs);
  await new Promise((resolve) => {
    server.close(resolve);
    tracker.drain();
  });
  clearTimeout(timer);
}
