export const mask = "[redacted]";

// What credentials look like: each pattern has what stays as its first group, the credential as its second.
const credentialPatterns: readonly RegExp[] = [
  /\b()(gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,})/g,
  /\b()(sk-[A-Za-z0-9_-]{16,})/g,
  /\b()(xox[abprs]-[A-Za-z0-9-]{10,})/g,
  /\b()(AKIA[0-9A-Z]{16})\b/g,
  // Only at the start of a run: a long one without dots must not be searched anew from every `eyJ`.
  /()(?<![A-Za-z0-9_-])(eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*)/g,
  // The user and password of an address. A reference is no password, and the name in front of it is no secret then.
  /(\b[a-z][a-z0-9+.-]{0,30}:\/\/)(?!(?:(?:[\w.-]{0,32}|\$\{(?:env:)?\w+\}):)?\$\{(?:env:)?\w+\}@)([^\s/@]+)(?=@)/gi,
  /\b((?:Bearer|Basic)\s+)([A-Za-z0-9._~+/=-]{6,})/gi,
  /((?:api[-_]?key|token|secret|password|passwd|authorization)["']?\s*[=:]\s*["']?)(?!\$\{(?:env:)?\w+\})([^\s"',;}&]{4,})/gi,
  // Words such as `key` name a credential in the query of an address only. A reference is none.
  /([?&](?:[\w.-]{0,40}[-_.])?(?:key|sig|signature|auth|pass|pwd|jwt)=)(?!\$\{(?:env:)?\w+\})([^\s"'<>&#]{4,})/gi,
];
/** Every pattern needs one of these: most texts have none, and are looked through once. */
const credentialMark =
  /gh[pousr]_|github_pat_|sk-|xox[abprs]-|AKIA|eyJ|@|bearer|basic|api[-_]?key|token|secret|passw|authorization|[?&]/i;
/** A scheme is followed by the credential itself, which has a pattern of its own. */
const schemeOrMask = /^(?:Bearer|Basic|\[redacted\])/i;

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
  if (!credentialMark.test(result)) return result;
  for (const pattern of credentialPatterns) result = result.replace(pattern, maskCredential);
  return result;
}

function maskCredential(match: string, before: string, credential: string): string {
  return schemeOrMask.test(credential) ? match : `${before}${mask}`;
}

/** The parts of `text` that `redact` would mask. */
export function credentialsIn(text: string): readonly string[] {
  const found: string[] = [];
  let rest = text;
  for (const pattern of credentialPatterns)
    rest = rest.replace(pattern, (match: string, before: string, credential: string) => {
      const masked = maskCredential(match, before, credential);
      if (masked !== match) found.push(credential);
      return masked;
    });
  return found;
}

/** What at least one of is in every shape above. */
const anyMark = /gh[pousr]_|github_pat_|sk-|xox[abprs]-|AKIA|eyJ|[@=:\s]/;

/** Whether a word on a command line looks like a credential. */
export function looksLikeSecret(text: string): boolean {
  // A host looks at every word of every entry when it starts.
  return anyMark.test(text) && redact(text) !== text;
}
