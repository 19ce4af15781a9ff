import type { KeyObject } from "node:crypto";

import { fieldMark, openBytes, sealBytes, sealVersion } from "./envelope.ts";
import { secretError } from "./secret-error.ts";

/** The key that secrets are sealed under. */
export interface DataKey {
  readonly id: string;
  readonly key: KeyObject;
}

/** Seals a secret as `v1|keyId|iv|ciphertext|tag`. Its name, the version and the key's id are bound into the seal. */
export function sealSecret({ id, key }: DataKey, name: string, value: string): string {
  const head = `${sealVersion}${fieldMark}${id}`;
  // As JSON, which has a form for every string; UTF-8 has none for half of a surrogate pair.
  const plain = Buffer.from(JSON.stringify(value), "utf8");
  try {
    return `${head}${fieldMark}${sealBytes(key, plain, boundTo(head, name))}`;
  } finally {
    plain.fill(0);
  }
}

/** Reads which key a row is sealed under. Throws for a version that is not known here. */
export function readKeyId(envelope: string, name: string): string {
  const [version, keyId] = envelope.split(fieldMark);
  if (version !== sealVersion || keyId === undefined) throw unknownVersion(name);
  return keyId;
}

/** Opens what `sealSecret` made, or throws: nothing of it is returned then. */
export function openSecret({ id, key }: DataKey, name: string, envelope: string): string {
  const [version, keyId, ...fields] = envelope.split(fieldMark);
  if (version !== sealVersion) throw unknownVersion(name);
  const head = `${sealVersion}${fieldMark}${id}`;
  const plain = keyId === id ? openBytes(key, fields, boundTo(head, name)) : undefined;
  if (plain === undefined) throw damaged(name);
  try {
    return JSON.parse(plain.toString("utf8")) as string;
  } finally {
    plain.fill(0);
  }
}

/** The name comes last: it alone may hold any character. */
function boundTo(head: string, name: string): string {
  return `plugboard secret\n${head}\n${name}`;
}

function unknownVersion(name: string): Error {
  return secretError("version", `the secret ${JSON.stringify(name)} has a form that is not known`, {
    hint: "update plugboard, or restore the database from a backup",
    details: { secret: name },
  });
}

export function damaged(name: string): Error {
  return secretError(
    "damaged",
    `the secret ${JSON.stringify(name)} was changed after it was sealed, or belongs to another name or vault`,
    {
      hint: "restore the database from a backup, or set the secret anew",
      details: { secret: name },
    },
  );
}
