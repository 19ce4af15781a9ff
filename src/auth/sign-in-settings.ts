import type { Limits } from "../config/keys/limits.ts";
import type { OAuthConfig } from "../config/keys/server-config.ts";
import type { ResolvedTexts } from "../config/variables/map-templates.ts";
import type { Environment } from "../config/variables/reference-values.ts";
import { configuredUrlPolicy, type NetworkPolicy } from "../isolation/network/network-policy.ts";
import type { Clock } from "../ports/clock.ts";
import type { Logger } from "../ports/logger.ts";
import { canonicalHash } from "../text/canonical-hash.ts";

/** What the entry of a server says about signing in, with every variable replaced. */
export interface SignInSettings {
  readonly serverName: string;
  readonly url: URL;
  /** Which addresses the entry itself may name. */
  readonly policy: NetworkPolicy;
  readonly allowPrivateNetwork: boolean;
  /** Only `type` for an entry that says nothing: everything is discovered then. */
  readonly oauth: OAuthConfig<string>;
}

/** What every sign-in of a host works with. */
export interface SignInTools {
  readonly hostEnv: Environment;
  readonly limits: Limits;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * The settings of a server that may be signed in to; undefined for one that is not reached over HTTP, and for one
 * whose entry already says by which token or header it is called.
 */
export function signInSettings(
  serverName: string,
  { transport, auth }: ResolvedTexts,
): SignInSettings | undefined {
  if (!("url" in transport) || auth.type === "bearer" || !URL.canParse(transport.url))
    return undefined;
  const hasOwn = Object.keys(transport.headers).some((name) => /^authorization$/i.test(name));
  if (hasOwn) return undefined;
  const { allowPrivateNetwork } = transport;
  return {
    serverName,
    url: new URL(transport.url),
    policy: configuredUrlPolicy(transport.url, allowPrivateNetwork),
    allowPrivateNetwork,
    oauth: auth.type === "oauth" ? auth : { type: "oauth" },
  };
}

/** Whether tokens are asked for without a person. */
export function isUnattended({ grant = "authorization_code" }: OAuthConfig<string>): boolean {
  return grant !== "authorization_code";
}

/**
 * Names the sign-in that an entry uses: entries of the same address and the same client share one, whatever they
 * are called and wherever they stand. Secrets are no part of it, so that a new one needs no new sign-in.
 */
export function signInName({ url, oauth }: SignInSettings): string {
  const { clientId, authUrl, tokenUrl, issuer, clientMetadataUrl, grant, idpClientId, dpop } =
    oauth;
  const client = { clientId, authUrl, tokenUrl, issuer, clientMetadataUrl, grant, idpClientId };
  const given = Object.entries({ ...client, dpop: dpop === true || undefined });
  const named = Object.fromEntries(given.filter(([, value]) => value !== undefined));
  return `sign-in/${canonicalHash({ url: resourceOf(url), ...named })}`;
}

/** The address of a server as tokens are bound to it: without a fragment, and without a query, which may hold keys. */
export function resourceOf(url: URL): string {
  return `${url.origin}${url.pathname}`;
}
