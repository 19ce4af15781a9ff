import { createError } from "../../errors/families.ts";
import type { McpError } from "../../errors/mcp-error.ts";
import { truncate } from "../../text/truncate.ts";
import { judgeHost } from "./blocked-address.ts";
import { type NetworkPolicy, serverUrlPolicy } from "./network-policy.ts";

const maxOriginChars = 200;

/** A redirect that a GET got, and what the URL that was asked for is allowed. */
export interface Redirect {
  readonly from: URL;
  /** The `Location` header. */
  readonly location: string | undefined;
  readonly policy: NetworkPolicy;
  readonly serverName?: string | undefined;
}

/**
 * Where a GET may go on, or why it may not. Only within one origin: headers, keys among them, would
 * go along. The caller counts the steps and sends the next request over guarded connections again,
 * so that its address is judged anew. Requests with a body are never redirected at all.
 */
export function judgeRedirect({ from, location, policy, serverName }: Redirect): URL | McpError {
  const within = redirectWithin(from, location);
  if (within !== undefined) return within;
  if (location === undefined || !URL.canParse(location, from.href))
    return refused(from, "an address that cannot be used", serverName);
  const to = new URL(location, from);
  if (to.username !== "" || to.password !== "")
    return refused(from, "an address with a user name or password", serverName);
  const blocked = judgeHost(to.hostname, serverUrlPolicy(from, policy), serverName);
  if (blocked !== undefined) return blocked;
  // The origin alone: paths and queries of redirects carry tokens.
  const origin = to.origin === "null" ? to.protocol : to.origin;
  return refused(from, truncate(origin, maxOriginChars), serverName);
}

/** Where a redirect within the origin of `from` leads: the only kind that is followed. */
export function redirectWithin(from: URL, location: string | undefined): URL | undefined {
  if (location === undefined || !URL.canParse(location, from.href)) return undefined;
  const to = new URL(location, from);
  to.hash = "";
  const isPlain = to.username === "" && to.password === "";
  return isPlain && to.origin === from.origin ? to : undefined;
}

function refused(from: URL, where: string, serverName: string | undefined): McpError {
  const message = `${from.host} redirects to ${where}; only redirects to the same server are followed`;
  return createError("http_error", message, {
    serverName,
    hint: "use that address in the configuration if it is the right server",
  });
}
