import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import type { AuditEntry } from "../src/store/audit/audit-entry.ts";
import { openStore } from "../src/store/open-store.ts";
import { auditWriter } from "./fixtures/store/audit-writer.ts";
import {
  findPostgres,
  startPostgres,
  type TestPostgres,
} from "./fixtures/store/postgres-server.ts";
import { psql, sqlite3 } from "./fixtures/store/sql-shells.ts";
import { anyTool, recordedHost } from "./host/recorded-host.ts";

const page = readFileSync(path.resolve(import.meta.dirname, "../docs/permissions.md"), "utf8");
/** The queries of the page, each with what stands below it. */
const examples = [...page.matchAll(/```sql\n([^`]+)```\n+```text\n([^`]+)```/g)].map(
  ([, query = "", output = ""]) => ({ query, output }),
);

function createFile(): string {
  return path.join(mkdtempSync(path.join(tmpdir(), "audit-queries-")), "plugboard.db");
}

/** A morning in which two agents work and a person answers. */
async function writeTrail(location: string): Promise<void> {
  await using store = await openStore({ location });
  const audit = auditWriter(store.audit);
  const github = (tool: string) => ({ agent: "main", server: "github", tool, consent: "grant" });
  const [search, create] = [github("search_code"), github("create_issue")];
  const at = (time: string): number => Date.parse(`2026-11-16T${time}Z`);
  let calls = 0;
  const call = (time: string, head: typeof search, durationMs: number): void => {
    calls += 1;
    audit.queue.addCall({
      at: at(time),
      head,
      callId: `host-${calls}`,
      durationMs,
      hasEffects: true,
      argumentsText: `{"n":${calls}}`,
    });
  };
  const refused = (time: string, entry: Partial<AuditEntry>, rule: string, ms: number): void =>
    audit.append({
      type: "call",
      at: at(time),
      ...entry,
      detail: { rule, durationMs: ms, sideEffects: "none" },
    });
  const issue = { server: "github", tool: "create_issue" };
  const deletion = { agent: "main", server: "files", tool: "delete_file" };
  audit.append({ type: "launch-approved", at: at("09:00:02.010"), server: "github" });
  call("09:00:15.000", search, 812);
  call("09:00:20.400", search, 310);
  audit.append({
    type: "consent-granted",
    at: at("09:01:10.300"),
    agent: "main",
    ...issue,
    code: "tool-session",
  });
  call("09:01:11.600", create, 1_240);
  call("09:01:40.000", search, 290.4);
  refused("09:02:30.120", { agent: "guest", ...issue, code: "denied" }, "level", 0.1);
  call("09:03:00.000", create, 980);
  call("09:03:05.000", search, 301);
  audit.append({ type: "consent-denied", at: at("09:04:11.500"), ...deletion, code: "no" });
  refused("09:04:11.500", { ...deletion, code: "consent_denied" }, "consent", 5_200);
  await audit.flush();
}

/** The lines without the blanks that a column is filled up with. */
function trimmed(text: string): string {
  return text.replaceAll(/ +$/gm, "");
}

describe.skipIf(sqlite3.missing !== undefined)(
  `the audit trail in sqlite3${sqlite3.missing === undefined ? "" : ` (skipped: ${sqlite3.missing})`}`,
  () => {
    const file = createFile();
    beforeAll(() => writeTrail(file));

    it("has three queries in docs/permissions.md", () => {
      expect(examples).toHaveLength(3);
    });

    it.each(examples)("docs/permissions.md: prints what stands below: $query", async (example) => {
      expect(trimmed(await sqlite3.print(file, example.query))).toBe(trimmed(example.output));
    });

    it("has one row for each call and decision of a host", async () => {
      const store = createFile();
      await using context = await recordedHost({ tools: [anyTool], host: { store } });
      const { host } = context;
      const session = host.session({ agent: "main", level: "yolo" });
      for (let index = 0; index < 3; index += 1)
        await session.call("mcp__fake__any", {}, { callId: `call ${index}` });
      await host.session({ agent: "guest" }).call("mcp__fake__any", {});
      await host.grants.allow({ agent: "main", server: "fake", tool: "any" });
      const rows = await host.audit.query();
      const found = await sqlite3.readJson(
        store,
        `SELECT json_object('seq', seq, 'type', type, 'agent', agent, 'tool', tool, 'code', code,
          'detail', json(detail)) FROM audit_entries ORDER BY seq DESC`,
      );
      expect(found).toEqual(
        rows.map(({ seq, type, agent = null, tool = null, code = null, detail }) => ({
          seq,
          type,
          agent,
          tool,
          code,
          detail: JSON.parse(JSON.stringify(detail)) as unknown,
        })),
      );
      expect(rows.filter(({ type }) => type === "call")).toHaveLength(4);
      expect(rows.filter(({ type }) => type === "grant-added")).toHaveLength(1);
    });
  },
);

describe.skipIf(psql.missing !== undefined)(
  `the audit trail in psql${psql.missing === undefined ? "" : ` (skipped: ${psql.missing})`}`,
  () => {
    let postgres: TestPostgres;
    let url: string;

    beforeAll(async () => {
      postgres = await startPostgres(findPostgres());
      url = await postgres.createDatabase();
      await writeTrail(url);
    });

    afterAll(() => postgres[Symbol.asyncDispose]());

    it.each(examples)("answers as sqlite3 does: $query", async ({ query, output }) => {
      const lines = (await psql.print(url, query)).trimEnd().split("\n");
      const cells = lines
        .filter((line) => !line.startsWith("-"))
        .map((line) => line.split("|").map((cell) => cell.trim()));
      const [head = "", rule = "", ...rows] = output.trimEnd().split("\n");
      const starts = [...rule.matchAll(/-+/g)].map(({ index }) => index);
      const expected = [head, ...rows].map((line) =>
        starts.map((start, n) => asInPsql(line.slice(start, starts[n + 1]).trim())),
      );
      expect(cells).toEqual(expected);
    });
  },
);

/** It writes times in a form of its own. */
function asInPsql(cell: string): string {
  const time = /^(\d{4}-\d\d-\d\d)T([\d:.]+?)0*Z$/.exec(cell);
  return time === null ? cell : `${time[1]} ${time[2]}+00`;
}
