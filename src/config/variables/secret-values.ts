import { looksLikeSecret } from "../../text/secrets/redact.ts";
import { isPureReference } from "./variable-reference.ts";

const tellingName = /key|token|secret|pass|auth(?!or(?!i))|credential|cookie|session|private/i;
const harmlessName =
  /(?:^|[_-])(?:path|dir|directory|home|root|file|folder|lang|locale|port|host|mode|level|env|debug|region|tz|user|shell|term|timeout|accept|type|agent|version)$/i;
const bareOrigin = /^https?:\/\/[^/?#@]+\/?$/;

/**
 * Whether the value of a variable, header or setting called `name` must be kept out of logs. Every value
 * that is not known to be harmless is a secret: a masked word costs less than a leaked one.
 */
export function isSecretValue(name: string, value: string): boolean {
  if (tellingName.test(name)) return value.length >= 4;
  return value.length >= 8 && !harmlessName.test(name) && !bareOrigin.test(value);
}

/** Matches random text: long, of one piece, with digits among its letters. */
const randomText = /^(?=.*[A-Za-z])(?:[^\d]*\d){4}[A-Za-z0-9+/=_-]*$/;
const onePiece = /^[A-Za-z0-9][A-Za-z0-9+/=_-]{19,1000}$/;

/**
 * Whether a value looks like a secret by its name, its shape or its randomness. Questions to a person use
 * this, because a hidden value could be the attack; logs hide more, see `isSecretValue`.
 */
export function looksSecret(name: string, value: string): boolean {
  if (isPureReference(value)) return false;
  if (tellingName.test(name)) return value.length >= 4;
  return (onePiece.test(value) && randomText.test(value)) || looksLikeSecret(value);
}

/** Matches a plain word that could be part of any name; no credential is one. */
const plainWord = /^[A-Za-z]{1,15}$/;

/**
 * Whether a secret is a credential, and not just a setting that nobody needs to read: the name of a
 * project may be part of a tool's name, a token may not.
 */
export function isCredential(name: string, value: string): boolean {
  if (value.length < 8 || plainWord.test(value)) return false;
  return tellingName.test(name) || looksLikeSecret(value);
}
