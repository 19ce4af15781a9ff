import type { AuditEntry, AuditRow } from "./audit-entry.ts";

/**
 * Many entries as one row of the store. A row for each of them would cost more than the calls they
 * tell of; as one text a thousand entries are written as fast as a few.
 */
export interface AuditPage {
  readonly first_at: number;
  readonly last_at: number;
  readonly entries: number;
  /**
   * JSON: a list of entries, each a list of its members in the order of `AuditEntry`. Before them stands
   * a time that theirs are counted from: small numbers are written faster than the time of day.
   */
  readonly content: string;
}

/** So many entries a page has at most: the number of an entry is made of its page's and its own. */
export const maxEntriesPerPage = 1_000;

const maxDetailChars = 4 * 1024;
/** Small enough for a disk that is almost full, and to be read without being felt. */
const maxPageChars = 256 * 1024;

/** As many of the entries as one page takes, the first in any case. Whatever they hold, this does not fail. */
export function toAuditPage(entries: readonly AuditEntry[]): AuditPage {
  const base = wholeTime(entries[0]?.at ?? 0);
  let first = base;
  let last = base;
  let count = 0;
  let content = "";
  for (const entry of entries) {
    if (count === maxEntriesPerPage || content.length >= maxPageChars) break;
    const at = wholeTime(entry.at);
    first = Math.min(first, at);
    last = Math.max(last, at);
    content += count === 0 ? entryText(entry, base) : `,${entryText(entry, base)}`;
    count += 1;
  }
  return {
    first_at: first,
    last_at: last,
    entries: count,
    content: `[${base}${count === 0 ? "" : ","}${content}]`,
  };
}

/** A damaged page has no rows; it must not keep anyone from the others. */
export function toAuditRows(page: AuditPage & { readonly seq: number }): readonly AuditRow[] {
  const [base, ...members] = parseList(page.content);
  const start = typeof base === "number" ? base : page.first_at;
  return members.flatMap((member, index): AuditRow[] => {
    if (!Array.isArray(member)) return [];
    const [offset, type, agent, server, tool, code, detail] = member as readonly unknown[];
    return [
      {
        seq: page.seq * maxEntriesPerPage + index,
        at: start + (typeof offset === "number" ? offset : 0),
        type: String(type),
        ...(typeof agent === "string" && { agent }),
        ...(typeof server === "string" && { server }),
        ...(typeof tool === "string" && { tool }),
        ...(typeof code === "string" && { code }),
        detail: isObject(detail) ? detail : {},
      },
    ];
  });
}

function entryText(entry: AuditEntry, base: number): string {
  const { type, agent = null, server = null, tool = null, code = null, detail } = entry;
  const head = JSON.stringify([wholeTime(entry.at) - base, type, agent, server, tool, code]);
  return detail === undefined ? head : `${head.slice(0, -1)},${detailText(detail)}]`;
}

function detailText(detail: Readonly<Record<string, unknown>>): string {
  try {
    const text = JSON.stringify(detail);
    return text.length > maxDetailChars ? '{"omitted":"too large"}' : text;
  } catch {
    return '{"omitted":"not JSON"}';
  }
}

function wholeTime(at: number): number {
  return Number.isFinite(at) ? Math.trunc(at) : 0;
}

function parseList(content: string): readonly unknown[] {
  try {
    const list: unknown = JSON.parse(content);
    return Array.isArray(list) ? list : [];
  } catch {
    return [];
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
