import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  type KeyObject,
  randomBytes,
} from "node:crypto";

/** AES-256-GCM with the parameters of version 1: a random nonce of 96 bits, a whole tag. */
const algorithm = "aes-256-gcm";
const ivBytes = 12;
const tagBytes = 16;
export const keyBytes = 32;
const keyIdBytes = 12;

/** The version of all that is sealed here. It stands first, so that a later one can change everything after it. */
export const sealVersion = "v1";

/** The separator of fields: no character of base64url. */
export const fieldMark = "|";

/**
 * Seals bytes as `iv|ciphertext|tag`. They can be opened only together with the same `boundTo`, which says what they are
 * and where they belong.
 */
export function sealBytes(key: KeyObject, plain: Uint8Array, boundTo: string): string {
  const iv = randomBytes(ivBytes);
  const cipher = createCipheriv(algorithm, key, iv, { authTagLength: tagBytes });
  cipher.setAAD(Buffer.from(boundTo, "utf8"));
  const sealed = Buffer.concat([cipher.update(plain), cipher.final()]);
  return [iv, sealed, cipher.getAuthTag()].map(toText).join(fieldMark);
}

/** Opens what `sealBytes` made; undefined when key, `boundTo` or a single bit of it is another. */
export function openBytes(
  key: KeyObject,
  fields: readonly string[],
  boundTo: string,
): Buffer | undefined {
  const [iv, sealed, tag, ...rest] = fields.map(fromText);
  if (iv?.length !== ivBytes || tag?.length !== tagBytes || sealed === undefined) return undefined;
  if (rest.length > 0) return undefined;
  const decipher = createDecipheriv(algorithm, key, iv, { authTagLength: tagBytes });
  decipher.setAAD(Buffer.from(boundTo, "utf8"));
  decipher.setAuthTag(tag);
  const plain = decipher.update(sealed);
  try {
    return Buffer.concat([plain, decipher.final()]);
  } catch {
    // The tag does not fit.
    return undefined;
  } finally {
    // What was deciphered before the tag was looked at is nobody's to see, nor is the first of two copies.
    plain.fill(0);
  }
}

/** Names a key without telling anything of it: who has another key learns that, instead of finding damage. */
export function keyIdOf(key: KeyObject): string {
  const hash = createHmac("sha256", key).update("plugboard: the name of this key").digest();
  return toText(hash.subarray(0, keyIdBytes));
}

/** Takes the bytes of a key over, out of reach of `inspect` and JSON, and wipes them. */
export function takeKey(bytes: Buffer): KeyObject {
  const key = createSecretKey(bytes);
  bytes.fill(0);
  return key;
}

export function toText(bytes: Buffer): string {
  return bytes.toString("base64url");
}

/** Decodes base64url; undefined for a text that is not exactly what `toText` gives: two texts never mean the same bytes. */
export function fromText(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, "base64url");
  return toText(bytes) === text ? bytes : undefined;
}
