import {
  type JsonWebKey,
  type KeyObject,
  createHash,
  createPublicKey,
  generateKeyPairSync,
  sign,
  verify,
} from "node:crypto";

import { isJsonObject, type JsonObject } from "../../text/json-object.ts";
import type { PublicKey } from "./authorization-options.ts";

/** A JWT taken apart; nothing about it is checked yet. */
export interface ReadJwt {
  readonly header: JsonObject;
  readonly claims: JsonObject;
  readonly signed: Buffer;
  readonly signature: Buffer;
}

interface Algorithm {
  readonly hash: string | undefined;
  readonly keyType: string;
  readonly options: { readonly dsaEncoding?: "ieee-p1363"; readonly padding?: number };
}

/** `RSA_PKCS1_PSS_PADDING` of OpenSSL. */
const pssPadding = 6;

/** Asymmetric ones only: a shared secret proves nothing about who signed, and `none` nothing at all. */
const algorithms: Readonly<Record<string, Algorithm>> = {
  ES256: { hash: "sha256", keyType: "ec", options: { dsaEncoding: "ieee-p1363" } },
  ES384: { hash: "sha384", keyType: "ec", options: { dsaEncoding: "ieee-p1363" } },
  ES512: { hash: "sha512", keyType: "ec", options: { dsaEncoding: "ieee-p1363" } },
  RS256: { hash: "sha256", keyType: "rsa", options: {} },
  RS384: { hash: "sha384", keyType: "rsa", options: {} },
  RS512: { hash: "sha512", keyType: "rsa", options: {} },
  PS256: { hash: "sha256", keyType: "rsa", options: { padding: pssPadding } },
  PS384: { hash: "sha384", keyType: "rsa", options: { padding: pssPadding } },
  PS512: { hash: "sha512", keyType: "rsa", options: { padding: pssPadding } },
  EdDSA: { hash: undefined, keyType: "ed25519", options: {} },
};

export const signingAlgorithms: readonly string[] = Object.keys(algorithms);

export function readJwt(text: string): ReadJwt | undefined {
  const parts = text.split(".");
  const [header = "", claims = "", signature = ""] = parts;
  const decoded = [header, claims].map(parsePart);
  if (parts.length !== 3 || !decoded.every(isJsonObject)) return undefined;
  return {
    header: decoded[0] ?? {},
    claims: decoded[1] ?? {},
    signed: Buffer.from(`${header}.${claims}`),
    signature: Buffer.from(signature, "base64url"),
  };
}

function parsePart(part: string): unknown {
  try {
    return JSON.parse(Buffer.from(part, "base64url").toString("utf8"));
  } catch {
    return undefined;
  }
}

/** Whether the holder of the key signed the token, with an algorithm that fits the key. */
export function isSignedBy({ header, signed, signature }: ReadJwt, key: PublicKey): boolean {
  const name = String(header["alg"]);
  const algorithm = Object.hasOwn(algorithms, name) ? algorithms[name] : undefined;
  const keyObject = readPublicKey(key);
  if (algorithm === undefined || keyObject?.asymmetricKeyType !== algorithm.keyType) return false;
  return verify(algorithm.hash, signed, { key: keyObject, ...algorithm.options }, signature);
}

function readPublicKey(key: PublicKey): KeyObject | undefined {
  try {
    return createPublicKey(typeof key === "string" ? key : { key, format: "jwk" });
  } catch {
    return undefined;
  }
}

/** The members a thumbprint is made of, in their order (RFC 7638). */
const thumbprintMembers: Readonly<Record<string, readonly string[]>> = {
  EC: ["crv", "kty", "x", "y"],
  RSA: ["e", "kty", "n"],
  OKP: ["crv", "kty", "x"],
};

export function thumbprintOf(jwk: JsonObject): string {
  const members = thumbprintMembers[String(jwk["kty"])] ?? [];
  const canonical = JSON.stringify(Object.fromEntries(members.map((name) => [name, jwk[name]])));
  return createHash("sha256").update(canonical).digest("base64url");
}

export interface SigningKey {
  readonly publicKey: JsonWebKey;
  /** A JWT over these claims; `typ` tells kinds of tokens apart. */
  sign(claims: JsonObject, typ?: string): string;
}

function encode(part: JsonObject): string {
  return Buffer.from(JSON.stringify(part)).toString("base64url");
}

/** A fresh ES256 key. */
export function createSigningKey(): SigningKey {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return {
    publicKey: publicKey.export({ format: "jwk" }),
    sign(claims, typ = "JWT") {
      const signed = `${encode({ alg: "ES256", typ })}.${encode(claims)}`;
      const key = { key: privateKey, dsaEncoding: "ieee-p1363" } as const;
      return `${signed}.${sign("sha256", Buffer.from(signed), key).toString("base64url")}`;
    },
  };
}
