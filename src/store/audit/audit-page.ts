import { isJsonObject } from "../../text/json-object.ts";
import type { AuditEntry, AuditRow } from "./audit-entry.ts";

/**
 * Many entries as one row of the store. A row for each of them would cost more than the calls they
 * tell of; as one piece a thousand entries are written as fast as a few.
 */
export interface AuditPage {
  readonly first_at: number;
  readonly last_at: number;
  readonly entries: number;
  /** Records, one behind the other, each beginning with one of `recordKinds`. */
  readonly content: Uint8Array;
}

/** What calls of one agent with one tool have in common. */
export interface CallHead {
  readonly agent: string;
  readonly server: string | undefined;
  readonly tool: string;
  readonly consent: string;
}

/** So many entries a page has at most: the number of an entry is made of its page's and its own. */
export const maxEntriesPerPage = 4_000;

/** Numbers are little-endian, texts UTF-8. */
export const recordKinds = {
  /** An entry, as a list of its members in the order of `AuditEntry`. */
  entry: 1,
  /** What calls further down have in common, as a list in the order of `CallHead`. */
  head: 2,
  /** A call that succeeded: there are so many of them that they are not written as JSON. */
  call: 3,
} as const;

/** Where the parts of a list begin, with its record. */
export const listRecord = { length: 1, json: 5 } as const;

/** Where the parts of a call begin, with its record. */
export const callRecord = {
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

/** A multiple of three: in base64 they are the beginning of the whole hash. */
export const hashBytes = callRecord.idLength - callRecord.argumentsHash;

/** Of a damaged page, what comes before the damage; it must not keep anyone from other pages. */
export function* readAuditPage(
  page: AuditPage & { readonly seq: number },
): Generator<AuditRow, void, undefined> {
  const first = page.seq * maxEntriesPerPage;
  let seq = first;
  try {
    const { buffer, byteOffset, byteLength } = page.content;
    for (const entry of readRecords(Buffer.from(buffer, byteOffset, byteLength))) {
      yield { seq, ...entry };
      seq += 1;
      // More would have the numbers of the next page.
      if (seq === first + maxEntriesPerPage) return;
    }
  } catch {
    // What could not be read is the damage.
  }
}

function* readRecords(content: Buffer): Generator<AuditEntry, void, undefined> {
  const heads: (readonly unknown[])[] = [];
  let place = 0;
  while (place < content.length) {
    const kind = content[place];
    if (kind === recordKinds.call) {
      const end = place + callRecord.id + content.readUInt8(place + callRecord.idLength);
      if (end > content.length) return;
      yield readCall(content.subarray(place, end), heads);
      place = end;
      continue;
    }
    const start = place + listRecord.json;
    const end = start + content.readUInt32LE(place + listRecord.length);
    const list: unknown = JSON.parse(content.toString("utf8", start, end));
    if (!Array.isArray(list)) return;
    if (kind === recordKinds.head) heads.push(list);
    else if (kind === recordKinds.entry) yield readEntry(list);
    else return;
    place = end;
  }
}

function readEntry([at, type, agent, server, tool, code, detail]: readonly unknown[]): AuditEntry {
  return {
    at: typeof at === "number" ? at : 0,
    type: String(type),
    ...strings({ agent, server, tool, code }),
    detail: isJsonObject(detail) ? detail : {},
  };
}

function readCall(record: Buffer, heads: readonly (readonly unknown[])[]): AuditEntry {
  const [agent, server, tool, consent] = heads[record.readUInt16LE(callRecord.head)] ?? [];
  const { argumentsHash, idLength, id } = callRecord;
  return {
    at: record.readDoubleLE(callRecord.at),
    type: "call",
    ...strings({ agent, server, tool }),
    code: "ok",
    detail: {
      consent,
      callId: record.toString("utf8", id),
      durationMs: shortDuration(record.readFloatLE(callRecord.durationMs)),
      sideEffects: record[callRecord.hasEffects] === 0 ? "none" : "possible",
      argumentsHash: record.toString("base64url", argumentsHash, idLength),
    },
  };
}

/** Two or three digits are enough to tell fast from slow. */
export function shortDuration(durationMs: number): number {
  if (durationMs >= 100) return Math.round(durationMs);
  return durationMs >= 1 ? Math.round(durationMs * 10) / 10 : Math.round(durationMs * 100) / 100;
}

function strings(members: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(members).filter(
      (member): member is [string, string] => typeof member[1] === "string",
    ),
  );
}
