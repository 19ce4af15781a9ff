import type { ClientAuthMethod, OAuthGrant } from "../config/keys/server-config.ts";
import type { SecretVault } from "../secrets/secret-vault.ts";
import { isJsonObject } from "../text/json-object.ts";

/** A sign-in as the vault keeps it. */
export interface SignInRecord {
  /** Who issued the tokens, what for, and to whom: they are sent to nobody else. */
  readonly issuer: string;
  readonly resource: string | undefined;
  readonly client: SignedInClient;
  /** Where a new token is asked for, and where tokens are given back. */
  readonly tokenEndpoint: string | undefined;
  readonly revocationEndpoint: string | undefined;
  /** `pasted`: a person gave the token itself. */
  readonly grant: OAuthGrant | "pasted";
  readonly accessToken: string;
  /** `bearer` or `dpop`. */
  readonly tokenType: "bearer" | "dpop";
  readonly refreshToken: string | undefined;
  /** Milliseconds since the epoch; undefined where the server did not say. */
  readonly expiresAt: number | undefined;
  /** When the access token was issued, and when a person last signed in. */
  readonly issuedAt: number;
  readonly signedInAt: number;
  readonly requestedScopes: readonly string[];
  readonly scopes: readonly string[];
  /** Who is signed in, as the issuer calls them; not safe to show. */
  readonly account: string | undefined;
  /** The private key that tokens are bound to (a JWK). */
  readonly dpopKey: Readonly<Record<string, unknown>> | undefined;
}

/** The client that tokens were issued to. A client that is configured has its secret in the entry. */
export interface SignedInClient {
  readonly id: string;
  readonly secret: string | undefined;
  readonly authMethod: ClientAuthMethod | undefined;
}

/** Reads a sign-in; undefined when there is none, or none that this version understands. */
export async function readSignIn(
  vault: SecretVault,
  name: string,
): Promise<SignInRecord | undefined> {
  const text = await vault.read(name);
  return text === undefined ? undefined : parseSignIn(text);
}

export async function writeSignIn(
  vault: SecretVault,
  name: string,
  record: SignInRecord,
): Promise<void> {
  await vault.write(name, JSON.stringify({ version: 1, ...record }));
}

/** The vault vouches for the text; this only tells another version's record from ours. */
function parseSignIn(text: string): SignInRecord | undefined {
  const value: unknown = JSON.parse(text);
  if (!isJsonObject(value) || value["version"] !== 1) return undefined;
  const { version: _version, ...record } = value;
  return record as unknown as SignInRecord;
}

/** How long before its end a token is renewed: a tenth of its life, and at most this. */
const longestMarginMs = 30_000;

/** Whether a token is good for one more request. Without an end it is, until the server says otherwise. */
export function isFresh({ expiresAt, issuedAt }: SignInRecord, now: number): boolean {
  if (expiresAt === undefined) return true;
  const margin = Math.min(longestMarginMs, (expiresAt - issuedAt) / 10);
  return now < expiresAt - margin;
}

export function isExpired({ expiresAt }: SignInRecord, now: number): boolean {
  return expiresAt !== undefined && now >= expiresAt;
}

/** The scopes that were asked for and not given; none where the issuer did not say what it gave. */
export function missingScopes({ requestedScopes, scopes }: SignInRecord): readonly string[] {
  return requestedScopes.filter((scope) => !scopes.includes(scope) && scope !== "offline_access");
}
