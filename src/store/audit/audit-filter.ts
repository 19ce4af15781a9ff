import { createError } from "../../errors/families.ts";
import type { AuditFilter, AuditRow } from "./audit-entry.ts";

/** The filter in whole milliseconds, which is what entries have and all that Postgres takes. */
export function wholeFilter(filter: AuditFilter): AuditFilter {
  const { since, until, type, agent, server, tool, code } = filter;
  return {
    since: since === undefined ? undefined : wholeNumber("since", since, Math.ceil),
    until: until === undefined ? undefined : wholeNumber("until", until, Math.floor),
    type,
    agent,
    server,
    tool,
    code,
  };
}

/** Also of an infinite one, as far as it can be told. Throws for what is no number: a date that makes no sense. */
export function wholeNumber(
  name: "since" | "until" | "limit" | "before",
  value: number,
  round: (value: number) => number,
): number {
  if (typeof value !== "number" || Number.isNaN(value))
    throw createError("config_invalid", `"${name}" of a query of the audit trail is no number`);
  return Math.min(Math.max(round(value), Number.MIN_SAFE_INTEGER), Number.MAX_SAFE_INTEGER);
}

export function fitsFilter(row: AuditRow, filter: AuditFilter): boolean {
  const { since = Number.NEGATIVE_INFINITY, until = Number.POSITIVE_INFINITY } = filter;
  if (row.at < since || row.at > until) return false;
  return (["type", "agent", "server", "tool", "code"] as const).every(
    (member) => filter[member] === undefined || filter[member] === row[member],
  );
}
