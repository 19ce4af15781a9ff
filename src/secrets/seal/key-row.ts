import { type KeyObject, randomBytes } from "node:crypto";

import {
  fieldMark,
  keyBytes,
  keyIdOf,
  openBytes,
  sealBytes,
  sealVersion,
  toText,
} from "./envelope.ts";
import { keyRowId } from "./reserved-names.ts";
import { secretError } from "./secret-error.ts";

/** Who can hold the key that the data key is sealed under, in the order in which a new vault asks them. */
export const holderKinds = ["environment", "passphrase", "keychain", "file"] as const;
export type HolderKind = (typeof holderKinds)[number];

/** Where the key of a vault is held. */
export interface HeldKey {
  readonly kind: HolderKind;
  /** The salt of a passphrase, the name of a file or of an entry of the keychain; empty for the environment. */
  readonly place: string;
}

/** What the key row says without a key. */
export interface KeyRow extends HeldKey {
  readonly dataKeyId: string;
  /** The id of the holder's key. */
  readonly holderKeyId: string;
  readonly head: string;
  readonly fields: readonly string[];
}

/** A place is part of a path and of a command line: only what `newPlace` makes is one. */
const placePattern = /^[\w-]{22}$/;

export function newPlace(): string {
  return toText(randomBytes(16));
}

/** Makes the key that secrets are sealed under; the vault has one at a time. */
export function newDataKey(): { readonly id: string; readonly bytes: Buffer } {
  return { id: toText(randomBytes(12)), bytes: randomBytes(keyBytes) };
}

/**
 * Writes the key row: `v1|data key's id|holder|place|holder key's id|iv|ciphertext|tag`. All of it is bound into the seal.
 * The bytes of the data key stay the caller's.
 */
export function wrapDataKey(
  { id, bytes }: { readonly id: string; readonly bytes: Buffer },
  { kind, place }: HeldKey,
  holderKey: KeyObject,
): string {
  const head = [sealVersion, id, kind, place, keyIdOf(holderKey)].join(fieldMark);
  return `${head}${fieldMark}${sealBytes(holderKey, bytes, boundTo(head))}`;
}

/** Reads what the key row says without a key. Throws for a form that is not known here. */
export function parseKeyRow(row: string): KeyRow {
  const [version, dataKeyId, kind, place, holderKeyId, ...fields] = row.split(fieldMark);
  if (version !== sealVersion)
    throw secretError("version", "the vault of secrets has a form that is not known", {
      hint: "update plugboard, or restore the database from a backup",
    });
  const known = holderKinds.find((holder) => holder === kind);
  const isPlace = known === "environment" ? place === "" : placePattern.test(place ?? "");
  if (known === undefined || !isPlace || dataKeyId === undefined || holderKeyId === undefined)
    throw damagedKeyRow();
  const head = [version, dataKeyId, known, place, holderKeyId].join(fieldMark);
  return { dataKeyId, kind: known, place: place ?? "", holderKeyId, head, fields };
}

/**
 * Opens the data key; undefined when `holderKey` is not the key that it is sealed under. The caller takes the bytes over or
 * wipes them.
 */
export function unwrapDataKey(row: KeyRow, holderKey: KeyObject): Buffer | undefined {
  if (keyIdOf(holderKey) !== row.holderKeyId) return undefined;
  const bytes = openBytes(holderKey, row.fields, boundTo(row.head));
  if (bytes?.length !== keyBytes) throw damagedKeyRow();
  return bytes;
}

function boundTo(head: string): string {
  return `plugboard key\n${head}\n${keyRowId}`;
}

function damagedKeyRow(): Error {
  return secretError("damaged", "the key of the vault was changed after it was sealed", {
    hint: "restore the database from a backup; no secret can be read without that row",
  });
}
