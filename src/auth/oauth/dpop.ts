import { createHash } from "node:crypto";

import type { DpopKeyPair, DpopSession } from "@modelcontextprotocol/client";

import { loadOAuth } from "./oauth-sdk.ts";

type Jwk = Readonly<Record<string, unknown>>;

const algorithm = { name: "ECDSA", namedCurve: "P-256" } as const;

/** A key that tokens are bound to (RFC 9449), and the form in which the vault keeps it. */
export interface DpopKey {
  readonly session: DpopSession;
  readonly jwk: Jwk;
}

export async function createDpopKey(): Promise<DpopKey> {
  const { subtle } = globalThis.crypto;
  const { privateKey } = await subtle.generateKey(algorithm, true, ["sign", "verify"]);
  return await openDpopKey((await subtle.exportKey("jwk", privateKey)) as Jwk);
}

/** Opens a key that was kept. From here on it can sign, and cannot be read again. */
export async function openDpopKey(jwk: Jwk): Promise<DpopKey> {
  const { subtle } = globalThis.crypto;
  const { kty, crv, x, y } = jwk;
  const publicJwk = { kty, crv, x, y } as DpopKeyPair["publicJwk"];
  const privateKey = await subtle.importKey("jwk", jwk, algorithm, false, ["sign"]);
  const publicKey = await subtle.importKey("jwk", publicJwk, algorithm, true, ["verify"]);
  // RFC 7638: these members in this order.
  const thumbprint = createHash("sha256")
    .update(JSON.stringify({ crv, kty, x, y }))
    .digest("base64url");
  const { DpopSession: Session } = await loadOAuth();
  const keyPair: DpopKeyPair = { privateKey, publicKey, publicJwk, thumbprint, alg: "ES256" };
  return { session: await Session.create({ keyPair }), jwk };
}
