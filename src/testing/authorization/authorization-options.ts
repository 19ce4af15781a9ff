import type { JsonWebKey } from "node:crypto";

import type { ListenerLimits } from "../../listener/listener-limits.ts";
import type { Clock } from "../../ports/clock.ts";
import type { JsonObject } from "../../text/json-object.ts";
import type { AuthorizationAttack } from "./attacks.ts";

/** The grants a server can be asked for; the first two are what it offers without options. */
export const grantTypes = [
  "authorization_code",
  "refresh_token",
  "client_credentials",
  "urn:ietf:params:oauth:grant-type:jwt-bearer",
  "urn:ietf:params:oauth:grant-type:token-exchange",
] as const;
export type GrantType = (typeof grantTypes)[number];

export const clientAuthMethods = [
  "client_secret_basic",
  "client_secret_post",
  "none",
  "private_key_jwt",
] as const;
export type ClientAuthMethod = (typeof clientAuthMethods)[number];

/** A public key as PEM or JWK. */
export type PublicKey = string | JsonWebKey;

/** A client the server knows without registration. */
export interface KnownClient {
  readonly clientId: string;
  readonly clientSecret?: string | undefined;
  /** Compared exactly, but for the port of `http://127.0.0.1` and `http://[::1]` (RFC 8252). */
  readonly redirectUris?: readonly string[] | undefined;
  /** The only way this client may prove itself. Default: `client_secret_basic` with a secret, else `none`. */
  readonly authMethod?: ClientAuthMethod | undefined;
  /** Checks the assertions of `private_key_jwt`. */
  readonly publicKey?: PublicKey | undefined;
  /** Shown on the consent page. */
  readonly name?: string | undefined;
}

/** Somebody whose assertions are taken for a token; a started authorization server is one. */
export interface TrustedIssuer {
  readonly issuer: string;
  readonly publicKey: PublicKey;
}

/** Every option has the value of a correct server of today as its default. */
export interface AuthorizationServerOptions {
  /** How clients become known: RFC 7591, a URL as client id, either (the default), or only as listed in `clients`. */
  readonly registration?: "dynamic" | "metadata-document" | "both" | "none" | undefined;
  readonly clients?: readonly KnownClient[] | undefined;
  /**
   * Client metadata documents by their URL. Nothing is fetched: an `https` URL that is not listed here
   * stands for a public client that may be called back at any loopback address.
   */
  readonly metadataDocuments?: Readonly<Record<string, JsonObject>> | undefined;
  /** How clients may prove themselves. Default: every way there is. */
  readonly authMethods?: readonly ClientAuthMethod[] | undefined;
  /**
   * The scopes there are; default `["mcp"]`. A client that asks for none gets all. With
   * `offline_access` among them, only those who ask for it get refresh tokens.
   */
  readonly scopes?: readonly string[] | undefined;
  /** What is granted whatever was asked for. Default: what was asked for. */
  readonly grantedScopes?: readonly string[] | undefined;
  /** Default: `authorization_code` and `refresh_token`. */
  readonly grants?: readonly GrantType[] | undefined;
  /** Who may sign the assertions of the grant `jwt-bearer`. Default: nobody. */
  readonly trustedIssuers?: readonly TrustedIssuer[] | undefined;
  /** Default: an hour. */
  readonly tokenLifetimeMs?: number | undefined;
  /** Whether answers tell `expires_in`. Default true. */
  readonly expiresIn?: boolean | undefined;
  /**
   * `rotate` (the default) gives a new refresh token each time, and the old one works until the new
   * one is used; `rotate-strict` takes a second use of an old one for theft and revokes all of its
   * family; `keep` goes on with the first one and does not repeat it; `none` gives none.
   */
  readonly refresh?: "rotate" | "rotate-strict" | "keep" | "none" | undefined;
  /** `approve` (the default) and `deny` answer at once; `page` shows a person two buttons. */
  readonly consent?: "approve" | "deny" | "page" | undefined;
  /** Whether callbacks name the issuer (RFC 9207), and the metadata says so. Default true. */
  readonly issParameter?: boolean | undefined;
  /** What the metadata says of PKCE and what is checked; `missing` says and checks nothing. Default `S256`. */
  readonly pkce?: "S256" | "plain" | "missing" | undefined;
  /** Whether clients must name the resource (RFC 8707) in both requests. Default `required`. */
  readonly resource?: "required" | "optional" | undefined;
  /** Whether tokens are bound to a key of the client (RFC 9449). Default `off`. */
  readonly dpop?: "off" | "optional" | "required" | undefined;
  /** Whether proofs must carry a nonce of the server. Default false. */
  readonly dpopNonce?: boolean | undefined;
  /** How the token endpoint answers; `form` is what some servers still do. Default `json`. */
  readonly answers?: "json" | "form" | undefined;
  /** A path that makes the issuer `http://127.0.0.1:<port>/<path>`, as servers with tenants have. Default none. */
  readonly issuerPath?: string | undefined;
  /**
   * Where the metadata lies: as RFC 8414 says (the default), as OpenID Connect has it before or after
   * the path of the issuer, or nowhere, which leaves clients the default endpoints of MCP 2025-03-26.
   */
  readonly discovery?: "oauth" | "openid" | "openid-appended" | "none" | undefined;
  /** Makes the server hostile in one way; see `authorizationAttacks`. */
  readonly attack?: AuthorizationAttack | undefined;
  /** Where attacks lead that lead somewhere. Default: a listener of its own, see `trapRequests`. */
  readonly trapUrl?: string | undefined;
  /** The default 0 lets the system choose. */
  readonly port?: number | undefined;
  /** Decides when tokens expire. */
  readonly clock?: Clock | undefined;
  readonly limits?: Partial<ListenerLimits> | undefined;
}
