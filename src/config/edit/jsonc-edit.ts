import { isDeepStrictEqual } from "node:util";

import type { Node } from "jsonc-parser";

import { createError } from "../../errors/families.ts";
import type { JsonObject } from "../../text/json-object.ts";
import { childOf, parseJsonc } from "../files/jsonc-document.ts";
import { type FieldPath, isRecord } from "../keys/check-value.ts";

// Edits keep comments, order, indentation, line ends and trailing commas. The `modify` function of
// `jsonc-parser` moves or drops the comments beside an edit.

interface TextEdit {
  readonly offset: number;
  readonly length: number;
  readonly content: string;
}

interface Style {
  readonly unit: string;
  readonly eol: string;
}

/** Sets the value at `path`. Its parent must exist; a list gets a new item at its end. */
export function setJsonc(text: string, path: FieldPath, value: unknown): string {
  const step = path.at(-1);
  const parent = nodeAt(rootOf(text), path.slice(0, -1));
  if (parent === undefined || step === undefined) return text;
  const existing = childOf(parent, step);
  if (existing === undefined) {
    const key = parent.type === "array" ? undefined : String(step);
    return applyEdits(text, insertMember(text, parent, key, value));
  }
  const content = formatJson(value, styleOf(text), indentAt(text, existing.offset));
  return applyEdits(text, [{ offset: existing.offset, length: existing.length, content }]);
}

/** Removes the member at `path` with a comment that ends its line; comments on lines of their own stay. */
export function removeJsonc(text: string, path: FieldPath): string {
  const value = nodeAt(rootOf(text), path);
  const member = value?.parent?.type === "property" ? value.parent : value;
  const parent = member?.parent;
  if (member === undefined || parent === undefined) return text;
  return applyEdits(text, removeMember(text, parent, member));
}

/** Changes the object at `at` where it differs, so that comments inside of it stay where they are. */
export function rewriteJsonc(
  text: string,
  at: FieldPath,
  before: JsonObject,
  after: JsonObject,
): string {
  let result = text;
  for (const key of Object.keys(before))
    if (!Object.hasOwn(after, key)) result = removeJsonc(result, [...at, key]);
  for (const [key, value] of Object.entries(after)) {
    const old = before[key];
    if (Object.hasOwn(before, key) && isDeepStrictEqual(plain(old), plain(value))) continue;
    result =
      isRecord(old) && isRecord(value)
        ? rewriteJsonc(result, [...at, key], old, value)
        : setJsonc(result, [...at, key], value);
  }
  return result;
}

/** Gives the value at `path` another key; what it holds stays as it is written. */
export function renameJsonc(text: string, path: FieldPath, key: string): string {
  const [name] = nodeAt(rootOf(text), path)?.parent?.children ?? [];
  if (name === undefined) return text;
  const { offset, length } = name;
  return applyEdits(text, [{ offset, length, content: JSON.stringify(key) }]);
}

/** Gives a value as plain JSON, to be compared: parsed objects have no prototype, given ones do. */
export function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value)) as unknown;
}

/** Turns a file that is one value into a list of that value and another. */
export function wrapInList(text: string, value: unknown): string {
  const { offset, length } = rootOf(text);
  const added = formatJson(value, styleOf(text), "");
  return applyEdits(text, [
    { offset, length: 0, content: "[" },
    { offset: offset + length, length: 0, content: `, ${added}]` },
  ]);
}

/** Empties a file that is one value; comments around the value stay. */
export function clearJsonc(text: string): string {
  const { offset, length } = rootOf(text);
  return applyEdits(text, [{ offset, length, content: "{}" }]);
}

function rootOf(text: string): Node {
  const parsed = parseJsonc(text);
  if (!parsed.ok) throw createError("config_invalid", parsed.message);
  return parsed.document.root;
}

function nodeAt(root: Node, path: FieldPath): Node | undefined {
  let node: Node | undefined = root;
  for (const step of path) node = node === undefined ? undefined : childOf(node, step);
  return node;
}

function insertMember(
  text: string,
  parent: Node,
  key: string | undefined,
  value: unknown,
): readonly TextEdit[] {
  const { unit, eol } = styleOf(text);
  const label = key === undefined ? "" : `${JSON.stringify(key)}: `;
  const open = parent.offset + 1;
  const close = parent.offset + parent.length - 1;
  const inner = text.slice(open, close);
  const contentEnd = open + inner.trimEnd().length;
  const [first, last] = [parent.children?.at(0), parent.children?.at(-1)];

  // The comma goes right behind the last member, before a comment about that member.
  const lastEnd = last === undefined ? open : last.offset + last.length;
  const hasTrailingComma = last !== undefined && findComma(text, lastEnd, close) !== undefined;
  const needsComma = last !== undefined && !hasTrailingComma;
  const comma: TextEdit[] = needsComma ? [{ offset: lastEnd, length: 0, content: "," }] : [];
  const ending = hasTrailingComma ? "," : "";

  if (last !== undefined && !inner.includes("\n")) {
    const content = ` ${label}${JSON.stringify(value)}${ending}`;
    return [...comma, { offset: contentEnd, length: 0, content }];
  }
  const outer = indentAt(text, parent.offset);
  const startsOwnLine = first !== undefined && text.slice(open, first.offset).includes("\n");
  const indent = startsOwnLine ? indentAt(text, first.offset) : outer + unit;
  const member = `${eol}${indent}${label}${formatJson(value, { unit, eol }, indent)}${ending}`;
  const isClosedOnNewLine = text.slice(contentEnd, close).includes("\n");
  const insertion = isClosedOnNewLine
    ? { offset: contentEnd, length: 0, content: member }
    : { offset: contentEnd, length: close - contentEnd, content: `${member}${eol}${outer}` };
  return [...comma, insertion];
}

function removeMember(text: string, parent: Node, member: Node): readonly TextEdit[] {
  const siblings = parent.children ?? [];
  const index = siblings.indexOf(member);
  const [previous, next] = [siblings[index - 1], siblings[index + 1]];
  const close = parent.offset + parent.length - 1;
  const end = member.offset + member.length;
  const comma = findComma(text, end, next?.offset ?? close);

  const edits: TextEdit[] = [];
  if (comma === undefined && previous !== undefined) {
    // The last member is removed, so the comma behind the one before it goes, too.
    const offset = findComma(text, previous.offset + previous.length, member.offset);
    if (offset !== undefined) edits.push({ offset, length: 1, content: "" });
  }
  const to = comma === undefined ? end : comma + 1;
  const lineStart = text.lastIndexOf("\n", member.offset - 1) + 1;
  const startsLine = text.slice(lineStart, member.offset).trim() === "";
  const restOfLine = /^[ \t]*(?:\/\/[^\r\n]*|\/\*(?:(?!\*\/)[^\r\n])*\*\/)?[ \t]*\r?\n/.exec(
    text.slice(to),
  );
  if (startsLine && restOfLine !== null) {
    edits.push({ offset: lineStart, length: to + restOfLine[0].length - lineStart, content: "" });
  } else {
    const spaces = /^[ \t]*/.exec(text.slice(to))?.[0].length ?? 0;
    edits.push({ offset: member.offset, length: to + spaces - member.offset, content: "" });
  }
  return edits;
}

/** Finds the offset of the next comma, if only spaces and comments come before it. */
function findComma(text: string, from: number, to: number): number | undefined {
  const trivia = /\s+|\/\/[^\r\n]*|\/\*[\s\S]*?\*\//y;
  let offset = from;
  while (offset < to) {
    trivia.lastIndex = offset;
    const match = trivia.exec(text);
    if (match === null) return text[offset] === "," ? offset : undefined;
    offset += match[0].length;
  }
  return undefined;
}

function applyEdits(text: string, edits: readonly TextEdit[]): string {
  let result = text;
  // Edits are applied from the end, so that offsets stay valid; two at one place keep their order.
  for (const { offset, length, content } of edits.toReversed())
    result = result.slice(0, offset) + content + result.slice(offset + length);
  return result;
}

function styleOf(text: string): Style {
  return {
    unit: /^([ \t]+)\S/m.exec(text)?.[1] ?? "  ",
    eol: text.includes("\r\n") ? "\r\n" : "\n",
  };
}

function indentAt(text: string, offset: number): string {
  const lineStart = text.lastIndexOf("\n", offset - 1) + 1;
  return /^[ \t]*/.exec(text.slice(lineStart, offset))?.[0] ?? "";
}

/** Formats JSON as people write it: short lists of plain values stay on one line. */
function formatJson(value: unknown, style: Style, indent: string): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const isList = Array.isArray(value);
  const inner = indent + style.unit;
  const items = isList
    ? value.map((item: unknown) => formatJson(item, style, inner))
    : Object.entries(value)
        .filter(([, item]) => item !== undefined)
        .map(([key, item]) => `${JSON.stringify(key)}: ${formatJson(item, style, inner)}`);
  const [open, close] = isList ? ["[", "]"] : ["{", "}"];
  if (items.length === 0) return `${open}${close}`;
  const isPlain = isList && value.every((item) => typeof item !== "object" || item === null);
  const line = `${open}${items.join(", ")}${close}`;
  if (isPlain && line.length <= 80) return line;
  const lines = items.map((item) => inner + item).join(`,${style.eol}`);
  return `${open}${style.eol}${lines}${style.eol}${indent}${close}`;
}
