import { request as startRequest } from "node:http";
import type { Socket } from "node:net";

import type { Dispatcher, buildConnector } from "undici";

import { createError } from "../../errors/families.ts";
import { McpError } from "../../errors/mcp-error.ts";
import type { HttpProxy } from "./choose-proxy.ts";
import { dialAddresses } from "./dial-addresses.ts";
import { type Passage, type RouteParts, type Route, directRoute } from "./guarded-connector.ts";
import { type NetworkPolicy, withoutBrackets } from "./network-policy.ts";

/** The host's own environment names the proxy; only what nobody may reach is refused. */
const proxyPolicy: NetworkPolicy = {
  namedBy: "configuration",
  loopback: true,
  privateNetwork: true,
};

/**
 * The way to `origin` through `proxy`: https: in a tunnel, at whose far end TLS ends as usual, http:
 * by handing the proxy each request.
 */
export function proxyPassage(origin: string, proxy: HttpProxy, parts: RouteParts): Passage {
  const dialProxy = proxyRoute(proxy, parts);
  if (origin.startsWith("https:"))
    return { origin, route: tunnelRoute(proxy, dialProxy, parts.connect) };
  return {
    origin: proxy.url.origin,
    route: dialProxy,
    interceptor: forwardThrough(proxy, origin),
  };
}

/** The connection to the proxy itself, whatever the target. */
function proxyRoute(proxy: HttpProxy, parts: RouteParts): Route {
  const dial = directRoute(proxyPolicy, parts);
  const { protocol, host, hostname, port } = proxy.url;
  return async (_target, signal) => {
    try {
      return await dial({ protocol, host, hostname: withoutBrackets(hostname), port }, signal);
    } catch (cause) {
      if (signal.aborted || McpError.is(cause)) throw cause;
      const { code } = cause as { readonly code?: unknown };
      throw proxyError(proxy, "cannot be reached", { errorCode: code, cause });
    }
  };
}

function tunnelRoute(proxy: HttpProxy, dialProxy: Route, connect: buildConnector.connector): Route {
  return async (target, signal) => {
    const socket = await dialProxy(target, signal);
    try {
      await openTunnel(socket, { proxy, target, signal });
      // One "address": the connection that is already there.
      const tunnelled = { ...target, httpSocket: socket };
      return await dialAddresses([target.hostname], tunnelled, connect, signal);
    } catch (error) {
      socket.destroy();
      throw error;
    }
  };
}

/** Makes requests as a proxy wants them: the whole URL, and who is asking. */
function forwardThrough(proxy: HttpProxy, origin: string): Dispatcher.DispatcherComposeInterceptor {
  const { host } = new URL(origin);
  const { authorization } = proxy;
  const added = authorization === undefined ? [] : ["proxy-authorization", authorization];
  return (dispatch) => (options, handler) =>
    dispatch(
      {
        ...options,
        path: `${origin}${options.path}`,
        // Everything here sends its headers as one list.
        headers: [...((options.headers ?? []) as string[]), "host", host, ...added],
      },
      handler,
    );
}

interface TunnelRequest {
  readonly proxy: HttpProxy;
  readonly target: buildConnector.Options;
  readonly signal: AbortSignal;
}

function openTunnel(socket: Socket, { proxy, target, signal }: TunnelRequest): Promise<void> {
  const name = target.hostname.includes(":") ? `[${target.hostname}]` : target.hostname;
  const authority = `${name}:${target.port || "443"}`;
  const { authorization } = proxy;
  return new Promise((resolve, reject) => {
    const request = startRequest({
      createConnection: () => socket,
      method: "CONNECT",
      path: authority,
      headers: {
        host: authority,
        ...(authorization === undefined ? {} : { "proxy-authorization": authorization }),
      },
      signal,
    });
    request.once("error", (cause) =>
      reject(signal.aborted ? (signal.reason as Error) : proxyError(proxy, "broke off", { cause })),
    );
    request.once("connect", ({ statusCode: status = 0 }, _socket, early: Buffer) => {
      if (status < 200 || status > 299)
        return reject(
          proxyError(proxy, `refused a tunnel to ${authority} (HTTP ${status})`, { status }),
        );
      // Before TLS has begun nobody but the proxy can have sent anything.
      if (early.length > 0) return reject(proxyError(proxy, "does not keep to HTTP", {}));
      resolve();
    });
    request.end();
  });
}

function proxyError(
  proxy: HttpProxy,
  problem: string,
  { cause, ...details }: Readonly<Record<string, unknown>>,
): McpError {
  const hint =
    details["status"] === 407
      ? `put user name and password into ${proxy.variable}`
      : `check ${proxy.variable}; NO_PROXY lists what is reached without it`;
  return createError("unreachable", `the proxy ${proxy.url.host} ${problem}`, {
    hint,
    cause,
    details: { proxy: proxy.url.host, ...details },
  });
}
