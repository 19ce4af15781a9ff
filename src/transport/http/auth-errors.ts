import type { McpError } from "../../errors/mcp-error.ts";
import { sampleAuth, variableFor } from "./entry-hints.ts";
import { type HttpPeer, peerError, quote } from "./http-errors.ts";
import { type ResponseHead, headerOf } from "./http-exchange.ts";

/**
 * A response with status 401 or 403. It matters whether something was shown that was refused: then the
 * entry has to be corrected, not extended.
 */
export function authError(peer: HttpPeer, head: ResponseHead): McpError {
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
