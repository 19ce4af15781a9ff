/** How the expressions of RFC 6570 with one operator are written; `{name}` has none. */
interface Operator {
  readonly first: string;
  readonly separator: string;
  /** Whether a value stands behind its name, as in a query. */
  readonly isNamed: boolean;
  /** What stands behind the name of an empty value. */
  readonly ifEmpty: string;
  /** Whether characters with a meaning in addresses, such as `/`, stay as they are. */
  readonly allowsReserved: boolean;
  /** Whether the address makes sense without it. */
  readonly isOptional: boolean;
}

const plain: Operator = {
  first: "",
  separator: ",",
  isNamed: false,
  ifEmpty: "",
  allowsReserved: false,
  isOptional: false,
};
const named = { isNamed: true, isOptional: true } as const;
const operators: Readonly<Record<string, Operator>> = {
  "": plain,
  "+": { ...plain, allowsReserved: true },
  "#": { ...plain, first: "#", allowsReserved: true, isOptional: true },
  ".": { ...plain, first: ".", separator: "." },
  "/": { ...plain, first: "/", separator: "/" },
  ";": { ...plain, ...named, first: ";", separator: ";" },
  "?": { ...plain, ...named, first: "?", separator: "&", ifEmpty: "=" },
  "&": { ...plain, ...named, first: "&", separator: "&", ifEmpty: "=" },
};

const expression = /\{([+#./;?&]?)([\w.%]+(?::\d{1,4}|\*)?(?:,[\w.%]+(?::\d{1,4}|\*)?)*)\}/g;

export interface TemplateVariable {
  readonly name: string;
  readonly isRequired: boolean;
}

/** The variables of a URI template (RFC 6570) in their order; none for an address that is no template. */
export function templateVariables(template: string): readonly TemplateVariable[] {
  const variables = [...template.matchAll(expression)].flatMap(([, operator = "", list = ""]) => {
    const isRequired = operators[operator]?.isOptional === false;
    return specsOf(list).map(({ name }) => ({ name, isRequired }));
  });
  const byName = new Map<string, TemplateVariable>();
  for (const variable of variables)
    if (variable.isRequired || !byName.has(variable.name)) byName.set(variable.name, variable);
  return [...byName.values()];
}

/** Fills in a URI template. A variable without a value leaves out its part, as RFC 6570 says. */
export function expandTemplate(template: string, values: Readonly<Record<string, string>>): string {
  return template.replace(expression, (_, symbol: string, list: string) => {
    const operator = operators[symbol] ?? plain;
    const parts = specsOf(list).flatMap(({ name, length }) => {
      if (!Object.hasOwn(values, name)) return [];
      const value = Array.from(values[name] ?? "")
        .slice(0, length)
        .join("");
      const written = encode(value, operator.allowsReserved);
      if (!operator.isNamed) return [written];
      return [written === "" ? `${name}${operator.ifEmpty}` : `${name}=${written}`];
    });
    return parts.length === 0 ? "" : operator.first + parts.join(operator.separator);
  });
}

function specsOf(list: string): readonly { readonly name: string; readonly length?: number }[] {
  return list.split(",").map((spec) => {
    const [name = "", length] = spec.replace(/\*$/, "").split(":");
    return length === undefined ? { name } : { name, length: Number(length) };
  });
}

/** Keeps what needs no escape: unreserved characters, and the reserved ones and escapes where they are allowed. */
function encode(value: string, allowsReserved: boolean): string {
  const kept = allowsReserved ? /%[\da-f]{2}|[\w.~!#$&'()*+,/:;=?@[\]-]/giu : /[\w.~-]/gu;
  let written = "";
  let end = 0;
  for (const match of value.matchAll(kept)) {
    written += encodeAll(value.slice(end, match.index)) + match[0];
    end = match.index + match[0].length;
  }
  return written + encodeAll(value.slice(end));
}

function encodeAll(text: string): string {
  return [...Buffer.from(text.toWellFormed(), "utf8")]
    .map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`)
    .join("");
}
