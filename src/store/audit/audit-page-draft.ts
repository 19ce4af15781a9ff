import { hash } from "node:crypto";

import { detailText } from "./audit-detail.ts";
import type { AuditEntry } from "./audit-entry.ts";
import {
  type AuditPage,
  type CallHead,
  callRecord,
  hashBytes,
  listRecord,
  maxEntriesPerPage,
  recordKinds,
} from "./audit-page.ts";

/** A call that succeeded. */
export interface AuditedCall {
  readonly at: number;
  /** One object for all calls that have it in common. */
  readonly head: CallHead;
  /** Of at most `maxCallIdChars`. */
  readonly callId: string;
  readonly durationMs: number;
  readonly hasEffects: boolean;
  readonly argumentsText: string;
}

/** In UTF-8 they fit into the byte that tells their length. */
export const maxCallIdChars = 85;
/** Small enough for a disk that is almost full, and to be read without being felt. */
const maxPageBytes = 256 * 1024;
const firstPageBytes = 16 * 1024;
/**
 * So many texts wait to be hashed together, which takes a fraction of what it does one by one between
 * other work. No more and no longer ones: what waits is in the garbage collector's way.
 */
const hashedTogether = 32;
const maxWaitingChars = 2_048;

/**
 * The page that is being filled, one after the other. Entries become bytes at once: thousands of objects
 * that wait to be written would cost the garbage collector more than all the rest of a call.
 */
export class AuditPageDraft {
  #first = Number.POSITIVE_INFINITY;
  #last = Number.NEGATIVE_INFINITY;
  #entries = 0;
  #buffer = Buffer.allocUnsafeSlow(firstPageBytes);
  #view = viewOf(this.#buffer);
  #length = 0;
  readonly #heads = new Map<CallHead, number>();
  /** Arguments whose hashes are still to be written, and where; so many of both are in use. */
  readonly #texts: string[] = Array.from({ length: hashedTogether }, () => "");
  readonly #places = new Uint32Array(hashedTogether);
  #unhashed = 0;

  get entries(): number {
    return this.#entries;
  }

  get isFull(): boolean {
    return this.#entries >= maxEntriesPerPage || this.#length >= maxPageBytes;
  }

  /** Whatever the members are, this does not fail. */
  add(entry: AuditEntry): void {
    const { type, agent, server, tool, code, detail = {} } = entry;
    const at = this.#count(entry.at);
    const members = JSON.stringify([at, type, agent, server, tool, code]).slice(0, -1);
    this.#addList(recordKinds.entry, `${members},${detailText(detail)}]`);
  }

  addCall({ at, head, callId, durationMs, hasEffects, argumentsText }: AuditedCall): void {
    const headPlace = this.#heads.get(head) ?? this.#addHead(head);
    this.#reserve(callRecord.id + maxCallIdChars * 3);
    const start = this.#length;
    const view = this.#view;
    view.setUint8(start, recordKinds.call);
    view.setFloat64(start + callRecord.at, this.#count(at), true);
    view.setFloat32(start + callRecord.durationMs, durationMs, true);
    view.setUint16(start + callRecord.head, headPlace, true);
    view.setUint8(start + callRecord.hasEffects, hasEffects ? 1 : 0);
    const idLength = this.#writeId(callId, start + callRecord.id);
    view.setUint8(start + callRecord.idLength, idLength);
    this.#length = start + callRecord.id + idLength;
    this.#hashLater(argumentsText, start + callRecord.argumentsHash);
  }

  /** The page as it is; what is added from here on goes into the next. */
  take(): AuditPage {
    this.#hashWaiting();
    const page = {
      first_at: this.#first,
      last_at: this.#last,
      entries: this.#entries,
      content: new Uint8Array(this.#buffer.subarray(0, this.#length)),
    };
    this.#first = Number.POSITIVE_INFINITY;
    this.#last = Number.NEGATIVE_INFINITY;
    this.#entries = 0;
    this.#length = 0;
    this.#heads.clear();
    return page;
  }

  /** Gives the time as it is written. */
  #count(at: number): number {
    const time = Number.isFinite(at) ? Math.trunc(at) : 0;
    if (time < this.#first) this.#first = time;
    if (time > this.#last) this.#last = time;
    this.#entries += 1;
    return time;
  }

  #addHead(head: CallHead): number {
    const place = this.#heads.size;
    this.#heads.set(head, place);
    const { agent, server, tool, consent } = head;
    this.#addList(recordKinds.head, JSON.stringify([agent, server, tool, consent]));
    return place;
  }

  #addList(kind: number, json: string): void {
    this.#reserve(listRecord.json + json.length * 3);
    const start = this.#length;
    const length = this.#buffer.write(json, start + listRecord.json);
    this.#view.setUint8(start, kind);
    this.#view.setUint32(start + listRecord.length, length, true);
    this.#length = start + listRecord.json + length;
  }

  /** Gives its length. Byte by byte: for so few `Buffer.write` takes several times as long. */
  #writeId(id: string, place: number): number {
    for (let index = 0; index < id.length; index += 1) {
      const code = id.charCodeAt(index);
      if (code > 0x7f) return this.#buffer.write(id, place);
      this.#buffer[place + index] = code;
    }
    return id.length;
  }

  #hashLater(text: string, place: number): void {
    this.#texts[this.#unhashed] = text;
    this.#places[this.#unhashed] = place;
    this.#unhashed += 1;
    if (this.#unhashed === hashedTogether || text.length > maxWaitingChars) this.#hashWaiting();
  }

  #hashWaiting(): void {
    for (let index = 0; index < this.#unhashed; index += 1) {
      const digest = hash("sha256", this.#texts[index] as string, "binary");
      const place = this.#places[index] as number;
      for (let byte = 0; byte < hashBytes; byte += 1)
        this.#buffer[place + byte] = digest.charCodeAt(byte);
      this.#texts[index] = "";
    }
    this.#unhashed = 0;
  }

  #reserve(bytes: number): void {
    const needed = this.#length + bytes;
    if (needed <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, this.#buffer.length * 2));
    this.#buffer.copy(larger, 0, 0, this.#length);
    this.#buffer = larger;
    this.#view = viewOf(larger);
  }
}

/** Tells equal texts apart from others without keeping them. */
export function hashOf(text: string): string {
  const bytes = Buffer.from(hash("sha256", text, "binary"), "binary");
  return bytes.toString("base64url", 0, hashBytes);
}

function viewOf({ buffer, byteOffset, byteLength }: Buffer): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}
