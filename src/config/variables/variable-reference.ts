import path from "node:path";

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
  /** `${input:id}`: what a person is asked for. */
  | { readonly type: "input"; readonly id: string; readonly source: string }
  /** `${workspaceFolder}` and the like: known to whoever knows where somebody works. */
  | { readonly type: "folder"; readonly name: FolderName; readonly source: string }
  /** `${command:…}` and the like: only the program that the file was written for knows what it stands for. */
  | { readonly type: "foreign"; readonly kind: string; readonly source: string }
  /** `${` that begins no reference; what follows it is text again. */
  | { readonly type: "malformed" };

/** As VS Code and Cursor call them; `/` is short for `pathSeparator`. */
const folderNames = [
  "workspaceFolder",
  "workspaceFolderBasename",
  "userHome",
  "pathSeparator",
  "/",
] as const;
export type FolderName = (typeof folderNames)[number];

/** What the names of folders stand for. */
export interface Folders {
  /** The folder that somebody works in. */
  readonly workspaceFolder: string;
  /** The user's home. */
  readonly home: string;
}

// `${NAME}`, `${NAME:-default}`, and `${env:NAME}` as other hosts write it. A default ends at the
// first brace and cannot hold a reference itself.
const reference = /\$\{(?:env:)?([A-Za-z_]\w*)(?::-((?:(?!\$\{)[^}])*))?\}/y;
const folderReference = new RegExp(String.raw`\$\{(${folderNames.join("|")})\}`, "y");
const inputReference = /\$\{input:([^{}]{1,128})\}/y;
const foreignReference = /\$\{([A-Za-z]\w{0,63}):[^{}]{0,256}\}/y;

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
      flush();
      const found = referenceAt(template, index);
      parts.push(found ?? { type: "malformed" });
      if (found === undefined) text = "${";
      index += found?.source.length ?? 2;
    } else {
      text += "$";
      index += 1;
    }
  }
  text += template.slice(index);
  flush();
  return parts;
}

type Reference = Exclude<TemplatePart, { readonly type: "text" | "malformed" }>;

function referenceAt(template: string, index: number): Reference | undefined {
  const match = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = index;
    return pattern.exec(template);
  };
  const folder = match(folderReference);
  if (folder !== null) return { type: "folder", name: folder[1] as FolderName, source: folder[0] };
  const variable = match(reference);
  if (variable !== null) {
    const [source, name = "", fallback] = variable;
    return { type: "variable", name, fallback, source };
  }
  const input = match(inputReference);
  if (input !== null) return { type: "input", id: input[1] ?? "", source: input[0] };
  const foreign = match(foreignReference);
  return foreign === null
    ? undefined
    : { type: "foreign", kind: foreign[1] ?? "", source: foreign[0] };
}

/** What the name of a folder stands for. */
export function folderOf(name: FolderName, { workspaceFolder, home }: Folders): string {
  switch (name) {
    case "workspaceFolder":
      return workspaceFolder;
    case "workspaceFolderBasename":
      return path.basename(workspaceFolder);
    case "userHome":
      return home;
    case "pathSeparator":
    case "/":
      return path.sep;
  }
}

const anyFolder = new RegExp(String.raw`(?<!\$)\$\{(${folderNames.join("|")})\}`, "g");

/** Replaces the names of folders, for text in which nothing else is replaced: it stays as it is written. */
export function expandFolders(text: string, folders: Folders): string {
  return text.replaceAll(anyFolder, (_source, name: FolderName) => folderOf(name, folders));
}

/** Whether a text holds what is only replaced in a template, and not the names of folders alone. */
export function needsExpansion(text: string): boolean {
  return parseTemplate(text).some(({ type }) => type !== "text" && type !== "folder");
}

/** Whether a path begins with a folder that is known when the server starts and not before. */
export function beginsWithFolder(text: string): boolean {
  return /^\$\{(?:workspaceFolder|userHome)\}(?:[\\/]|\$\{(?:\/|pathSeparator)\}|$)/.test(text);
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
  return parts.some(({ type }) => type !== "text") && parts.every(isWithoutSecret);
}

function isWithoutSecret(part: TemplatePart): boolean {
  if (part.type === "text") return /^(?:(?:Bearer|Basic|Token)\s+)?$/i.test(part.text);
  if (part.type === "variable") return part.fallback === undefined;
  // What follows the colon of another program's reference may be anything.
  return part.type === "input" || part.type === "folder";
}
