import { createError } from "../../errors/families.ts";
import { type HttpPeer, peerError, quote } from "../http/http-errors.ts";

/** The longest address; a longer one fits into no request line that servers accept. */
const maxEndpointLength = 8_192;

/** The address for messages: the one that the server announces, the derived one, or a fixed one. */
export type EndpointChoice = "auto" | "derive" | URL;

/** Reads the `messageEndpoint` of an entry. Throws `config_invalid` for an address of another origin. */
export function parseEndpointChoice(text: string | undefined, peer: HttpPeer): EndpointChoice {
  if (text === undefined || text === "auto") return "auto";
  if (text === "derive") return text;
  const url = sameOriginUrl(text, peer.url);
  if (url !== undefined) return url;
  const message = `"messageEndpoint" must be "auto", "derive" or an address at ${peer.url.origin}`;
  throw createError("config_invalid", message, { serverName: peer.serverName });
}

/**
 * Reads the address that a server announced on its stream. The credentials of the entry go there with every
 * message, so another origin than the server's own is refused.
 */
export function readAnnouncedEndpoint(text: string, streamUrl: URL, peer: HttpPeer): URL {
  const url = sameOriginUrl(text, streamUrl);
  if (url !== undefined) return url;
  const foreign = URL.canParse(text, streamUrl.href) ? new URL(text, streamUrl) : streamUrl;
  if (foreign.origin === streamUrl.origin) {
    const message = "the server announced an address for messages that cannot be used";
    throw peerError(peer, "protocol_violation", message);
  }
  const origin = quote(peer, foreign.origin === "null" ? foreign.protocol : foreign.origin);
  const message = `the server wants messages sent to ${origin}, which is not where it is itself`;
  throw peerError(peer, "blocked_address", message, { details: { announcedOrigin: origin } });
}

/**
 * Derives the address for servers that announce none: `…/sse` becomes `…/message`, other paths get it
 * appended.
 */
export function deriveMessageEndpoint(streamUrl: URL): URL {
  let path = streamUrl.pathname;
  while (path.endsWith("/")) path = path.slice(0, -1);
  const url = new URL(streamUrl);
  url.pathname = `${path.endsWith("/sse") ? path.slice(0, -"/sse".length) : path}/message`;
  return url;
}

function sameOriginUrl(text: string, base: URL): URL | undefined {
  if (text.length > maxEndpointLength || !URL.canParse(text, base.href)) return undefined;
  const url = new URL(text, base);
  const isPlain = url.username === "" && url.password === "";
  return isPlain && url.origin === base.origin ? url : undefined;
}
