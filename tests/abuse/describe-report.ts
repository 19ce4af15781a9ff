import type { Criterion, Figures, Row } from "./row.ts";
import { type RowReport, round } from "./run-row.ts";

/** The line of a row: id, verdict, trigger, expected, figures, H, this process. */
export function describeReport(row: Row, report: RowReport | string): string {
  const { id, trigger, expected } = row;
  if (typeof report === "string") return columns(id, "FAIL", trigger, expected, report);
  const isPassed = report.broken.length === 0;
  const line = columns(
    id,
    isPassed ? "pass" : "FAIL",
    `${trigger} ×${report.count}`,
    expected,
    describeFigures(row.criteria, report),
  );
  const allowed = row.stallAllowance;
  const note =
    allowed === undefined ? "" : `\n     stall up to ${allowed.atMostMs} ms: ${allowed.reason}`;
  const gap = row.knownGap === undefined ? "" : ` (known: ${row.knownGap})`;
  return isPassed
    ? `${line}${note}`
    : `${line}${note}\n     broken: ${report.broken.join("; ")}${gap}`;
}

/** What the official client does under the same attack: told, never judged. */
export function describeStock(row: Row, report: RowReport | string, version: string): string {
  const name = `stock client ${version}`;
  if (typeof report === "string") return columns("", "·", name, "", report);
  const figures = describeFigures(row.criteria, report);
  return columns("", "·", `${name} ×${report.count}`, "", figures);
}

function columns(id: string, verdict: string, trigger: string, ...rest: string[]): string {
  const [expected = "", figures = ""] = rest;
  return `${id.padEnd(4)} ${verdict.padEnd(4)} ${trigger.padEnd(36)} ${expected.padEnd(48)} ${figures}`;
}

function describeFigures(criteria: readonly Criterion[], report: RowReport): string {
  const { figures, ends, healthyCalls, tookMs } = report;
  const judged = new Set(criteria.map(({ figure }) => figure));
  const own = Object.entries(figures).filter(
    ([name, value]) => !hidden.has(name) && (judged.has(name) || value !== 0),
  );
  const parts = [
    own.map(([name, value]) => `${name} ${round(value)}`).join(", "),
    `ends: ${Object.entries(ends)
      .map(([code, count]) => `${code} ${count}`)
      .join(", ")}`,
    `H ${round(figures["H errors"] ?? 0)} errors in ${healthyCalls}, p99 ${round(figures["H p99 ms"] ?? 0)} ms`,
    vitals(figures),
    `${round(tookMs / 1_000)} s`,
  ];
  return parts.join(" | ");
}

const hidden = new Set(["H errors", "H p99 ms", "lag ms", "busy ms", "stall ms", "RSS growth MB"]);

function vitals(figures: Figures): string {
  const lagMs = round(figures["lag ms"] ?? 0);
  return `lag ${lagMs} ms, busy ${round(figures["busy ms"] ?? 0)} ms, RSS +${round(figures["RSS growth MB"] ?? 0)} MB`;
}
