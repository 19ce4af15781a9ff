import type { ErrorCode } from "../errors/error-codes.ts";
import { createError } from "../errors/families.ts";
import type { McpError } from "../errors/mcp-error.ts";
import { ownCommand } from "../text/own-command.ts";
import { redact } from "../text/secrets/redact.ts";
import { truncate } from "../text/truncate.ts";
import { neutralizeLine } from "../text/untrusted/neutralize.ts";

/** Text of a server as a message may hold it: one line, harmless, without what looks like a secret, short. */
export function sanitizeText(text: string, maxChars: number): string {
  // Neutralizing makes text longer, so that much of it is enough.
  return truncate(redact(neutralizeLine(text.slice(0, maxChars * 4))), maxChars).trim();
}

/** The error codes of OAuth that say more than that something failed. All others are `auth_failed`. */
const codesByError: Readonly<Record<string, ErrorCode>> = {
  access_denied: "auth_denied",
  invalid_client: "auth_client_rejected",
  unauthorized_client: "auth_client_rejected",
  invalid_client_metadata: "auth_client_rejected",
  invalid_software_statement: "auth_client_rejected",
  invalid_redirect_uri: "auth_redirect_mismatch",
  redirect_uri_mismatch: "auth_redirect_mismatch",
  invalid_scope: "auth_scope_missing",
  insufficient_scope: "auth_scope_missing",
  temporarily_unavailable: "auth_endpoint_unreachable",
  server_error: "auth_endpoint_unreachable",
};

/** What an authorization server answered instead of a code, a client or a token. */
export interface OAuthRefusal {
  /** The server's own code, such as `invalid_grant`. */
  readonly error: string;
  readonly description?: string | undefined;
  /** Who refused, to be shown. */
  readonly host: string;
  /** What was asked for: `a token`. */
  readonly what: string;
}

/** The typed form of a refusal. The server's words are in it, made harmless. */
export function refusalError(
  refusal: OAuthRefusal,
  serverName: string,
  more: { readonly hint?: string | undefined; readonly cause?: unknown } = {},
): McpError {
  const { error, description, host, what } = refusal;
  const code =
    (Object.hasOwn(codesByError, error) ? codesByError[error] : undefined) ?? "auth_failed";
  const word = sanitizeText(error, 60);
  const said = description === undefined ? "" : `: ${sanitizeText(description, 200)}`;
  return createError(code, `${host} refused ${what} (${word === "" ? "no reason" : word}${said})`, {
    serverName,
    hint: more.hint ?? hintFor(code, serverName),
    details: { oauthError: word, host },
    cause: more.cause,
  });
}

const hints: Partial<Record<ErrorCode, string>> = {
  auth_client_rejected:
    "check clientId and clientSecret in the entry; without them the client is registered anew",
  auth_redirect_mismatch:
    "register the redirect address that `plugboard doctor` shows, or set redirectUri to the registered one",
  auth_scope_missing: "check scopes in the entry",
  auth_endpoint_unreachable: "try again later",
};

function hintFor(code: ErrorCode, serverName: string): string | undefined {
  if (code !== "auth_denied") return hints[code];
  return `try again if that was not meant: ${ownCommand("login", serverName)}`;
}

/** A server wants somebody to be signed in: the state in which it waits, with the command that ends it. */
export function signInNeeded(
  serverName: string,
  reason: string,
  details: Readonly<Record<string, unknown>> = {},
): McpError {
  return createError("auth_required", `sign-in needed (${reason})`, {
    serverName,
    hint: ownCommand("login", serverName),
    details,
  });
}

/** A server no longer takes a token that a person gave: whoever gave one has another, and perhaps no page to sign in at. */
export function pastedRefused(serverName: string): McpError {
  return createError("auth_required", "sign-in needed (the server refuses the token you gave it)", {
    serverName,
    hint: ownCommand("login", serverName, ["--token", "-"]),
  });
}
