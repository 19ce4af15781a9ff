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
  /** `${input:id}` is a value that a person is asked for. */
  | { readonly type: "input"; readonly id: string; readonly source: string }
  /** `${secret:name}` is a secret that the user, or the program, keeps under that name. */
  | { readonly type: "secret"; readonly name: string; readonly source: string }
  /** `${workspaceFolder}` and the like name a folder that the host knows. */
  | { readonly type: "folder"; readonly name: FolderName; readonly source: string }
  /** `${command:…}` and the like can be replaced only by the program that the file was written for. */
  | { readonly type: "foreign"; readonly kind: string; readonly source: string }
  /** A `${` that begins no reference; the characters after it are text again. */
  | { readonly type: "malformed" };

/** Names of folders in VS Code and Cursor; `/` is short for `pathSeparator`. */
const folderNames = [
  "workspaceFolder",
  "workspaceFolderBasename",
  "userHome",
  "pathSeparator",
  "/",
] as const;
export type FolderName = (typeof folderNames)[number];

/** The folders that references can name. */
export interface Folders {
  /** The folder that the user works in. */
  readonly workspaceFolder: string;
  /** The user's home. */
  readonly home: string;
}

// `${NAME}`, `${NAME:-default}`, and `${env:NAME}` as other hosts write it. A default ends at the
// first brace and cannot hold a reference itself.
const reference = /\$\{(?:env:)?([A-Za-z_]\w*)(?::-((?:(?!\$\{)[^}])*))?\}/y;
const folderReference = new RegExp(String.raw`\$\{(${folderNames.join("|")})\}`, "y");
const inputReference = /\$\{input:([^{}]{1,128})\}/y;
const secretReference = /\$\{secret:([^{}\s]{1,512})\}/y;
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
  const secret = match(secretReference);
  if (secret !== null) return { type: "secret", name: secret[1] ?? "", source: secret[0] };
  const foreign = match(foreignReference);
  return foreign === null
    ? undefined
    : { type: "foreign", kind: foreign[1] ?? "", source: foreign[0] };
}

/** Returns the folder that a name stands for. */
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

/** Replaces the names of folders and leaves all other references as they are written. */
export function expandFolders(text: string, folders: Folders): string {
  return text.replaceAll(anyFolder, (_source, name: FolderName) => folderOf(name, folders));
}

/** Whether a text has references other than names of folders. */
export function needsExpansion(text: string): boolean {
  return parseTemplate(text).some(({ type }) => type !== "text" && type !== "folder");
}

/** Whether a path begins with a folder that is known only when the server starts. */
export function beginsWithFolder(text: string): boolean {
  return /^\$\{(?:workspaceFolder|userHome)\}(?:[\\/]|\$\{(?:\/|pathSeparator)\}|$)/.test(text);
}

export function hasReference(text: string): boolean {
  return parseTemplate(text).some((part) => part.type !== "text");
}

const notFolder = new RegExp(String.raw`\$\{(?!(?:${folderNames.join("|")})\})`, "g");

/** Escapes all references but names of folders, for a text in which only those were replaced so far. */
export function escapeVariables(text: string): string {
  return text.replaceAll(notFolder, () => "$${");
}

/** Escapes `text` so that expanding the result gives `text` again. */
export function escapeTemplate(text: string): string {
  return text.replaceAll("${", () => "$${");
}

/**
 * Whether a value only names the source of a secret: it has references and, at most, the word of an
 * authorization scheme. A default counts as text, since it may be the secret itself.
 */
export function isPureReference(value: string): boolean {
  const parts = parseTemplate(value);
  return parts.some(({ type }) => type !== "text") && parts.every(isWithoutSecret);
}

function isWithoutSecret(part: TemplatePart): boolean {
  if (part.type === "text") return /^(?:(?:Bearer|Basic|Token)\s+)?$/i.test(part.text);
  if (part.type === "variable") return part.fallback === undefined;
  // The text behind the colon of another program's reference may be a secret.
  return part.type === "input" || part.type === "secret" || part.type === "folder";
}
