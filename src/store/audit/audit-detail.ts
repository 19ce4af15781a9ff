import { truncate } from "../../text/truncate.ts";

type Detail = Readonly<Record<string, unknown>>;

interface Limits {
  /** Of a text; as JSON it may be six times as long. */
  readonly textChars: number;
  /** Of the JSON of a list, or of anything else that has parts. */
  readonly partsChars: number;
}

const maxDetailChars = 4 * 1024;
const limits: readonly Limits[] = [
  { textChars: 256, partsChars: 2 * 1024 },
  // For many long ones, or such as JSON makes longer.
  { textChars: 48, partsChars: 0 },
];

/**
 * The details of an entry as JSON, of 4 KiB at most. Where they are longer, what is long of them is cut,
 * and `omitted` says by how much: characters of a text, items of a list. A hash, a rule or a number is
 * not lost to a name that somebody made long.
 */
export function detailText(detail: Detail): string {
  try {
    const text = JSON.stringify(detail);
    if (text.length <= maxDetailChars) return text;
    const cuts = limits.map((limit) => JSON.stringify(cutDetail(detail, limit)));
    return cuts.find((cut) => cut.length <= maxDetailChars) ?? '{"omitted":"too large"}';
  } catch {
    return '{"omitted":"not JSON"}';
  }
}

function cutDetail(detail: Detail, limit: Limits): Detail {
  const kept: [string, unknown][] = [];
  const omitted: [string, number][] = [];
  for (const [name, value] of Object.entries(detail)) {
    const member = cutMember(value, limit);
    kept.push([name, member.kept]);
    if (member.omitted > 0) omitted.push([name, member.omitted]);
  }
  return Object.fromEntries([...kept, ["omitted", Object.fromEntries(omitted)]]);
}

function cutMember(
  value: unknown,
  { textChars, partsChars }: Limits,
): { readonly kept: unknown; readonly omitted: number } {
  if (typeof value === "string") {
    const isLong = value.length > textChars;
    return { kept: truncate(value, textChars), omitted: isLong ? value.length - textChars + 1 : 0 };
  }
  if (Array.isArray(value)) {
    const kept = firstItems(value, textChars, partsChars);
    return { kept, omitted: value.length - kept.length };
  }
  const chars = typeof value === "object" ? JSON.stringify(value).length : 0;
  return chars > partsChars ? { kept: undefined, omitted: chars } : { kept: value, omitted: 0 };
}

/** As many as fit. */
function firstItems(items: readonly unknown[], textChars: number, maxChars: number): unknown[] {
  const kept: unknown[] = [];
  let left = maxChars;
  for (const item of items) {
    const short = typeof item === "string" ? truncate(item, textChars) : item;
    left -= (JSON.stringify(short) ?? "null").length + 1;
    if (left < 0) break;
    kept.push(short);
  }
  return kept;
}
