import type { AddressInfo } from "node:net";

import { createError } from "../errors/families.ts";
import type { McpError } from "../errors/mcp-error.ts";
import type { FetchHandler } from "./body-cap.ts";
import { HttpListener } from "./http-listener.ts";
import { type ListenerLimits, defaultListenerLimits } from "./listener-limits.ts";
import { judgeRequest } from "./request-gate.ts";

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
  const allowedOrigins = new Set(options.allowedOrigins);
  const listener = new HttpListener({
    fetch: options.fetch,
    limits: { ...defaultListenerLimits, ...options.limits },
    judge: (incoming) => judgeRequest(incoming, allowedOrigins),
    clientOf: (socket) => socket.remoteAddress,
    onError: options.onError ?? (() => {}),
  });
  const port = await listen(listener, options.port ?? 0);
  return { url: `http://${address}:${port}`, port, close: () => listener.close() };
}

async function listen(listener: HttpListener, port: number): Promise<number> {
  try {
    return ((await listener.listen({ port, host: address })) as AddressInfo).port;
  } catch (cause) {
    throw cannotListen(port, cause);
  }
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
