import type { AuditRow } from "../../store/audit/audit-entry.ts";
import { truncate } from "../../text/truncate.ts";
import type { Column } from "../terminal/table.ts";
import { formatElapsed, formatMoment } from "./duration.ts";

/** The columns of the audit trail on a screen; wide enough for most rows, because some come later. */
export const auditColumns: readonly Column[] = [
  { title: "TIME", minWidth: 19 },
  { title: "AGENT" },
  { title: "WHAT" },
  { title: "TOOL", minWidth: 16 },
  { title: "OUTCOME" },
  { title: "TOOK", align: "right", minWidth: 6 },
  { title: "DECIDED BY" },
];

const maxToolChars = 60;

/** The cells of a row: who, what, how it ended, and which rule refused it or let it pass. */
export function auditCells(row: AuditRow): readonly string[] {
  const { at, agent = "", type, code = "", detail = {} } = row;
  const { durationMs, rule, consent } = detail;
  const took = typeof durationMs === "number" ? formatElapsed(durationMs) : "";
  const decided = [rule, consent].find((text) => typeof text === "string") ?? "";
  return [formatMoment(at), agent, type, subjectOf(row), code, took, decided];
}

function subjectOf({ server, tool, detail = {} }: AuditRow): string {
  const { toolNames, publicName } = detail;
  const many = Array.isArray(toolNames) ? toolNames.join(", ") : undefined;
  const name = tool ?? (typeof publicName === "string" ? publicName : many);
  const parts = [server, name].filter((part) => part !== undefined && part !== "");
  return truncate(parts.join("."), maxToolChars);
}

/** The columns of the view `audit_entries`, in its order. */
const csvTitles = [
  "seq",
  "at",
  "type",
  "agent",
  "server",
  "tool",
  "code",
  "rule",
  "consent",
  "duration_ms",
  "side_effects",
  "call_id",
  "arguments_hash",
  "detail",
] as const;

export const csvHeader = csvLine(csvTitles);

/** A row for spreadsheets, with the columns that the trail has in SQL. */
export function auditCsv({
  seq,
  at,
  type,
  agent,
  server,
  tool,
  code,
  detail = {},
}: AuditRow): string {
  const { rule, consent, durationMs, sideEffects, callId, argumentsHash } = detail;
  const time = new Date(at);
  return csvLine([
    seq,
    Number.isNaN(time.getTime()) ? at : time.toISOString(),
    type,
    agent,
    server,
    tool,
    code,
    rule,
    consent,
    durationMs,
    sideEffects,
    callId,
    argumentsHash,
    JSON.stringify(detail),
  ]);
}

function csvLine(cells: readonly unknown[]): string {
  return `${cells.map(csvCell).join(",")}\r\n`;
}

/** Quoted where it has to be. Names are other people's: one that a spreadsheet would run as a formula becomes text. */
function csvCell(value: unknown): string {
  if (value === undefined || value === null) return "";
  if (typeof value === "number") return String(value);
  const text = typeof value === "string" ? value : JSON.stringify(value);
  const plain = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}
