import { looksLikeSecret, mask, redact } from "../../text/secrets/redact.ts";
import { reveal, SecretText } from "../../text/secrets/secret-text.ts";
import type { ConfigText, ServerConfig } from "../keys/server-config.ts";
import { isPureReference, parseTemplate } from "../variables/variable-reference.ts";

const secretOption = /^--?(?:[\w-]*[-_])?(?:api[-_]?key|token|secret|password|passwd)$/i;
// Credentials are short, so only the beginning of a huge argument is searched.
const maxLookedAt = 4_096;

/**
 * Hides a value of `env`, `headers` or `auth`. Any of them may be a secret; only one made of `${VAR}`
 * alone says no more than where the secret comes from.
 */
export function hideValue(value: ConfigText): ConfigText {
  const text = reveal(value);
  return isPureReference(text) ? text : new SecretText(text);
}

export function hideValues(
  values: Readonly<Record<string, ConfigText>>,
): Readonly<Record<string, ConfigText>> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, hideValue(value)] as const),
  );
}

/** Hides the credential in an address; `isSecret` hides it all when no credential can be recognised. */
export function hideInAddress(address: string, isSecret: boolean): ConfigText {
  return isSecret || redact(address) !== address ? hidden(address) : address;
}

/** Hides arguments that look like a credential or follow an option that asks for one. */
export function hideArguments(args: readonly ConfigText[]): readonly ConfigText[] {
  const words = args.map(reveal);
  return args.map((arg, index) => {
    const word = words[index] ?? "";
    const isHidden = SecretText.is(arg) || isCredentialWord(word, words[index - 1]);
    return isHidden ? hidden(word) : word;
  });
}

/**
 * Finds the first value of `env`, `headers` or `auth` that is the mask of a secret. An entry copied from
 * printed output has lost its secret, and the user must not learn that from a server that refuses the mask.
 */
export function findMask({
  transport,
  auth,
}: ServerConfig): readonly [key: "env" | "headers" | "auth", name: string] | undefined {
  const groups = {
    env: "env" in transport ? transport.env : {},
    headers: "headers" in transport ? transport.headers : {},
    auth,
  };
  for (const key of ["env", "headers", "auth"] as const)
    for (const [name, value] of Object.entries(groups[key] as Readonly<Record<string, unknown>>))
      if (SecretText.is(value) && value.equals(mask)) return [key, name];
  return undefined;
}

function hidden(text: string): SecretText {
  const shown = redact(text);
  return new SecretText(text, shown === text ? mask : shown);
}

/** Whether an argument looks like a credential, or follows an option that asks for one. */
export function isCredentialWord(word: string, before: string | undefined): boolean {
  const literal = literalText(word.slice(0, maxLookedAt));
  const isOptionValue =
    before !== undefined && secretOption.test(before) && !word.startsWith("-") && literal !== "";
  return isOptionValue || looksLikeSecret(literal);
}

/** Returns the text of a template without its references. */
function literalText(template: string): string {
  if (!template.includes("$")) return template;
  const parts = parseTemplate(template);
  return parts.map((part) => (part.type === "text" ? part.text : "")).join("");
}
