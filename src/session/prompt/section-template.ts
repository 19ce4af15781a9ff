import { createError } from "../../errors/families.ts";
import type { McpError } from "../../errors/mcp-error.ts";
import { truncate } from "../../text/truncate.ts";

/** What the variables of a template stand for. */
export type TemplateValues = ReadonlyMap<string, string | number | boolean>;

type Piece = { readonly text: string } | { readonly variable: string };

/** `$$`, `${…}`, or the beginning of one that does not end. */
const escapes = /\$(?:\$|\{([^{}]*)\}?)/g;

/** A text with holes, checked when it is made: rendering it cannot meet a variable that nobody knows. */
export class SectionTemplate {
  readonly #pieces: readonly Piece[];

  /** Throws `config_invalid` for a variable that is not among the `known`. */
  constructor(template: string, known: ReadonlySet<string>) {
    this.#pieces = piecesOf(dedent(template), known);
  }

  /** Variables of the template without a value. */
  missing(values: TemplateValues): readonly string[] {
    const used = this.#pieces.flatMap((piece) => ("variable" in piece ? [piece.variable] : []));
    return [...new Set(used)].filter((name) => !values.has(name));
  }

  /** Values are inserted as they are, never searched for variables. */
  render(values: TemplateValues): string {
    return this.#pieces
      .map((piece) => ("text" in piece ? piece.text : String(values.get(piece.variable))))
      .join("");
  }
}

function piecesOf(template: string, known: ReadonlySet<string>): readonly Piece[] {
  const pieces: Piece[] = [];
  let end = 0;
  for (const match of template.matchAll(escapes)) {
    const [whole, variable] = match;
    pieces.push({ text: template.slice(end, match.index) });
    end = match.index + whole.length;
    if (variable === undefined) pieces.push({ text: "$" });
    else if (whole.endsWith("}") && known.has(variable)) pieces.push({ variable });
    else throw unknownVariable(truncate(whole, 64), known);
  }
  return [...pieces, { text: template.slice(end) }];
}

function unknownVariable(written: string, known: ReadonlySet<string>): McpError {
  const names = [...known].map((name) => `\${${name}}`);
  return createError("config_invalid", `the template has no variable ${written}`, {
    details: { known: [...known] },
    hint:
      names.length === 0
        ? "write $$ for a dollar sign, or name the variable in `params`"
        : `known are ${names.join(", ")}; others have to be named in \`params\`, and $$ is a dollar sign`,
  });
}

/** Without the indentation that all lines share, and without space around the whole. */
function dedent(template: string): string {
  const lines = template.replaceAll("\r\n", "\n").split("\n");
  const indents = lines
    .filter((line) => line.trim() !== "")
    .map((line) => line.slice(0, line.length - line.trimStart().length));
  const shared = indents.reduce(sharedStart, indents[0] ?? "");
  return lines
    .map((line) => (line.trim() === "" ? "" : line.slice(shared.length)))
    .join("\n")
    .trim();
}

function sharedStart(one: string, other: string): string {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length += 1;
  return one.slice(0, length);
}
