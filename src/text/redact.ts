export const mask = "[redacted]";

// Shapes of credentials that are recognisable wherever they appear.
const patterns: readonly RegExp[] = [
  /\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,})/g,
  /\bsk-[A-Za-z0-9_-]{16,}/g,
  /\bxox[abprs]-[A-Za-z0-9-]{10,}/g,
  /\bAKIA[0-9A-Z]{16}\b/g,
  // Only at the start of a run: a long one without dots must not be searched anew from every `eyJ`.
  /(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*/g,
];
const authorizationValue = /\b(Bearer|Basic)\s+[A-Za-z0-9._~+/=-]{6,}/gi;
const assignedSecret =
  /((?:api[-_]?key|token|secret|password|passwd|authorization)["']?\s*[=:]\s*["']?)([^\s"',;}&]{4,})/gi;
const urlUserInfo = /(\b[a-z][a-z0-9+.-]{0,30}:\/\/)[^\s/@]+@/gi;

/** The values that are looked for, in the order in which they have to be: shorter ones would be found in everything. */
export function findable(known: Iterable<string>): readonly string[] {
  // Longest first, so that a secret that contains another one leaves no tail behind.
  return [...known].filter(({ length }) => length >= 4).toSorted((a, b) => b.length - a.length);
}

/** `known` as `findable` gives it. */
export function maskKnown(text: string, known: readonly string[]): string {
  return known.reduce((rest, value) => rest.replaceAll(value, mask), text);
}

/** `text` without anything that looks like a credential, and without the `known` secret values. */
export function redact(text: string, known: Iterable<string> = []): string {
  let result = maskKnown(text, findable(known));
  for (const pattern of patterns) result = result.replace(pattern, mask);
  return result
    .replace(urlUserInfo, `$1${mask}@`)
    .replace(authorizationValue, `$1 ${mask}`)
    .replace(assignedSecret, (match, key: string, value: string) =>
      /^(?:Bearer|Basic|\[redacted\])/i.test(value) ? match : `${key}${mask}`,
    );
}

/** Each shape has a mark in it, or is longer. */
const shortPlainWord = /^[a-z0-9]{0,19}$/i;

/** Whether a word on a command line looks like a credential. */
export function looksLikeSecret(text: string): boolean {
  // A host looks at every word of every entry when it starts.
  return !shortPlainWord.test(text) && redact(text) !== text;
}
