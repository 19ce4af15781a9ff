import { createHash, randomBytes } from "node:crypto";

import type { Clock } from "../../ports/clock.ts";
import type { AuthorizationServerOptions } from "./authorization-options.ts";
import { type Refusal, refuse } from "./oauth-answer.ts";

/** What somebody was allowed; tokens made from it share its family and are revoked with it. */
export interface TokenGrant {
  readonly clientId: string;
  readonly scopes: readonly string[];
  /** The resource the tokens are for; undefined for tokens that are good anywhere. */
  readonly resource: string | undefined;
  /** The thumbprint of the key the tokens are bound to. */
  readonly boundTo?: string | undefined;
  readonly family: string;
}

export interface CodeTerms {
  readonly grant: Omit<TokenGrant, "family">;
  readonly redirectUri: string;
  readonly challenge: string | undefined;
}

interface Code extends CodeTerms {
  readonly family: string;
  readonly expiresAt: number;
  isUsed: boolean;
}

interface RefreshToken {
  readonly grant: TokenGrant;
  /** The token it was made from: it ends when this one is used. */
  readonly parent: string | undefined;
  isEnded: boolean;
  useCount: number;
}

export interface IssueOptions {
  readonly canRefresh: boolean;
  /** The refresh token that was presented for these. */
  readonly from?: string | undefined;
  /** Fewer than those of the grant, for this access token only. */
  readonly scopes?: readonly string[] | undefined;
}

export interface IssuedTokens {
  readonly accessToken: string;
  readonly refreshToken: string | undefined;
}

export type TokenFailure = "unknown" | "expired" | "revoked";

const codeLifetimeMs = 60_000;

/** Codes and tokens of one server. All are opaque: only this book knows what they stand for. */
export class TokenBook {
  readonly #clock: Clock;
  readonly #lifetimeMs: number;
  readonly #refresh: NonNullable<AuthorizationServerOptions["refresh"]>;
  readonly #codes = new Map<string, Code>();
  readonly #access = new Map<string, { readonly grant: TokenGrant; expiresAt: number }>();
  readonly #refreshTokens = new Map<string, RefreshToken>();
  readonly #revoked = new Set<string>();
  /** How often a refresh token was presented that had been presented before. */
  refreshReuseCount = 0;

  constructor(options: AuthorizationServerOptions, clock: Clock) {
    this.#clock = clock;
    this.#lifetimeMs = options.tokenLifetimeMs ?? 3_600_000;
    this.#refresh = options.refresh ?? "rotate";
  }

  issueCode(terms: CodeTerms): string {
    const code = newToken("code");
    const expiresAt = this.#clock.now() + codeLifetimeMs;
    this.#codes.set(code, { ...terms, family: newToken("family"), expiresAt, isUsed: false });
    return code;
  }

  /** A code is good once; a second use revokes what the first one gave. */
  takeCode(text: string): { readonly terms: CodeTerms; readonly family: string } | Refusal {
    const code = this.#codes.get(text);
    if (code === undefined) return refuse("invalid_grant", "The code is not known.");
    if (code.isUsed) {
      this.#revoked.add(code.family);
      return refuse("invalid_grant", "The code was used before.");
    }
    code.isUsed = true;
    if (code.expiresAt <= this.#clock.now())
      return refuse("invalid_grant", "The code has expired.");
    return { terms: code, family: code.family };
  }

  issue(grant: TokenGrant, { canRefresh, from: parent, scopes }: IssueOptions): IssuedTokens {
    const accessToken = newToken("access");
    const expiresAt = this.#clock.now() + this.#lifetimeMs;
    this.#access.set(accessToken, {
      grant: { ...grant, scopes: scopes ?? grant.scopes },
      expiresAt,
    });
    const isKept = parent !== undefined && this.#refresh === "keep";
    if (!canRefresh || isKept || this.#refresh === "none")
      return { accessToken, refreshToken: undefined };
    const refreshToken = newToken("refresh");
    this.#refreshTokens.set(refreshToken, { grant, parent, isEnded: false, useCount: 0 });
    return { accessToken, refreshToken };
  }

  /** The grant behind a refresh token; presenting one has the effects of the chosen rotation. */
  takeRefreshToken(text: string, clientId: string): TokenGrant | Refusal {
    const token = this.#refreshTokens.get(text);
    if (token === undefined || token.grant.clientId !== clientId)
      return refuse("invalid_grant", "The refresh token is not known.");
    token.useCount += 1;
    if (token.useCount > 1) this.refreshReuseCount += 1;
    if (this.#refresh === "rotate-strict" && token.useCount > 1) {
      this.#revoked.add(token.grant.family);
      return refuse("invalid_grant", "The refresh token was used before; its family is revoked.");
    }
    if (this.#revoked.has(token.grant.family))
      return refuse("invalid_grant", "The refresh token was revoked.");
    if (this.#refresh === "rotate") {
      if (token.isEnded) return refuse("invalid_grant", "The refresh token was replaced.");
      const parent = this.#refreshTokens.get(token.parent ?? "");
      if (parent !== undefined) parent.isEnded = true;
    }
    return token.grant;
  }

  /** The grant behind an access token that is good now, or why it is not. */
  look(accessToken: string): TokenGrant | TokenFailure {
    const token = this.#access.get(accessToken);
    if (token === undefined) return "unknown";
    if (this.#revoked.has(token.grant.family)) return "revoked";
    return token.expiresAt <= this.#clock.now() ? "expired" : token.grant;
  }

  expire(accessToken: string): void {
    const token = this.#access.get(accessToken);
    if (token !== undefined) token.expiresAt = this.#clock.now();
  }

  expireAll(): void {
    for (const accessToken of this.#access.keys()) this.expire(accessToken);
  }

  /** Either kind of token ends all of its family (RFC 7009). */
  revoke(text: string, clientId: string): void {
    const token = this.#access.get(text) ?? this.#refreshTokens.get(text);
    if (token?.grant.clientId === clientId) this.#revoked.add(token.grant.family);
  }

  revokeAll(): void {
    for (const { grant } of [...this.#access.values(), ...this.#refreshTokens.values()])
      this.#revoked.add(grant.family);
  }
}

export function newToken(kind: string): string {
  return `${kind}-${randomBytes(24).toString("base64url")}`;
}

/** What PKCE makes of a verifier. */
export function challengeOf(verifier: string, method: "S256" | "plain"): string {
  if (method === "plain") return verifier;
  return createHash("sha256").update(verifier).digest("base64url");
}
