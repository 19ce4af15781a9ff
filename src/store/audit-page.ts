import { hash } from "node:crypto";

import type { AuditEntry, AuditRow } from "./audit-entry.ts";

/**
 * Many entries as one row of the store. A row for each of them would cost more than the calls they
 * tell of; as one piece a thousand entries are written as fast as a few.
 */
export interface AuditPage {
  readonly first_at: number;
  readonly last_at: number;
  readonly entries: number;
  /**
   * JSON in UTF-8: a time, then the entries, each a list of its members in the order of `AuditEntry`.
   * Their times are counted from the first: small numbers are written faster than the time of day. The
   * detail of a call may be a list of values, in the order of `callDetailNames`.
   */
  readonly content: Uint8Array;
}

/** So many entries a page has at most: the number of an entry is made of its page's and its own. */
export const maxEntriesPerPage = 1_000;
/** Small enough for a disk that is almost full, and to be read without being felt. */
const maxPageBytes = 256 * 1024;
const firstPageBytes = 16 * 1024;
const maxDetailChars = 4 * 1024;
/** Calls are most of the trail: half of their bytes would be the names of their details. */
const callDetailNames = ["consent", "callId", "durationMs", "sideEffects", "argumentsHash"];
const hashChars = 22;

/**
 * A page that is being filled. Entries become bytes at once: thousands of objects that wait to be
 * written would cost the garbage collector more than all the rest of a call.
 */
export class AuditPageDraft {
  readonly #base: number;
  #first: number;
  #last: number;
  #entries = 0;
  #buffer: Buffer;
  #length: number;
  /** Texts whose hashes are still to be written, and where. */
  #unhashed: { readonly text: string; readonly place: number }[] = [];

  /** `buffer`: of a page that has been saved, to be used again. */
  constructor(at: number, buffer: Buffer = Buffer.allocUnsafe(firstPageBytes)) {
    this.#buffer = buffer;
    this.#base = wholeTime(at);
    this.#first = this.#base;
    this.#last = this.#base;
    this.#length = this.#buffer.write(`[${this.#base}`);
  }

  get entries(): number {
    return this.#entries;
  }

  get buffer(): Buffer {
    return this.#buffer;
  }

  get isFull(): boolean {
    return this.#entries >= maxEntriesPerPage || this.#length >= maxPageBytes;
  }

  /**
   * `members`: the JSON of all members after the time, separated by commas. With `text` they end in an
   * open list, and the hash of the text becomes its last element. Hashes are made when the page is
   * finished: a thousand in a row cost a fraction of what they cost one by one between other work.
   */
  add(at: number, members: string, text?: string): void {
    const time = wholeTime(at);
    if (time < this.#first) this.#first = time;
    if (time > this.#last) this.#last = time;
    const entry =
      text === undefined
        ? `,[${time - this.#base},${members}]`
        : `,[${time - this.#base},${members},"`;
    this.#reserve(entry.length * 3 + hashChars + 3);
    this.#length += this.#buffer.write(entry, this.#length);
    if (text !== undefined) this.#leaveRoomForHash(text);
    this.#entries += 1;
  }

  finish(): AuditPage {
    for (const { text, place } of this.#unhashed) this.#buffer.write(hashOf(text), place, "latin1");
    this.#unhashed = [];
    this.#reserve(1);
    const end = this.#length + this.#buffer.write("]", this.#length);
    return {
      first_at: this.#first,
      last_at: this.#last,
      entries: this.#entries,
      content: this.#buffer.subarray(0, end),
    };
  }

  #leaveRoomForHash(text: string): void {
    this.#unhashed.push({ text, place: this.#length });
    this.#length += hashChars;
    this.#length += this.#buffer.write('"]]', this.#length, "latin1");
  }

  #reserve(bytes: number): void {
    const needed = this.#length + bytes;
    if (needed <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafe(Math.max(needed, this.#buffer.length * 2));
    this.#buffer.copy(larger, 0, 0, this.#length);
    this.#buffer = larger;
  }
}

/** Tells equal texts apart from others without keeping them. */
export function hashOf(text: string): string {
  return hash("sha256", text, "base64url").slice(0, hashChars);
}

/** The members of an entry after its time, as a page holds them. Whatever they are, this does not fail. */
export function entryMembers(entry: AuditEntry): string {
  const { type, agent = null, server = null, tool = null, code = null, detail } = entry;
  const head = JSON.stringify([type, agent, server, tool, code]).slice(1, -1);
  return detail === undefined ? head : `${head},${detailText(detail)}`;
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
        detail: toDetail(detail),
      },
    ];
  });
}

function toDetail(detail: unknown): Readonly<Record<string, unknown>> {
  if (Array.isArray(detail))
    return Object.fromEntries(
      callDetailNames.map((name, index) => [name, detail[index] as unknown]),
    );
  return isObject(detail) ? detail : {};
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

function parseList(content: Uint8Array): readonly unknown[] {
  try {
    const list: unknown = JSON.parse(Buffer.from(content).toString());
    return Array.isArray(list) ? list : [];
  } catch {
    return [];
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
