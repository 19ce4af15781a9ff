import { isJsonObject } from "../../text/json-object.ts";
import { fromStoredJson, parseJsonColumn } from "../tables/stored-text.ts";
import type { AuditEntry, AuditRow } from "./audit-entry.ts";

/**
 * Many entries as one row of the store, as JSON that the view `audit_entries` takes apart. A row for each of
 * them would cost more than the calls they tell of; as one piece a thousand entries are written as fast as a
 * few.
 */
export interface AuditPage {
  readonly first_at: number;
  readonly last_at: number;
  readonly entries: number;
  /**
   * JSON in UTF-8: a list of heads, each `[agent, server, tool, consent, idPrefix, at]`. The last two are what the
   * numbers of its calls count from.
   */
  readonly heads: Uint8Array;
  /**
   * JSON in UTF-8: a list of entries, each on a line of its own. A call that succeeded is
   * `[sinceMs, head, durationMs, argumentsHash, callId]`, with a `0` behind if it cannot have changed anything: `head` is
   * the place of its head, `sinceMs` counts from the time of that, and an id that is a number stands behind its prefix.
   * Most entries are such calls, and each byte is felt by the next call, hence no names. Any other entry is
   * `[at, type, agent, server, tool, code, detail]`.
   */
  readonly lines: Uint8Array;
}

/** The fields that calls of one agent with one tool share. */
export interface CallHead {
  readonly agent: string;
  readonly server: string | undefined;
  readonly tool: string;
  readonly consent: string;
}

/** So many entries a page has at most: the number of an entry is made of its page's and its own. */
export const maxEntriesPerPage = 4_000;

/**
 * Reads the rows of a page. A line that is damaged costs its own row only: the lines around it keep their
 * numbers.
 */
export function* readAuditPage(
  page: Pick<AuditPage, "heads" | "lines"> & { readonly seq: number },
): Generator<AuditRow, void, undefined> {
  const heads = listOf(parseJsonColumn(textOf(page.heads)));
  const lines = textOf(page.lines).split("\n");
  const first = page.seq * maxEntriesPerPage;
  // The first line and the last are the brackets of the list; more lines would have the numbers of the next page.
  const end = Math.min(lines.length - 1, maxEntriesPerPage + 1);
  for (let index = 1; index < end; index += 1) {
    const line = lines[index] as string;
    const members = parseJsonColumn(line.endsWith(",") ? line.slice(0, -1) : line);
    if (Array.isArray(members)) yield { seq: first + index - 1, ...readLine(members, heads) };
  }
}

function readLine(members: readonly unknown[], heads: readonly unknown[]): AuditEntry {
  const [at, place] = members;
  if (typeof place === "number") return readCall(members, listOf(heads[place]));
  const [, type, agent, server, tool, code, detail] = members;
  return {
    at: numberOf(at),
    type: String(type),
    ...strings({ agent, server, tool, code }),
    detail: isJsonObject(detail) ? detail : {},
  };
}

function readCall(members: readonly unknown[], head: readonly unknown[]): AuditEntry {
  const [sinceMs, , durationMs, argumentsHash, id, sideEffects] = members;
  const [agent, server, tool, consent, idPrefix, at] = head;
  return {
    at: numberOf(at) + numberOf(sinceMs),
    type: "call",
    ...strings({ agent, server, tool }),
    code: "ok",
    detail: {
      consent,
      callId: typeof id === "number" ? `${String(idPrefix)}${id}` : id,
      durationMs,
      sideEffects: sideEffects === 0 ? "none" : "possible",
      argumentsHash,
    },
  };
}

/** Keeps the members that are strings: what a page holds may be damaged. */
function strings(members: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(members).filter(
      (member): member is [string, string] => typeof member[1] === "string",
    ),
  );
}

function textOf(bytes: Uint8Array): string {
  const { buffer, byteOffset, byteLength } = bytes;
  return fromStoredJson(Buffer.from(buffer, byteOffset, byteLength).toString("utf8"));
}

function numberOf(value: unknown): number {
  return typeof value === "number" ? value : 0;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as readonly unknown[]) : [];
}
