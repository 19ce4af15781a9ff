/** What a server says about signing in when it refuses a request. Every text is the server's and not safe to show. */
export interface AuthChallenge {
  /** In lower case: `bearer`, `dpop`, `basic`, … */
  readonly scheme: string;
  readonly error?: string;
  /** The scopes that a token needs, separated by spaces. */
  readonly scope?: string;
  /** Where the server describes how to sign in (RFC 9728). */
  readonly resourceMetadata?: string;
}

const maxHeaderChars = 8_192;
const maxChallenges = 8;

// A scheme is a word that no `=` follows; a parameter is a word, `=`, and a word or a quoted text.
const schemeAt = /[\s,]*([!#$%&'*+.^_`|~0-9A-Za-z-]{1,40})(?=\s|,|$)(?!\s*=)/y;
const parameterAt =
  /[\s,]*([!#$%&'*+.^_`|~0-9A-Za-z-]{1,40})\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]*))/y;

/** Reads the headers `WWW-Authenticate` of a response; unreadable parts are left out. */
export function parseChallenges(
  header: string | readonly string[] | undefined,
): readonly AuthChallenge[] {
  const text = (typeof header === "string" ? header : (header ?? []).join(", ")).slice(
    0,
    maxHeaderChars,
  );
  const challenges: (Record<string, string> & { scheme: string })[] = [];
  let index = 0;
  const match = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = index;
    const found = pattern.exec(text);
    if (found !== null) index = pattern.lastIndex;
    return found;
  };
  while (index < text.length && challenges.length <= maxChallenges) {
    const parameter = match(parameterAt);
    if (parameter !== null) {
      const [, name = "", quoted, plain = ""] = parameter;
      const challenge = challenges.at(-1);
      if (challenge !== undefined)
        challenge[name.toLowerCase()] ??= quoted?.replaceAll(/\\(.)/g, "$1") ?? plain;
      continue;
    }
    const scheme = match(schemeAt);
    if (scheme === null) break;
    challenges.push({ scheme: scheme[1]?.toLowerCase() ?? "" });
  }
  const read = challenges.slice(0, maxChallenges);
  return read.map(({ scheme, error, scope, resource_metadata: resourceMetadata }) => ({
    scheme,
    ...(error === undefined ? {} : { error }),
    ...(scope === undefined ? {} : { scope }),
    ...(resourceMetadata === undefined ? {} : { resourceMetadata }),
  }));
}

/** The challenge that a token can answer; of several the first. */
export function tokenChallenge(challenges: readonly AuthChallenge[]): AuthChallenge | undefined {
  return challenges.find(({ scheme }) => scheme === "bearer" || scheme === "dpop");
}

/** The distinct scopes of texts that name some, in the order in which they come. */
export function scopesIn(...texts: readonly (string | undefined)[]): readonly string[] {
  return [...new Set(texts.flatMap((text) => (text ?? "").split(/\s+/)).filter((it) => it !== ""))];
}
