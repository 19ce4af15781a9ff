import { hash } from "node:crypto";

import { toStoredJson } from "../tables/stored-text.ts";
import { detailText } from "./audit-detail.ts";
import type { AuditEntry } from "./audit-entry.ts";
import { type AuditPage, type CallHead, maxEntriesPerPage } from "./audit-page.ts";

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

/** A head of the page, and the start of the line of its last call. */
interface HeadDraft {
  /** Its JSON in the list of heads. */
  readonly json: string;
  /** The members of it that its calls need. */
  readonly place: number;
  readonly at: number;
  readonly idPrefix: string;
  /** Many calls end in one millisecond: their lines start with the same text. */
  time: number;
  text: string;
}

/** The years 1 to 9999. */
const minTime = Date.parse("0001-01-01T00:00:00Z");
const maxTime = Date.parse("9999-12-31T23:59:59.999Z");
/** Longer ids would make the room that is reserved for a call too large. */
export const maxCallIdChars = 85;
/** Small enough for a disk that is almost full, and to be read without being felt. */
const maxPageBytes = 256 * 1024;
/** The view looks up the head of each call in a list: a longer list would make that slow. */
const maxHeadsPerPage = 256;
const firstPageBytes = 16 * 1024;
/** The bytes of a call at most: of a character that no database stores seven are made, of a number 24. */
const maxCallBytes = maxCallIdChars * 7 + 128;
/** Characters of the hash of arguments: 18 bytes of the SHA-256 in base64. */
const hashChars = 24;
/**
 * So many texts wait to be hashed together, which takes a fraction of what it does one by one between
 * other work. No more and no longer ones: what waits is in the garbage collector's way.
 */
const hashedTogether = 32;
const maxWaitingChars = 2_048;

/** Any number of so many digits is a number of JavaScript. */
const maxIdDigits = 15;
const lineBreak = 0x0a;
const quote = 0x22;
const comma = 0x2c;
const closingBracket = 0x5d;
const zero = 0x30;
const nine = 0x39;

/**
 * The page that is being filled, one after the other. Entries become the bytes of their JSON at once: thousands
 * of objects that wait to be written would cost the garbage collector more than all the rest of a call.
 */
export class AuditPageDraft {
  #first = Number.POSITIVE_INFINITY;
  #last = Number.NEGATIVE_INFINITY;
  #entries = 0;
  #buffer = Buffer.allocUnsafeSlow(firstPageBytes);
  #length = 0;
  readonly #heads = new Map<CallHead, HeadDraft>();
  #headChars = 0;
  /** Arguments whose hashes are still to be written, and where; so many of both are in use. */
  readonly #texts: string[] = Array.from({ length: hashedTogether }, () => "");
  readonly #places = new Uint32Array(hashedTogether);
  #unhashed = 0;

  get entries(): number {
    return this.#entries;
  }

  get isFull(): boolean {
    return (
      this.#entries >= maxEntriesPerPage ||
      this.#length + this.#headChars >= maxPageBytes ||
      this.#heads.size >= maxHeadsPerPage
    );
  }

  /** Whatever the members are, this does not fail. */
  add(entry: AuditEntry): void {
    const { type, agent, server, tool, code, detail = {} } = entry;
    const at = this.#count(entry.at);
    const members = JSON.stringify([at, type, agent, server, tool, code]).slice(0, -1);
    const json = toStoredJson(`${members},${detailText(detail)}]`);
    this.#reserve(json.length * 3 + 2);
    const end = this.#length + this.#buffer.write(json, this.#length);
    this.#length = write(",\n", this.#buffer, end);
  }

  addCall(call: AuditedCall): void {
    this.#hashLater(call.argumentsText, this.#addCall(call));
  }

  /** Adds a call whose arguments are known by their hash only. */
  addHashedCall(call: Omit<AuditedCall, "argumentsText">, argumentsHash: string): void {
    const place = this.#addCall(call);
    // The buffer may be a larger one by now.
    write(argumentsHash, this.#buffer, place);
  }

  /** The page as it is; what is added from here on goes into the next. */
  take(): AuditPage {
    this.#hashWaiting();
    const page = {
      first_at: this.#first,
      last_at: this.#last,
      entries: this.#entries,
      heads: Buffer.from(`[${Array.from(this.#heads.values(), ({ json }) => json).join(",")}]`),
      lines: this.#takeLines(),
    };
    this.#first = Number.POSITIVE_INFINITY;
    this.#last = Number.NEGATIVE_INFINITY;
    this.#entries = 0;
    this.#length = 0;
    this.#heads.clear();
    this.#headChars = 0;
    return page;
  }

  #takeLines(): Uint8Array {
    if (this.#entries === 0) return Buffer.from("[]");
    // In place of the comma and the line break behind the last entry.
    write("\n]", this.#buffer, this.#length - 2);
    return new Uint8Array(this.#buffer.subarray(0, this.#length));
  }

  /** Gives the time as it is written. */
  #count(at: number): number {
    const time = wholeTime(at);
    if (time < this.#first) this.#first = time;
    if (time > this.#last) this.#last = time;
    if (this.#entries === 0) this.#length = write("[\n", this.#buffer, 0);
    this.#entries += 1;
    return time;
  }

  /** Writes the line of a call, with room for the hash of its arguments; gives the place of the hash. */
  #addCall(call: Omit<AuditedCall, "argumentsText">): number {
    const { head, callId, durationMs, hasEffects } = call;
    const at = this.#count(call.at);
    const drafted = this.#heads.get(head) ?? this.#addHead(head, at, callId);
    if (drafted.time !== at) {
      drafted.time = at;
      drafted.text = `[${at - drafted.at},${drafted.place},`;
    }
    this.#reserve(maxCallBytes);
    const buffer = this.#buffer;
    let place = write(drafted.text, buffer, this.#length);
    place = write(durationText(durationMs), buffer, place);
    buffer[place] = comma;
    buffer[place + 1] = quote;
    const hashPlace = place + 2;
    place = hashPlace + hashChars;
    buffer[place] = quote;
    buffer[place + 1] = comma;
    place = writeId(callId, drafted.idPrefix, buffer, place + 2);
    if (!hasEffects) place = write(",0", buffer, place);
    buffer[place] = closingBracket;
    buffer[place + 1] = comma;
    buffer[place + 2] = lineBreak;
    this.#length = place + 3;
    return hashPlace;
  }

  /** Adds a head whose calls count from this one, its first: from its time, and from the number of its id. */
  #addHead(head: CallHead, at: number, callId: string): HeadDraft {
    const { agent, server, tool, consent } = head;
    // The host's own ids end in a number that grows.
    const idPrefix = callId.slice(0, callId.lastIndexOf("-") + 1);
    const json = toStoredJson(JSON.stringify([agent, server, tool, consent, idPrefix, at]));
    const place = this.#heads.size;
    const drafted = { json, place, at, idPrefix, time: Number.NaN, text: "" };
    this.#heads.set(head, drafted);
    this.#headChars += json.length;
    return drafted;
  }

  #hashLater(text: string, place: number): void {
    this.#texts[this.#unhashed] = text;
    this.#places[this.#unhashed] = place;
    this.#unhashed += 1;
    if (this.#unhashed === hashedTogether || text.length > maxWaitingChars) this.#hashWaiting();
  }

  #hashWaiting(): void {
    const buffer = this.#buffer;
    for (let index = 0; index < this.#unhashed; index += 1) {
      const digest = hash("sha256", this.#texts[index] as string, "base64url");
      const place = this.#places[index] as number;
      for (let char = 0; char < hashChars; char += 1)
        buffer[place + char] = digest.charCodeAt(char);
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
  }
}

/** Writes an ASCII text; gives the place behind it. Byte by byte: for so few `Buffer.write` takes several times as long. */
function write(text: string, buffer: Buffer, place: number): number {
  for (let index = 0; index < text.length; index += 1)
    buffer[place + index] = text.charCodeAt(index);
  return place + text.length;
}

/** Writes the number behind the prefix of an id, or the whole id as a JSON string; gives the place behind it. */
function writeId(id: string, prefix: string, buffer: Buffer, place: number): number {
  const digits = id.length - prefix.length;
  if (digits < 1 || digits > maxIdDigits) return writeWholeId(id, buffer, place);
  // Character by character: `startsWith` takes several times as long.
  for (let index = 0; index < prefix.length; index += 1)
    if (id.charCodeAt(index) !== prefix.charCodeAt(index)) return writeWholeId(id, buffer, place);
  for (let index = 0; index < digits; index += 1) {
    const code = id.charCodeAt(prefix.length + index);
    // A number in JSON does not begin with a zero, unless it is zero.
    if (code > nine || code < zero || (code === zero && index === 0))
      return writeWholeId(id, buffer, place);
    buffer[place + index] = code;
  }
  return place + digits;
}

function writeWholeId(id: string, buffer: Buffer, place: number): number {
  return place + buffer.write(toStoredJson(JSON.stringify(id)), place);
}

/** Texts of durations that have been written before: by hundredths of a millisecond up to 1 ms, then by tenths. */
const hundredths: string[] = [];
const tenths: string[] = [];

function durationText(durationMs: number): string {
  // Longer ones are rare, and a clock of the user's own may make a duration of anything.
  if (!(durationMs >= 0 && durationMs < 99)) return JSON.stringify(shortDuration(durationMs));
  const isShort = durationMs < 1;
  const texts = isShort ? hundredths : tenths;
  return (texts[Math.round(durationMs * (isShort ? 100 : 10))] ??= String(
    shortDuration(durationMs),
  ));
}

/** Rounds to the two or three digits that tell fast from slow. */
export function shortDuration(durationMs: number): number {
  if (durationMs >= 100) return Math.round(durationMs);
  return durationMs >= 1 ? Math.round(durationMs * 10) / 10 : Math.round(durationMs * 100) / 100;
}

/** Tells equal texts apart from others without keeping them. */
export function hashOf(text: string): string {
  return hash("sha256", text, "base64url").slice(0, hashChars);
}

/** Gives whole milliseconds that both databases can show as a time. */
function wholeTime(at: number): number {
  if (!Number.isFinite(at)) return 0;
  return Math.min(Math.max(Math.trunc(at), minTime), maxTime);
}
