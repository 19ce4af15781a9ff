import { isJsonObject } from "../../text/json-object.ts";
import type { AuditEntry } from "./audit-entry.ts";
import { AuditPageDraft } from "./audit-page-draft.ts";
import { type AuditPage, type CallHead, maxEntriesPerPage } from "./audit-page.ts";

/** A page as version 2 of the store wrote it. */
export interface BinaryPage {
  readonly first_at: number;
  readonly last_at: number;
  readonly entries: number;
  /** Records, one behind the other, each beginning with one of `recordKinds`. */
  readonly content: Uint8Array;
}

/** Numbers are little-endian, texts UTF-8. */
const recordKinds = {
  /** An entry, as a list of its members. */
  entry: 1,
  /** What calls further down have in common, as a list of the members of `CallHead`. */
  head: 2,
  /** A call that succeeded. */
  call: 3,
} as const;

/** Where the parts of a list begin, with its record. */
const listRecord = { length: 1, json: 5 } as const;

/** Where the parts of a call begin, with its record. */
const callRecord = {
  /** Time since the epoch, 8 bytes. */
  at: 1,
  /** Milliseconds, 4 bytes of a floating-point number. */
  durationMs: 9,
  /** The place of its head among those of the page, 2 bytes. */
  head: 13,
  /** Whether it may have changed something, 1 byte. */
  hasEffects: 15,
  /** The beginning of the SHA-256 of their JSON. */
  argumentsHash: 16,
  /** Bytes of its id, 1 byte. */
  idLength: 34,
  id: 35,
} as const;

/**
 * Writes the entries of a binary page as JSON, in their order. Of a damaged page these are the ones before the
 * damage, and `isWhole` is false.
 */
export function fromBinaryPage(page: BinaryPage): AuditPage & { readonly isWhole: boolean } {
  const draft = new AuditPageDraft();
  try {
    const { buffer, byteOffset, byteLength } = page.content;
    addRecords(draft, Buffer.from(buffer, byteOffset, byteLength));
  } catch {
    // What could not be read is the damage.
  }
  const { first_at, last_at, entries } = page;
  const isWhole = draft.entries === entries;
  const { heads, lines } = draft.take();
  return { first_at, last_at, entries, heads, lines, isWhole };
}

function addRecords(draft: AuditPageDraft, content: Buffer): void {
  const heads: CallHead[] = [];
  let place = 0;
  while (place < content.length && draft.entries < maxEntriesPerPage) {
    const kind = content[place];
    if (kind === recordKinds.call) {
      const end = place + callRecord.id + content.readUInt8(place + callRecord.idLength);
      if (end > content.length) return;
      const record = content.subarray(place, end);
      const head = heads[record.readUInt16LE(callRecord.head)];
      if (head === undefined) return;
      addCall(draft, record, head);
      place = end;
      continue;
    }
    const start = place + listRecord.json;
    const end = start + content.readUInt32LE(place + listRecord.length);
    const list: unknown = JSON.parse(content.toString("utf8", start, end));
    if (!Array.isArray(list)) return;
    if (kind === recordKinds.head) heads.push(headOf(list));
    else if (kind === recordKinds.entry) draft.add(entryOf(list));
    else return;
    place = end;
  }
}

function addCall(draft: AuditPageDraft, record: Buffer, head: CallHead): void {
  const { at, durationMs, hasEffects, argumentsHash, idLength, id } = callRecord;
  const call = {
    at: record.readDoubleLE(at),
    head,
    callId: record.toString("utf8", id),
    durationMs: record.readFloatLE(durationMs),
    hasEffects: record[hasEffects] !== 0,
  };
  draft.addHashedCall(call, record.toString("base64url", argumentsHash, idLength));
}

/** The lists are as `JSON.stringify` wrote them; in a damaged one anything can stand for a text. */
function headOf([agent, server, tool, consent]: readonly unknown[]): CallHead {
  return { agent, server, tool, consent } as CallHead;
}

function entryOf([at, type, agent, server, tool, code, detail]: readonly unknown[]): AuditEntry {
  const members = { at, type: String(type), agent, server, tool, code } as AuditEntry;
  return { ...members, detail: isJsonObject(detail) ? detail : {} };
}
