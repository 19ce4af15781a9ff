import { TimeSlice } from "../async/time-slice.ts";
import { writeWhole } from "../human/shown-text.ts";
import { canonicalJson } from "../text/canonical-hash.ts";
import { escapeInvisible } from "../text/untrusted/escape-invisible.ts";

/** One place in which two definitions differ; all texts are safe to print. */
export interface DefinitionChange {
  /** `description`, `inputSchema.properties.path.type`, …; unusual names in quotes. */
  readonly path: string;
  /** As JSON, from shortly before the first difference on. Absent: it was not there before. */
  readonly before?: string;
  /** Absent: it is gone. */
  readonly after?: string;
  /** Characters at the beginning and at the end that are the same in both texts and not shown. */
  readonly sameChars: number;
  /** Characters of the difference that are not shown. */
  readonly omittedChars: number;
}

export interface DefinitionDifference {
  readonly changes: readonly DefinitionChange[];
  /** Further places that differ. */
  readonly omittedChanges: number;
  /** Characters of the listed changes that are not shown. */
  readonly omittedChars: number;
}

/** How much of a difference is shown. */
interface DifferenceLimits {
  readonly changes: number;
  /** Characters of each text of a change. */
  readonly chars: number;
  /** Characters of each name in the path of a change. */
  readonly nameChars: number;
  /** Unchanged characters shown on both sides of a difference. */
  readonly contextChars: number;
}

const questionLimits: DifferenceLimits = {
  changes: 100,
  chars: 2_000,
  nameChars: 64,
  contextChars: 40,
};
const everything: DifferenceLimits = {
  changes: Number.POSITIVE_INFINITY,
  chars: Number.POSITIVE_INFINITY,
  nameChars: Number.POSITIVE_INFINITY,
  contextChars: Number.POSITIVE_INFINITY,
};

/**
 * Lists where two definitions differ, down to the smallest part and in the order in which they are
 * written: as much as fits a question, or all of it.
 */
export async function compareDefinitions(
  before: unknown,
  after: unknown,
  { isWhole = false }: { readonly isWhole?: boolean | undefined } = {},
): Promise<DefinitionDifference> {
  const limits = isWhole ? everything : questionLimits;
  const changes: DefinitionChange[] = [];
  let omittedChanges = 0;
  const slice = new TimeSlice();
  for (const difference of differences(before, after)) {
    if (slice.isOver) await slice.next();
    if (changes.length < limits.changes) changes.push(await describe(difference, limits));
    else omittedChanges += 1;
  }
  const omittedChars = changes.reduce((sum, change) => sum + change.omittedChars, 0);
  return { changes, omittedChanges, omittedChars };
}

interface Difference {
  readonly path: readonly string[];
  readonly old: unknown;
  readonly now: unknown;
}

function* differences(
  old: unknown,
  now: unknown,
  path: readonly string[] = [],
): Generator<Difference, void> {
  if (old === now) return;
  if (isBranch(old) && isBranch(now) && Array.isArray(old) === Array.isArray(now))
    for (const key of new Set([...Object.keys(old), ...Object.keys(now)]))
      yield* differences(memberOf(old, key), memberOf(now, key), [...path, key]);
  else yield { path, old, now };
}

type Branch = Readonly<Record<string, unknown>>;

function isBranch(value: unknown): value is Branch {
  return typeof value === "object" && value !== null;
}

/** The server chooses the keys: one may be called `constructor`. */
function memberOf(branch: Branch, key: string): unknown {
  return Object.hasOwn(branch, key) ? branch[key] : undefined;
}

/** A text that is shown, and how much of it is left out. */
interface Written {
  readonly text: string;
  readonly omittedChars: number;
}

async function describe(
  { path, old, now }: Difference,
  limits: DifferenceLimits,
): Promise<DefinitionChange> {
  const names = path.map((name) => writeName(name, limits.nameChars));
  const parts = partsThatDiffer(old, now, limits.contextChars);
  const before = await writeValue(parts.old, limits.chars);
  const after = await writeValue(parts.now, limits.chars);
  const written = [...names, before, after];
  return {
    path: names.length === 0 ? "definition" : names.map(({ text }) => text).join("."),
    ...(before === undefined ? {} : { before: before.text }),
    ...(after === undefined ? {} : { after: after.text }),
    sameChars: parts.sameChars,
    omittedChars: written.reduce((sum, one) => sum + (one?.omittedChars ?? 0), 0),
  };
}

/** Quotes a name that could be mistaken for several names, or for another one. */
function writeName(name: string, maxChars: number): Written {
  if (name.length <= maxChars)
    return { text: /^[\w$-]+$/.test(name) ? name : quoted(name), omittedChars: 0 };
  return { text: `${quoted(name.slice(0, maxChars))}…`, omittedChars: name.length - maxChars };
}

function quoted(text: string): string {
  return escapeInvisible(JSON.stringify(text));
}

/** A string whose quotes are still to be written, or the JSON of anything else. */
type Value = { readonly string: string } | { readonly json: string };

async function writeValue(
  value: Value | undefined,
  maxChars: number,
): Promise<Written | undefined> {
  if (value === undefined) return undefined;
  const raw = "string" in value ? value.string : value.json;
  const kept = raw.slice(0, maxChars);
  const json = "string" in value ? JSON.stringify(kept) : kept;
  return {
    text: await writeWhole(json, escapeInvisible),
    omittedChars: raw.length - kept.length,
  };
}

interface DifferingParts {
  readonly sameChars: number;
  readonly old: Value | undefined;
  readonly now: Value | undefined;
}

/** Cuts two strings to what differs with a little around it; gives any other value whole. */
function partsThatDiffer(old: unknown, now: unknown, contextChars: number): DifferingParts {
  if (typeof old !== "string" || typeof now !== "string")
    return { sameChars: 0, old: valueOf(old), now: valueOf(now) };
  const shorter = Math.min(old.length, now.length);
  let head = 0;
  while (head < shorter && old.charCodeAt(head) === now.charCodeAt(head)) head += 1;
  let tail = 0;
  const maxTail = shorter - head;
  while (
    tail < maxTail &&
    old.charCodeAt(old.length - 1 - tail) === now.charCodeAt(now.length - 1 - tail)
  )
    tail += 1;
  const start = Math.max(0, head - contextChars);
  const end = Math.max(0, tail - contextChars);
  const part = (text: string): Value => ({ string: text.slice(start, text.length - end) });
  return { sameChars: start + end, old: part(old), now: part(now) };
}

function valueOf(value: unknown): Value | undefined {
  if (value === undefined) return undefined;
  return typeof value === "string" ? { string: value } : { json: canonicalJson(value) };
}
