import type { IncomingMessage } from "node:http";

export interface Refusal {
  readonly status: 400 | 401 | 403 | 421;
  readonly text: string;
}

/**
 * Decides from the request head whether a loopback listener may answer at all. A web page can make a
 * browser connect to 127.0.0.1 under a name of its own choosing (DNS rebinding), so the Host must be
 * one of the listener's own, port included, and an Origin must be that same host or expressly allowed.
 */
export function judgeRequest(
  incoming: IncomingMessage,
  allowedOrigins: ReadonlySet<string>,
): Refusal | undefined {
  // Node keeps only the first of several Host lines; which one another reader believes is unknown.
  const [host, ...otherHosts] = incoming.headersDistinct["host"] ?? [];
  if (host === undefined || otherHosts.length > 0 || !isOwnHost(host, incoming))
    return { status: 421, text: "This listener answers only to its own loopback address." };

  // A target in absolute form would reach the handler as a URL with a host nobody checked.
  if (!incoming.url?.startsWith("/"))
    return { status: 400, text: "The request target must be a path." };

  const origins = incoming.headersDistinct["origin"] ?? [];
  const isAllowed = (origin: string): boolean =>
    origin === `http://${host.toLowerCase()}` || allowedOrigins.has(origin);
  if (origins.length > 1 || !origins.every(isAllowed))
    return { status: 403, text: "Requests from this origin are not allowed." };
  return undefined;
}

function isOwnHost(host: string, incoming: IncomingMessage): boolean {
  const port = incoming.socket.localPort;
  return [`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`].includes(host.toLowerCase());
}
