import type { Insertable, Selectable } from "kysely";

import type { AuditEntry, AuditRow } from "./audit-entry.ts";
import { parseObjectColumn } from "./json-column.ts";
import type { StoreTables } from "./store-tables.ts";

export type AuditColumns = Insertable<StoreTables["audit"]>;

const maxDetailBytes = 4 * 1024;

/** An entry as it is saved: from here on nothing about it can fail, and no later change of it counts. */
export function toAuditColumns(entry: AuditEntry): AuditColumns {
  return {
    at: Number.isFinite(entry.at) ? Math.trunc(entry.at) : 0,
    type: entry.type,
    agent: entry.agent ?? null,
    server: entry.server ?? null,
    tool: entry.tool ?? null,
    code: entry.code ?? null,
    detail: detailText(entry.detail),
  };
}

function detailText(detail: AuditEntry["detail"]): string {
  try {
    const text = JSON.stringify(detail ?? {});
    return Buffer.byteLength(text) > maxDetailBytes ? '{"omitted":"too large"}' : text;
  } catch {
    return '{"omitted":"not JSON"}';
  }
}

export function toAuditRow(row: Selectable<StoreTables["audit"]>): AuditRow {
  return {
    seq: row.seq,
    at: row.at,
    type: row.type,
    ...(row.agent !== null && { agent: row.agent }),
    ...(row.server !== null && { server: row.server }),
    ...(row.tool !== null && { tool: row.tool }),
    ...(row.code !== null && { code: row.code }),
    detail: parseObjectColumn(row.detail) ?? {},
  };
}
