import { describe, expect, it } from "vitest";

import { renderReport, summarize } from "./report.mjs";

const source = "const limit = 1;\nif (a &&\n  b) stop();\n";
const at = (line: number, column: number, endLine: number, endColumn: number) => ({
  start: { line, column },
  end: { line: endLine, column: endColumn },
});
const mutant = { mutatorName: "any", location: at(1, 15, 1, 16) };
const report = {
  files: {
    "src/b.ts": {
      source,
      mutants: [
        { ...mutant, status: "Killed" as const },
        { ...mutant, status: "Timeout" as const },
        { ...mutant, status: "Ignored" as const },
        { ...mutant, status: "Survived" as const, location: at(2, 5, 3, 4), replacement: "true" },
      ],
    },
    "src/a.ts": {
      source,
      mutants: [{ ...mutant, status: "NoCoverage" as const, replacement: "2" }],
    },
  },
};

describe("the report of a mutation run", () => {
  it("counts what tests noticed against everything that was changed", () => {
    expect(summarize("room", report)).toMatchObject({
      room: "room",
      killed: 1,
      timedOut: 1,
      survived: 1,
      notCovered: 1,
      score: 50,
    });
    expect(summarize("room", { files: {} }).score).toBe(0);
  });

  it("lists every survivor with its place and its change", () => {
    expect(renderReport([summarize("room", report)])).toBe(`\
| room | killed | timed out | survived | not covered | score |
| --- | --- | --- | --- | --- | --- |
| room | 1 | 1 | 1 | 1 | 50.0 % |

## Survivors of room

- src/a.ts:1 \`1\` → \`2\` (no test runs it)
- src/b.ts:2 \`a && b\` → \`true\`
`);
  });
});
