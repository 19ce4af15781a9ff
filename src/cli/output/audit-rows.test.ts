import { describe, expect, it } from "vitest";

import { auditCells, auditCsv, csvHeader } from "./audit-rows.ts";

const row = {
  seq: 7,
  at: Date.parse("2026-11-16T09:30:05.250Z"),
  type: "call",
  agent: "main",
  server: "files",
  tool: "read",
  code: "ok",
  detail: { consent: "granted", durationMs: 12.4, callId: "c1", sideEffects: "none" },
};

describe("entries of the audit trail", () => {
  it("say who, what, how it ended, how long it took and what decided", () => {
    expect(auditCells(row).slice(1)).toEqual([
      "main",
      "call",
      "files.read",
      "ok",
      "12 ms",
      "granted",
    ]);
    const refused = { ...row, code: "denied", detail: { rule: "level", consent: "ask" } };
    expect(auditCells(refused).slice(-3)).toEqual(["denied", "", "level"]);
  });

  it("name what has no tool by what there is", () => {
    const { tool: _tool, ...other } = row;
    expect(auditCells({ ...other, detail: { publicName: "raed" } })[3]).toBe("files.raed");
    expect(auditCells({ ...other, detail: { toolNames: ["a", "b"] } })[3]).toBe("files.a, b");
    expect(auditCells({ seq: 1, at: 0, type: "entries-lost" }).slice(1)).toEqual([
      "",
      "entries-lost",
      "",
      "",
      "",
      "",
    ]);
  });

  it("are lines of CSV, of which a spreadsheet runs none", () => {
    expect(csvHeader).toBe(
      "seq,at,type,agent,server,tool,code,rule,consent,duration_ms,side_effects,call_id,arguments_hash,detail\r\n",
    );
    expect(auditCsv({ ...row, agent: '=cmd|"x"', tool: "-a,b", detail: {} })).toBe(
      `7,2026-11-16T09:30:05.250Z,call,"'=cmd|""x""",files,"'-a,b",ok,,,,,,,{}\r\n`,
    );
  });
});
