import { looksLikeSecret, mask, redact } from "../../text/redact.ts";
import { reveal, SecretText } from "../../text/secret-text.ts";
import type { ConfigText } from "../keys/server-config.ts";
import { isPureReference, parseTemplate } from "../variables/variable-reference.ts";

const secretOption = /^--?(?:[\w-]*[-_])?(?:api[-_]?key|token|secret|password|passwd)$/i;
// Credentials are short; the rest of a huge argument is not worth the time.
const maxLookedAt = 4_096;

/**
 * A value of `env`, `headers` or `auth`. Any of them may be a secret; only one made of `${VAR}` alone
 * says no more than where the secret comes from.
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

/** An address that holds a credential shows everything else; `isSecret` says that it does, whatever it looks like. */
export function hideInAddress(address: string, isSecret: boolean): ConfigText {
  return isSecret || redact(address) !== address ? hidden(address) : address;
}

/** Arguments that look like a credential, or follow an option that asks for one, are hidden. */
export function hideArguments(args: readonly ConfigText[]): readonly ConfigText[] {
  const words = args.map(reveal);
  return args.map((arg, index) => {
    const word = words[index] ?? "";
    const isHidden = SecretText.is(arg) || isCredential(word, words[index - 1]);
    return isHidden ? hidden(word) : word;
  });
}

function hidden(text: string): SecretText {
  const shown = redact(text);
  return new SecretText(text, shown === text ? mask : shown);
}

function isCredential(word: string, before: string | undefined): boolean {
  const literal = literalText(word.slice(0, maxLookedAt));
  const isOptionValue =
    before !== undefined && secretOption.test(before) && !word.startsWith("-") && literal !== "";
  return isOptionValue || looksLikeSecret(literal);
}

/** What a template says beside its references. */
function literalText(template: string): string {
  if (!template.includes("$")) return template;
  const parts = parseTemplate(template);
  return parts.map((part) => (part.type === "text" ? part.text : "")).join("");
}
