import type { McpError, RpcError } from "../../errors/mcp-error.ts";
import { durationText } from "../../text/duration-text.ts";
import { sampleAuth, variableFor, withoutMethodHint } from "./entry-hints.ts";
import { type HttpPeer, peerAddress, peerError, quote } from "./http-errors.ts";
import { type ResponseHead, headerOf } from "./http-exchange.ts";

const maxRetryAfterMs = 300_000;
/** Enough of an error page to find its title; the patterns below never see more. */
const maxPageCharacters = 4_096;

export interface RefusedResponse {
  readonly head: ResponseHead;
  /** The body, possibly cut. */
  readonly text: string;
  /** Which request it answers, where the address alone does not tell. */
  readonly what?: string | undefined;
  /** Whether the request named a session. */
  readonly hadSession: boolean;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** The typed form of a response that is no success. */
export function statusError(peer: HttpPeer, response: RefusedResponse): McpError {
  const { status } = response.head;
  if (status >= 300 && status < 400) return redirectError(peer, response.head);
  if (status === 401 || status === 403) return authError(peer, response.head);
  if (status === 404 && response.hadSession) {
    return peerError(
      peer,
      "connection_lost",
      "the server no longer knows this session (HTTP 404)",
      {
        details: { status, sessionLost: true },
      },
    );
  }
  const rpc = rpcErrorOf(response.text);
  const excerpt = quote(peer, rpc?.message ?? readableText(response.text));
  const mayRetry = status === 429 || status === 503;
  const waitMs = mayRetry ? retryAfter(response) : undefined;
  const wait = waitMs === undefined || waitMs === 0 ? undefined : durationText(waitMs);
  const answered = response.what === undefined ? "answered" : `answered ${response.what} with`;
  const asked = wait === undefined ? "" : ` (Retry-After: ${wait})`;
  const message = `${peerAddress(peer)} ${answered} HTTP ${status}${asked}${excerpt === "" ? "" : `: ${excerpt}`}`;
  return peerError(peer, "http_error", message, {
    retryable: mayRetry,
    hint: statusHint(status, wait),
    details: {
      status,
      ...(rpc === undefined ? {} : { rpc: { ...rpc, message: excerpt } }),
      ...(waitMs === undefined ? {} : { retryAfterMs: Math.min(waitMs, maxRetryAfterMs) }),
    },
  });
}

/**
 * A response with status 401 or 403. It matters whether something was shown that was refused: then the
 * entry has to be corrected, not extended.
 */
function authError(peer: HttpPeer, head: ResponseHead): McpError {
  const { status } = head;
  const challenge = headerOf(head, "www-authenticate");
  const wwwAuthenticate = challenge === undefined ? undefined : readChallenge(peer, challenge);
  const options = {
    hint: authHint(peer, status),
    details: { status, ...(wwwAuthenticate === undefined ? {} : { wwwAuthenticate }) },
  };
  const { credential } = peer;
  if (status === 403) return peerError(peer, "auth_required", "access refused (HTTP 403)", options);
  if (credential === undefined)
    return peerError(peer, "auth_required", "sign-in needed (HTTP 401)", options);
  const reason = wwwAuthenticate?.["error"];
  const answer = reason === undefined ? "HTTP 401" : `HTTP 401, ${reason}`;
  return peerError(peer, "auth_failed", `${shownAs(credential)} was refused (${answer})`, options);
}

function shownAs(credential: string): string {
  return credential === "authorization" ? "the token of the entry" : `the header "${credential}"`;
}

function authHint({ serverName, credential }: HttpPeer, status: number): string {
  if (credential === undefined) return `give its entry a token: ${sampleAuth(serverName)}`;
  if (status === 403) return "use a token that has the rights for it";
  const sample =
    credential === "authorization"
      ? sampleAuth(serverName)
      : `"headers": { "${credential}": "\${${variableFor(serverName)}}" }`;
  return `put one that is valid into its entry: ${sample}`;
}

/** What a challenge says, without its URLs: of the metadata's address only the host is kept. */
function readChallenge(peer: HttpPeer, challenge: string): Readonly<Record<string, string>> {
  const parts: Record<string, string> = {
    scheme: quote(peer, challenge.split(/\s/, 1)[0] ?? "", 40),
  };
  for (const [, name, value] of challenge.matchAll(/\b([a-z_]{1,40})="([^"]{0,2048})"/gi)) {
    if (name === "error" || name === "scope") parts[name] = quote(peer, value ?? "");
    if (name === "resource_metadata" && URL.canParse(value ?? ""))
      parts["resourceMetadataHost"] = quote(peer, new URL(value ?? "").host);
  }
  return parts;
}

/** What to do about a status that says more than that something went wrong. */
function statusHint(status: number, wait: string | undefined): string | undefined {
  if (status === 429) return `wait ${wait ?? "a while"}: there were too many requests`;
  if (status >= 502 && status <= 504)
    return `what is behind this address is down or overloaded: try again ${wait === undefined ? "later" : `in ${wait}`}, or ask who runs it`;
  if (status >= 500) return "the server itself failed: look at its log, or ask who runs it";
  return status === 404 || status === 405 ? 'check the path of "url"' : undefined;
}

/** A success whose body is not what was `expected`: usually a web page, a proxy or a login form. */
export function contentError(
  peer: HttpPeer,
  head: ResponseHead,
  text: string,
  expected = "an MCP message",
): McpError {
  const contentType = quote(peer, headerOf(head, "content-type") ?? "", 80);
  const kind = contentType === "" ? "a body without a content type" : contentType;
  const excerpt = quote(peer, readableText(text));
  const message = `${peerAddress(peer)} answered with ${kind} instead of ${expected}${excerpt === "" ? "" : `: ${excerpt}`}`;
  return peerError(peer, "http_error", message, {
    hint: 'check the path of "url": what answers there is no MCP server',
    details: { status: head.status, contentType },
  });
}

/** The typed form of a response that is no event stream, though one was asked for. */
export function noStreamError(peer: HttpPeer, response: RefusedResponse): McpError {
  const { head, text } = response;
  return head.status < 300 ? contentError(peer, head, text) : statusError(peer, response);
}

/** The entry requires a stream that the server does not offer, as `refusal` shows: only the entry can be mended. */
export function missingStreamError(peer: HttpPeer, refusal: McpError): McpError {
  const message = `"method" is GET, and the server has no stream of its own: ${refusal.message}`;
  return peerError(peer, "config_invalid", message, {
    hint: withoutMethodHint,
    details: refusal.details,
    cause: refusal,
  });
}

/** The JSON-RPC error in a body, whatever id it carries. */
function rpcErrorOf(text: string): RpcError | undefined {
  if (!text.startsWith("{")) return undefined;
  try {
    const { error } = JSON.parse(text) as { error?: Partial<RpcError> };
    if (typeof error?.code !== "number" || typeof error.message !== "string") return undefined;
    const { code, message, data } = error;
    return { code, message, ...(data === undefined ? {} : { data }) };
  } catch {
    return undefined;
  }
}

function redirectError(peer: HttpPeer, head: ResponseHead): McpError {
  const origin = redirectOrigin(peer, headerOf(head, "location"));
  const message = `${peerAddress(peer)} redirects to ${origin ?? "an address that cannot be used"} (HTTP ${head.status}), which is not followed`;
  return peerError(peer, "http_error", message, {
    hint: "use that address in the configuration if it is the right server",
    details: { status: head.status, ...(origin === undefined ? {} : { redirectOrigin: origin }) },
  });
}

/** The origin alone: paths and queries of redirects carry tokens. */
function redirectOrigin(peer: HttpPeer, location: string | undefined): string | undefined {
  if (location === undefined || !URL.canParse(location, peer.url.href)) return undefined;
  const { origin } = new URL(location, peer.url);
  return origin === "null" ? undefined : quote(peer, origin);
}

/** `Retry-After` as seconds or as a date; nonsense counts as absent. */
function retryAfter({ head, now }: RefusedResponse): number | undefined {
  const value = headerOf(head, "retry-after")?.trim();
  if (value === undefined || value === "") return undefined;
  const delayMs = /^\d+$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - now;
  return Number.isNaN(delayMs) ? undefined : Math.max(delayMs, 0);
}

/** A web page as the words a person would see: its title, else its text. */
function readableText(text: string): string {
  const page = text.slice(0, maxPageCharacters);
  if (!/^\s*</.test(page)) return page;
  const title = /<title[^<>]*>([^<]*)/i.exec(page)?.[1]?.trim();
  if (title !== undefined && title !== "") return title;
  return page
    .replace(/<(script|style)\b[^<]*/gi, " ")
    .replace(/<[^<>]*>/g, " ")
    .replace(/\s+/g, " ");
}
