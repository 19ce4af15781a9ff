/** A piece of a template: plain text, or a variable with the default that stands in for it. */
export type TemplatePart =
  | { readonly type: "text"; readonly text: string }
  | {
      readonly type: "variable";
      readonly name: string;
      readonly fallback: string | undefined;
      /** The reference as it was written. */
      readonly source: string;
    }
  /** `${` that begins no reference; what follows it is text again. */
  | { readonly type: "malformed" };

// `${NAME}`, `${NAME:-default}`, and `${env:NAME}` as other hosts write it. A default ends at the
// first brace and cannot hold a reference itself.
const reference = /\$\{(?:env:)?([A-Za-z_]\w*)(?::-((?:(?!\$\{)[^}])*))?\}/y;

/** Splits a template at its references. `$${` is text and stands for `${`. */
export function parseTemplate(template: string): readonly TemplatePart[] {
  const parts: TemplatePart[] = [];
  let text = "";
  const flush = (): void => {
    if (text !== "") parts.push({ type: "text", text });
    text = "";
  };
  let index = 0;
  while (index < template.length) {
    const next = template.indexOf("$", index);
    if (next === -1) break;
    text += template.slice(index, next);
    index = next;
    if (template.startsWith("$${", index)) {
      text += "${";
      index += 3;
    } else if (template.startsWith("${", index)) {
      reference.lastIndex = index;
      const match = reference.exec(template);
      flush();
      if (match === null) {
        parts.push({ type: "malformed" });
        text = "${";
        index += 2;
      } else {
        const [source, name = "", fallback] = match;
        parts.push({ type: "variable", name, fallback, source });
        index += source.length;
      }
    } else {
      text += "$";
      index += 1;
    }
  }
  text += template.slice(index);
  flush();
  return parts;
}

export function hasReference(text: string): boolean {
  return parseTemplate(text).some((part) => part.type !== "text");
}

/** `text` so written that expanding it gives `text` again. */
export function escapeTemplate(text: string): string {
  return text.replaceAll("${", () => "$${");
}

/**
 * Whether a value only says where a secret comes from: references and nothing else but the word of an
 * authorization scheme. A default counts as text, since it may be the secret itself.
 */
export function isPureReference(value: string): boolean {
  const parts = parseTemplate(value);
  return parts.some((part) => part.type === "variable") && parts.every(isWithoutSecret);
}

function isWithoutSecret(part: TemplatePart): boolean {
  if (part.type === "text") return /^(?:(?:Bearer|Basic|Token)\s+)?$/i.test(part.text);
  return part.type === "variable" && part.fallback === undefined;
}
