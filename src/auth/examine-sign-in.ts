import { randomBytes } from "node:crypto";

import { McpError } from "../errors/mcp-error.ts";
import type { SecretVault } from "../secrets/secret-vault.ts";
import { openCallback } from "./browser/callback.ts";
import { discoverIssuer, hostOf, type TokenIssuer } from "./oauth/discover.ts";
import { configuredClient, type OAuthClients } from "./oauth/oauth-client.ts";
import { OAuthHttp } from "./oauth/oauth-http.ts";
import { requestTokens } from "./oauth/token-requests.ts";
import { readSignIn, type SignedInClient } from "./sign-in-record.ts";
import {
  isUnattended,
  signInName,
  type SignInSettings,
  type SignInTools,
} from "./sign-in-settings.ts";

/** What a look at the sign-in of a server found, before anybody signs in. No token is in it. */
export interface SignInExamination {
  /** The host that issues tokens; undefined where it was not found. */
  readonly issuer: string | undefined;
  /** Why it was not found, or its endpoint for tokens does not answer. */
  readonly failure: McpError | undefined;
  /** Where a browser is told to return to; undefined where no person signs in. */
  readonly redirect: RedirectAddress | undefined;
  /** How the client is known, and whether the issuer accepts it; undefined where none is known yet. */
  readonly client: ExaminedClient | undefined;
  /** How far this machine's clock is ahead of the issuer's; undefined where that says no time. */
  readonly clockAheadMs: number | undefined;
}

interface RedirectAddress {
  /** Exactly as it has to be registered; `*` stands for any port. */
  readonly uri: string;
  /** Whether it is the same every time. */
  readonly isFixed: boolean;
  /** Why nobody can wait there. */
  readonly problem?: McpError;
}

interface ExaminedClient {
  readonly origin: "configured" | "registered";
  /** Undefined where the issuer's answer does not tell. */
  readonly isAccepted: boolean | undefined;
  readonly problem?: McpError;
}

export interface ExaminedParts {
  readonly settings: SignInSettings;
  readonly tools: SignInTools;
  readonly vault: SecretVault;
  readonly clients: OAuthClients;
}

/** Looks at all that a sign-in needs. Signs nobody in, registers nothing, and keeps nothing. */
export async function examineSignIn(
  parts: ExaminedParts,
  signal: AbortSignal,
): Promise<SignInExamination> {
  const { settings, tools } = parts;
  const http = new OAuthHttp(settings, tools, signal);
  let issuer: TokenIssuer | undefined;
  let failure: McpError | undefined;
  let clockAheadMs: number | undefined;
  try {
    issuer = await discoverIssuer(settings, http);
    // Whatever it answers to this: it is there, and says what time it is.
    await http.fetch(issuer.metadata.token_endpoint, { method: "GET" });
    const date = Date.parse(http.lastDate ?? "");
    if (!Number.isNaN(date)) clockAheadMs = tools.clock.now() - date;
  } catch (error) {
    if (!McpError.is(error)) throw error;
    failure = error;
  }
  const redirect = await redirectOf(parts, issuer);
  return {
    issuer: issuer === undefined ? undefined : hostOf(issuer.issuer),
    failure,
    redirect,
    client:
      issuer !== undefined && failure === undefined
        ? await examineClient(parts, issuer, { http, redirect })
        : undefined,
    clockAheadMs,
  };
}

async function redirectOf(
  { settings, clients }: ExaminedParts,
  issuer: TokenIssuer | undefined,
): Promise<RedirectAddress | undefined> {
  const { oauth, serverName } = settings;
  if (isUnattended(oauth)) return undefined;
  const { redirectUri, callbackPort } = oauth;
  const isFixed = redirectUri !== undefined || callbackPort !== undefined;
  if (!isFixed) {
    const earlier = issuer === undefined ? undefined : await clients.registeredRedirect(issuer);
    return { uri: earlier ?? "http://127.0.0.1:*/callback", isFixed: earlier !== undefined };
  }
  try {
    const callback = await openCallback({ serverName, redirectUri, callbackPort });
    await callback.close();
    return { uri: callback.redirectUri, isFixed };
  } catch (error) {
    if (!McpError.is(error)) throw error;
    const uri = redirectUri ?? `http://127.0.0.1:${callbackPort}/callback`;
    return { uri, isFixed, problem: error };
  }
}

interface ClientTrial {
  readonly http: OAuthHttp;
  readonly redirect: RedirectAddress | undefined;
}

/** Asks for a token with a code that nobody gave: an issuer refuses the client first, and the code after that. */
async function examineClient(
  { settings, vault }: ExaminedParts,
  issuer: TokenIssuer,
  { http, redirect }: ClientTrial,
): Promise<ExaminedClient | undefined> {
  const configured = configuredClient(settings);
  const client: SignedInClient | undefined =
    configured ?? (await readSignIn(vault, signInName(settings)))?.client;
  if (client === undefined || client.id === "" || redirect === undefined) return undefined;
  const origin = configured === undefined ? "registered" : "configured";
  const secret = client.secret ?? settings.oauth.clientSecret;
  try {
    await requestTokens({
      settings,
      issuer,
      client: { ...client, secret },
      resource: issuer.resource,
      http,
      dpop: undefined,
      params: {
        grant_type: "authorization_code",
        code: "plugboard-doctor",
        code_verifier: randomBytes(32).toString("base64url"),
        redirect_uri: redirect.uri,
      },
    });
    return { origin, isAccepted: undefined };
  } catch (error) {
    if (!McpError.is(error)) throw error;
    if (error.code === "auth_client_rejected") return { origin, isAccepted: false, problem: error };
    const isGrantRefused = error.details["oauthError"] === "invalid_grant";
    return { origin, isAccepted: isGrantRefused ? true : undefined };
  }
}
