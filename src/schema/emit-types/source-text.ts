import { truncate } from "../../text/truncate.ts";
import { neutralizeLine } from "../../text/untrusted/neutralize.ts";

// Text of servers becomes part of a source file here. It must not end the literal or the comment that
// it stands in, hide from a reader, or mean something to a tool that reads the file.

const unsafeInLiterals =
  // oxlint-disable-next-line no-control-regex -- matching control characters is the purpose
  /[\u007F-\u009F\u2028\u2029\p{Default_Ignorable_Code_Point}\p{Bidi_Control}]/gu;

/** A string literal for TypeScript: the same text, with everything invisible written as an escape. */
export function stringLiteral(text: string): string {
  return JSON.stringify(text)
    .replace(unsafeInLiterals, (character) => {
      const code = character.codePointAt(0) ?? 0;
      const hex = code.toString(16);
      return code > 0xffff ? `\\u{${hex}}` : `\\u${hex.padStart(4, "0")}`;
    })
    .replaceAll("</", String.raw`<\/`)
    .replaceAll("<!", String.raw`<\u0021`);
}

/** Words that cannot name a binding in a module, or read like syntax as the name of a field. */
const reservedWords: ReadonlySet<string> = new Set(
  (
    "abstract any arguments as async await boolean break case catch class const constructor continue " +
    "debugger declare default delete do else enum eval export extends false finally for from " +
    "function get global globalThis if implements import in infer instanceof interface is keyof let " +
    "module namespace never new null number object of package private protected public readonly " +
    "require return set static string super switch symbol this throw true try type typeof undefined " +
    "unique unknown using var void while with yield __proto__"
  ).split(" "),
);

export function isReservedWord(word: string): boolean {
  return reservedWords.has(word);
}

/** The name of a field, quoted unless it is an ordinary identifier. */
export function fieldName(name: string): string {
  const isIdentifier = /^[A-Za-z_$][\w$]*$/.test(name) && !isReservedWord(name);
  return isIdentifier ? name : stringLiteral(name);
}

/** One line that may stand in a comment; a tag or a compiler directive at its start is none any more. */
export function commentText(text: string, limit: number): string {
  // Cut before the costly steps too: a description may be as long as a message.
  const line = neutralizeLine(text.slice(0, limit * 4).toWellFormed())
    .replaceAll("*/", "* /")
    .replaceAll("/*", "/ *")
    .replaceAll("</", "< /")
    .replaceAll("<!", "< !")
    .replaceAll("`", "'")
    .trim()
    .replace(/^[\s/*]*@/, "(at)");
  return truncate(line, limit);
}

const maxDescription = 200;

/** A doc comment with one paragraph per text; empty when there is nothing to say. */
export function docComment(texts: readonly (string | undefined)[]): string {
  const lines = texts.filter((text) => text !== undefined && text !== "");
  if (lines.length === 0) return "";
  if (lines.length === 1) return `/** ${lines[0]} */\n`;
  return `/**\n${lines.map((line) => ` * ${line}`).join("\n *\n")}\n */\n`;
}

/** The description of a schema or a tool, safe for a doc comment. */
export function descriptionText(description: unknown): string | undefined {
  return typeof description === "string" ? commentText(description, maxDescription) : undefined;
}

/** Two spaces in front of every line but the first. */
export function indent(text: string): string {
  return text.replaceAll("\n", "\n  ");
}
