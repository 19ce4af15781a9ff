import {
  createScanner,
  type Node,
  type ParseError,
  parseTree,
  printParseErrorCode,
} from "jsonc-parser";

import type { FieldPath } from "../keys/check-value.ts";
import { defaultLimits } from "../keys/limits.ts";
import type { Position } from "../parse/parse-entry.ts";

/** A parsed text of JSON with comments and trailing commas, with the position of every value. */
export interface JsoncDocument {
  readonly root: Node;
  /**
   * The plain value. Its objects have no prototype, so that `__proto__` is data like every key. Of a
   * repeated key the last value counts.
   */
  readonly value: unknown;
  readonly repeatedKeys: readonly { readonly key: string; readonly position: Position }[];
  /**
   * Finds the position of the deepest part of `path` that exists: its key where there is one, else its
   * value.
   */
  readonly locate: (path: FieldPath) => Position;
}

export type JsoncResult =
  | { readonly ok: true; readonly document: JsoncDocument }
  | { readonly ok: false; readonly message: string; readonly position: Position };

type ErrorName = ReturnType<typeof printParseErrorCode>;

const errorTexts: Readonly<Record<ErrorName, string>> = {
  InvalidSymbol: "this is not JSON",
  InvalidNumberFormat: "this is not a number",
  PropertyNameExpected: "expected a key in double quotes",
  ValueExpected: "expected a value",
  ColonExpected: 'expected ":"',
  CommaExpected: 'expected ","',
  CloseBraceExpected: 'expected "}"',
  CloseBracketExpected: 'expected "]"',
  EndOfFileExpected: "expected nothing more",
  InvalidCommentToken: "this comment is not allowed here",
  UnexpectedEndOfComment: "this comment is not closed",
  UnexpectedEndOfString: "this string is not closed",
  UnexpectedEndOfNumber: "this number is not complete",
  InvalidUnicode: "this is not a Unicode escape",
  InvalidEscapeCharacter: "this escape does not exist",
  InvalidCharacter: "this character must be escaped",
  "<unknown ParseErrorCode>": "this is not JSON",
};

export interface ParseJsoncOptions {
  /** The most keys and values; a text with more is refused before a tree is built. */
  readonly maxValues?: number;
}

export function parseJsonc(text: string, options: ParseJsoncOptions = {}): JsoncResult {
  const positionOf = createPositions(text);
  const fail = (message: string, offset: number): JsoncResult => ({
    ok: false,
    message,
    position: positionOf(offset),
  });
  if (text.trim() === "") return fail("the file is empty", 0);
  const { maxValues } = options;
  if (maxValues !== undefined && hasMoreValues(text, maxValues))
    return fail(`it holds more than ${maxValues} keys and values`, 0);
  const tooDeep = `nested more than ${defaultLimits.maxJsonDepth} levels deep`;
  try {
    const errors: ParseError[] = [];
    const root = parseTree(text, errors, { allowTrailingComma: true });
    // The parser guesses after an error, so only its first error is reported.
    const [first] = errors;
    if (first !== undefined)
      return fail(errorTexts[printParseErrorCode(first.error)], first.offset);
    if (root === undefined) return fail("expected a value", text.length);
    const repeated: Node[] = [];
    const value = toValue(root, repeated, defaultLimits.maxJsonDepth);
    if (value === undefined) return fail(tooDeep, 0);
    const repeatedKeys = repeated.map((node) => ({
      key: String(node.value),
      position: positionOf(node.offset),
    }));
    const locate = (path: FieldPath): Position => positionOf(offsetOf(root, path));
    return { ok: true, document: { root, value, repeatedKeys, locate } };
  } catch (error) {
    // The parser is recursive, so a file of brackets alone exhausts the stack.
    if (error instanceof RangeError) return fail(tooDeep, 0);
    throw error;
  }
}

/**
 * Tokens that begin a value or a key, by number: the scanner's `SyntaxKind` is a const enum and unknown at
 * run time.
 */
const valueTokens: ReadonlySet<number> = new Set([
  1, // {
  3, // [
  7, // null
  8, // true
  9, // false
  10, // a string
  11, // a number
]);
const endOfText = 17;

/**
 * Counts values by scanning the text, which takes a fraction of the time of building the tree and stops at
 * the limit.
 */
function hasMoreValues(text: string, maxValues: number): boolean {
  const scanner = createScanner(text, true);
  let values = 0;
  for (let token: number = scanner.scan(); token !== endOfText; token = scanner.scan()) {
    if (valueTokens.has(token)) values += 1;
    if (values > maxValues) return true;
  }
  return false;
}

/** Converts a node to its plain value; undefined when it is nested deeper than `depth`. */
function toValue(node: Node, repeated: Node[], depth: number): unknown {
  if (node.type !== "object" && node.type !== "array") return node.value as unknown;
  if (depth === 0) return undefined;
  const children = node.children ?? [];
  if (node.type === "array") {
    const items = children.map((child) => toValue(child, repeated, depth - 1));
    return items.includes(undefined) ? undefined : items;
  }
  const object = Object.create(null) as Record<string, unknown>;
  for (const { children: [keyNode, valueNode] = [] } of children) {
    if (keyNode === undefined || valueNode === undefined) continue;
    const key = String(keyNode.value);
    if (Object.hasOwn(object, key)) repeated.push(keyNode);
    const value = toValue(valueNode, repeated, depth - 1);
    if (value === undefined) return undefined;
    object[key] = value;
  }
  return object;
}

// Large files are searched entry by entry, so the members of an object are indexed once.
const membersCache = new WeakMap<Node, ReadonlyMap<string, Node>>();

/** Finds the node of a key's value or of an item. Of a repeated key the last one counts. */
export function childOf(node: Node, step: string | number): Node | undefined {
  if (node.type === "array") return typeof step === "number" ? node.children?.[step] : undefined;
  if (node.type !== "object") return undefined;
  const members = membersCache.get(node) ?? membersOf(node);
  membersCache.set(node, members);
  return members.get(String(step));
}

function membersOf(object: Node): ReadonlyMap<string, Node> {
  const members = new Map<string, Node>();
  for (const { children: [key, value] = [] } of object.children ?? [])
    if (key !== undefined && value !== undefined) members.set(String(key.value), value);
  return members;
}

function offsetOf(root: Node, path: FieldPath): number {
  let node = root;
  let offset = root.offset;
  for (const step of path) {
    const child = childOf(node, step);
    if (child === undefined) break;
    offset = child.parent?.type === "property" ? child.parent.offset : child.offset;
    node = child;
  }
  return offset;
}

/** Converts offsets to lines and columns, both counted from 1. */
function createPositions(text: string): (offset: number) => Position {
  let starts: number[] | undefined;
  return (offset) => {
    starts ??= lineStarts(text);
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - (starts[low] ?? 0) + 1 };
  };
}

function lineStarts(text: string): number[] {
  const starts = [0];
  for (const match of text.matchAll(/\r\n|\r|\n/g)) starts.push(match.index + match[0].length);
  return starts;
}
