import { createHash, randomUUID } from "node:crypto";

import type { Clock } from "../../ports/clock.ts";
import { isJsonObject } from "../../text/json-object.ts";
import { type Refusal, refuse } from "./oauth-answer.ts";
import { isSignedBy, readJwt, thumbprintOf } from "./signed-jwt.ts";

/** What a proof must be about. */
export interface ProvenRequest {
  readonly method: string;
  readonly url: string;
  readonly proof: string;
  /** Set where a token is used: the proof must name it. */
  readonly accessToken?: string | undefined;
}

export interface ProvenKey {
  /** RFC 7638 thumbprint: what a token is bound to. */
  readonly thumbprint: string;
}

const oldestProofMs = 300_000;

/** Checks proofs of possession (RFC 9449) of one server: each is taken once, with its nonce if it wants one. */
export class DpopProofs {
  readonly #clock: Clock;
  readonly #seen = new Set<string>();
  #nonce: string | undefined;

  constructor(clock: Clock, wantsNonce: boolean) {
    this.#clock = clock;
    this.#nonce = wantsNonce ? randomUUID() : undefined;
  }

  /** Undefined when none is wanted. */
  get nonce(): string | undefined {
    return this.#nonce;
  }

  /** Proofs with the nonce so far are refused from now on. */
  renewNonce(): void {
    if (this.#nonce !== undefined) this.#nonce = randomUUID();
  }

  check(request: ProvenRequest): ProvenKey | Refusal {
    const jwt = readJwt(request.proof);
    const jwk = jwt?.header["jwk"];
    if (jwt === undefined || jwt.header["typ"] !== "dpop+jwt" || !isJsonObject(jwk))
      return invalid("The DPoP header is no proof.");
    if ("d" in jwk || !isSignedBy(jwt, jwk)) return invalid("The proof is not signed by its key.");
    const { htm, htu, iat, jti, ath, nonce } = jwt.claims;
    if (htm !== request.method) return invalid("The proof is for another method (htm).");
    if (htu !== withoutQuery(request.url)) return invalid("The proof is for another URL (htu).");
    if (typeof iat !== "number" || Math.abs(this.#clock.now() - iat * 1_000) > oldestProofMs)
      return invalid("The proof is not of now (iat).");
    if (typeof jti !== "string" || jti === "") return invalid("The proof has no jti.");
    if (request.accessToken !== undefined && ath !== hashOf(request.accessToken))
      return invalid("The proof is for another access token (ath).");
    if (this.#nonce !== undefined && nonce !== this.#nonce) return this.#wantNonce();
    if (this.#seen.has(jti)) return invalid("The proof was used before (jti).");
    this.#seen.add(jti);
    return { thumbprint: thumbprintOf(jwk) };
  }

  #wantNonce(): Refusal {
    const headers = { "dpop-nonce": this.#nonce ?? "" };
    return refuse("use_dpop_nonce", "The proof needs the nonce of this server.", 400, headers);
  }
}

function invalid(description: string): Refusal {
  return refuse("invalid_dpop_proof", description);
}

function withoutQuery(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}

function hashOf(accessToken: string): string {
  return createHash("sha256").update(accessToken).digest("base64url");
}
