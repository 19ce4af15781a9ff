import type {
  AuthorizationServerMetadata,
  OAuthProtectedResourceMetadata,
} from "@modelcontextprotocol/client";

import { createError } from "../../errors/families.ts";
import { McpError } from "../../errors/mcp-error.ts";
import { sanitizeText } from "../auth-error.ts";
import { resourceOf, type SignInSettings } from "../sign-in-settings.ts";
import type { AuthChallenge } from "./challenge.ts";
import type { OAuthHttp } from "./oauth-http.ts";
import { loadOAuth, type OAuthSdk } from "./oauth-sdk.ts";

/** Who issues tokens for a server, and what for. */
export interface TokenIssuer {
  readonly issuer: string;
  readonly metadata: AuthorizationServerMetadata;
  /** What the tokens are for, as the server names itself; undefined where it does not. */
  readonly resource: string | undefined;
  /** The scopes that the server lists for itself. */
  readonly resourceScopes: readonly string[];
  /**
   * `described`: in a document of its own. `configured`: by the entry. `assumed`: a server that describes nothing, as
   * those of 2025-03-26 may, is asked at the usual places.
   */
  readonly found: "described" | "configured" | "assumed";
}

export interface DiscoverOptions {
  readonly challenge?: AuthChallenge | undefined;
  /** Chosen where the server names several: the one that issued the tokens there are. */
  readonly preferredIssuer?: string | undefined;
}

/** Finds out who issues tokens for a server. Throws an error of sign-in for what cannot be trusted or read. */
export async function discoverIssuer(
  settings: SignInSettings,
  http: OAuthHttp,
  options: DiscoverOptions = {},
): Promise<TokenIssuer> {
  const sdk = await loadOAuth();
  const configured = configuredIssuer(settings);
  if (configured !== undefined) {
    // Only what the tokens are for is of interest then, if the server says it.
    const described = await describedResource(sdk, settings, http, options.challenge).catch(
      () => undefined,
    );
    return { ...configured, resource: described?.resource };
  }
  const resource = await describedResource(sdk, settings, http, options.challenge);
  const { issuer: wanted } = settings.oauth;
  const named = resource?.authorization_servers ?? [];
  const preferred = [wanted, options.preferredIssuer].find(
    (issuer) => issuer !== undefined && named.some((one) => isSameIssuer(one, issuer)),
  );
  const at = preferred ?? named[0] ?? wanted ?? `${settings.url.origin}/`;
  const metadata = await describedIssuer(sdk, settings, http, at);
  const isNamed = resource !== undefined || wanted !== undefined;
  if (metadata === undefined && isNamed)
    throw createError("auth_failed", `${hostOf(at)} does not describe how to sign in there`, {
      serverName: settings.serverName,
      hint: "ask who runs the server; if you know the addresses, write authUrl and tokenUrl into its entry",
    });
  const found = metadata === undefined ? assumedIssuer(settings) : issuerIn(metadata);
  if (wanted !== undefined && !isSameIssuer(found.issuer, wanted)) throw otherIssuer(settings, at);
  return {
    ...found,
    resource: resource?.resource,
    resourceScopes: resource?.scopes_supported ?? [],
  };
}

type FoundIssuer = Pick<TokenIssuer, "issuer" | "metadata" | "found">;

function issuerIn(metadata: AuthorizationServerMetadata): FoundIssuer {
  return { issuer: metadata.issuer, metadata, found: "described" };
}

/** Two issuers are the same when their texts are, but for a slash at the end. */
export function isSameIssuer(one: string, other: string): boolean {
  return one.replace(/\/$/, "") === other.replace(/\/$/, "");
}

/** Throws for an issuer that does not offer what keeps a code from being used by somebody else. */
export function refuseWithoutPkce({ metadata, found }: TokenIssuer, serverName: string): void {
  if (found !== "described") return;
  if (metadata.code_challenge_methods_supported?.includes("S256") === true) return;
  throw createError(
    "auth_failed",
    `${hostOf(metadata.issuer)} does not offer PKCE (S256), without which a sign-in can be stolen; nothing was opened`,
    { serverName, hint: "ask who runs the server to offer it" },
  );
}

function configuredIssuer({ oauth }: SignInSettings): TokenIssuer | undefined {
  const { authUrl, tokenUrl, issuer } = oauth;
  if (tokenUrl === undefined) return undefined;
  const origin = new URL(tokenUrl).origin;
  return {
    issuer: issuer ?? origin,
    metadata: {
      issuer: issuer ?? origin,
      authorization_endpoint: authUrl ?? "",
      token_endpoint: tokenUrl,
      response_types_supported: ["code"],
    },
    resource: undefined,
    resourceScopes: [],
    found: "configured",
  };
}

/** The usual places of a server that describes none. */
function assumedIssuer({ url }: SignInSettings): FoundIssuer {
  const { origin } = url;
  return {
    issuer: origin,
    metadata: {
      issuer: origin,
      authorization_endpoint: `${origin}/authorize`,
      token_endpoint: `${origin}/token`,
      registration_endpoint: `${origin}/register`,
      response_types_supported: ["code"],
    },
    found: "assumed",
  };
}

/** The server's description of itself (RFC 9728); undefined where it has none. */
async function describedResource(
  sdk: OAuthSdk,
  settings: SignInSettings,
  http: OAuthHttp,
  challenge: AuthChallenge | undefined,
): Promise<OAuthProtectedResourceMetadata | undefined> {
  const { serverName, url } = settings;
  const named = challenge?.resourceMetadata;
  if (named !== undefined && !URL.canParse(named))
    throw createError("auth_failed", "the server names an address that is none for its sign-in", {
      serverName,
    });
  const opts = named === undefined ? {} : { resourceMetadataUrl: new URL(named) };
  const document = await asDescription(
    http,
    () => sdk.discoverOAuthProtectedResourceMetadata(url, opts, http.fetch),
    (cause) => unreadable(settings, named ?? url.href, cause),
  );
  if (document === undefined) return undefined;
  const isOwn = sdk.checkResourceAllowed({
    requestedResource: resourceOf(url),
    configuredResource: document.resource,
  });
  if (isOwn) return document;
  const other = sanitizeText(document.resource, 200);
  throw createError(
    "auth_failed",
    `the server says that tokens for it are for ${other}, which is another server; nothing was opened`,
    { serverName, hint: "check the address in its entry" },
  );
}

async function describedIssuer(
  sdk: OAuthSdk,
  settings: SignInSettings,
  http: OAuthHttp,
  at: string,
): Promise<AuthorizationServerMetadata | undefined> {
  if (!URL.canParse(at)) throw unreadable(settings, at);
  return await asDescription(
    http,
    () => sdk.discoverAuthorizationServerMetadata(at, { fetchFn: http.fetch }),
    (cause) =>
      sdk.IssuerMismatchError.isInstance(cause)
        ? otherIssuer(settings, at, cause)
        : unreadable(settings, at, cause),
  );
}

/** A document that may be missing: a refusal of the request says so, a failure of the server or its text does not. */
async function asDescription<T>(
  http: OAuthHttp,
  read: () => Promise<T | undefined>,
  failure: (cause: unknown) => McpError,
): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (McpError.is(error)) throw error;
    const { lastStatus } = http;
    if (lastStatus !== undefined && lastStatus >= 400 && lastStatus < 500) return undefined;
    throw failure(error);
  }
}

function otherIssuer(settings: SignInSettings, at: string, cause?: unknown): McpError {
  const { serverName } = settings;
  const message = `${hostOf(at)} says that it is another authorization server than the one that was asked for; nothing was opened`;
  return createError("auth_failed", message, {
    serverName,
    hint: "ask who runs the server: its sign-in is set up wrong, or somebody else answers in its place",
    cause,
  });
}

function unreadable({ serverName }: SignInSettings, at: string, cause?: unknown): McpError {
  const message = `what ${hostOf(at)} says about its sign-in cannot be read`;
  return createError("auth_failed", message, {
    serverName,
    hint: "ask who runs the server",
    details: { host: hostOf(at) },
    cause,
  });
}

/** The host of an address, safe to show. */
export function hostOf(address: string): string {
  return URL.canParse(address) ? new URL(address).host : sanitizeText(address, 80);
}
