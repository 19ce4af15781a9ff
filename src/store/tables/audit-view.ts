import { type RawBuilder, sql } from "kysely";

import type { StoreDialect } from "./store-database.ts";

/**
 * The view through which people read the audit trail, one row for each entry. `audit-page.ts` says what the pages
 * hold: a line whose second member is a number is a call that succeeded, and the number is the place of its head.
 * A page that is no JSON, or none yet, has no rows here.
 */
export const createAuditView: Readonly<Record<StoreDialect, RawBuilder<unknown>>> = {
  // For SQLite 3.38 and newer. It has one representation of a list inside of a list: its text.
  sqlite: sql`
    CREATE VIEW audit_entries AS
    SELECT
      seq,
      strftime('%Y-%m-%dT%H:%M:%fZ', at_ms / 1000.0, 'unixepoch') AS at,
      CASE WHEN head IS NULL THEN json_extract(line, '$[1]') ELSE 'call' END AS type,
      CASE WHEN head IS NULL THEN json_extract(line, '$[2]') ELSE json_extract(head, '$[0]') END AS agent,
      CASE WHEN head IS NULL THEN json_extract(line, '$[3]') ELSE json_extract(head, '$[1]') END AS server,
      CASE WHEN head IS NULL THEN json_extract(line, '$[4]') ELSE json_extract(head, '$[2]') END AS tool,
      CASE WHEN head IS NULL THEN json_extract(line, '$[5]') ELSE 'ok' END AS code,
      json_extract(detail, '$.rule') AS rule,
      json_extract(detail, '$.consent') AS consent,
      json_extract(detail, '$.durationMs') AS duration_ms,
      json_extract(detail, '$.sideEffects') AS side_effects,
      json_extract(detail, '$.callId') AS call_id,
      json_extract(detail, '$.argumentsHash') AS arguments_hash,
      detail
    FROM (
      SELECT seq, line, head,
        coalesce(json_extract(head, '$[5]'), 0) + json_extract(line, '$[0]') AS at_ms,
        CASE WHEN head IS NULL THEN json_extract(line, '$[6]') ELSE json_object(
          'consent', json_extract(head, '$[3]'),
          'callId', CASE WHEN json_type(line, '$[4]') = 'integer' THEN json_extract(head, '$[4]') ELSE '' END
            || json_extract(line, '$[4]'),
          'durationMs', json_extract(line, '$[2]'),
          'sideEffects', CASE WHEN json_type(line, '$[5]') IS NULL THEN 'possible' ELSE 'none' END,
          'argumentsHash', json_extract(line, '$[3]')
        ) END AS detail
      FROM (
        SELECT audit.seq * 4000 + lines.key AS seq, lines.value AS line,
          CASE WHEN json_type(lines.value, '$[1]') = 'integer'
            THEN coalesce(json_extract(audit.heads, '$[' || json_extract(lines.value, '$[1]') || ']'), '[]')
          END AS head
        FROM audit
        JOIN json_each(CASE WHEN json_valid(audit.lines) THEN audit.lines ELSE '[]' END) AS lines
      )
    )`,
  // `OFFSET 0` keeps the planner from repeating an expression wherever its name is used.
  postgres: sql`
    CREATE VIEW audit_entries AS
    SELECT
      audit.seq * 4000 + lines.place - 1 AS seq,
      to_timestamp(at_ms / 1000) + at_ms % 1000 * interval '1 millisecond' AS at,
      CASE WHEN head IS NULL THEN line->>1 ELSE 'call' END AS type,
      CASE WHEN head IS NULL THEN line->>2 ELSE head->>0 END AS agent,
      CASE WHEN head IS NULL THEN line->>3 ELSE head->>1 END AS server,
      CASE WHEN head IS NULL THEN line->>4 ELSE head->>2 END AS tool,
      CASE WHEN head IS NULL THEN line->>5 ELSE 'ok' END AS code,
      detail->>'rule' AS rule,
      detail->>'consent' AS consent,
      CASE WHEN jsonb_typeof(detail->'durationMs') = 'number'
        THEN (detail->'durationMs')::double precision END AS duration_ms,
      detail->>'sideEffects' AS side_effects,
      detail->>'callId' AS call_id,
      detail->>'argumentsHash' AS arguments_hash,
      detail
    FROM audit
    CROSS JOIN LATERAL (SELECT audit.heads::jsonb AS heads OFFSET 0) AS page
    CROSS JOIN LATERAL jsonb_array_elements(audit.lines::jsonb) WITH ORDINALITY AS lines(line, place)
    CROSS JOIN LATERAL (
      SELECT CASE WHEN jsonb_typeof(line->1) = 'number'
        THEN coalesce(page.heads->((line->1)::integer), '[]')
      END AS head OFFSET 0
    ) AS heads
    CROSS JOIN LATERAL (
      SELECT coalesce((head->5)::bigint, 0) + (line->0)::bigint AS at_ms
    ) AS times
    CROSS JOIN LATERAL (
      SELECT CASE WHEN head IS NULL THEN line->6 ELSE jsonb_build_object(
        'consent', head->>3,
        'callId', CASE WHEN jsonb_typeof(line->4) = 'number' THEN head->>4 ELSE '' END || (line->>4),
        'durationMs', line->2,
        'sideEffects', CASE WHEN line->5 IS NULL THEN 'possible' ELSE 'none' END,
        'argumentsHash', line->>3
      ) END AS detail
    ) AS details`,
};
