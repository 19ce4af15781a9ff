import { describe, expect, it } from "vitest";

import { columnWidths, renderRow } from "./table.ts";

const columns = [{ title: "NAME" }, { title: "TOOLS", align: "right" as const }, { title: "NOTE" }];

function renderTable(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = columnWidths(columns, rows);
  const titles = columns.map(({ title }) => title);
  return [titles, ...rows].map((row) => renderRow(columns, row, widths));
}

describe("a table", () => {
  it("aligns its columns and leaves no blanks at the end of a line", () => {
    const rows = [
      ["demo", "12", "fine"],
      ["a-long-name", "–", ""],
    ];
    expect(renderTable(rows)).toEqual([
      "NAME         TOOLS  NOTE",
      "demo            12  fine",
      "a-long-name      –",
    ]);
  });

  it("CLI-16: shows nothing in a cell that could move a cursor or forge a line", () => {
    const rows = [["evil\u001B[2J\nsecond", "1", "\u202Etxt"]];
    const [, line] = renderTable(rows);
    expect(line).toBe("evil second      1  \uFFFDtxt");
  });

  it("can be written row by row", () => {
    const wide = [{ title: "A", minWidth: 6 }, { title: "B" }];
    expect(renderRow(wide, ["x", "y"], columnWidths(wide, []))).toBe("x       y");
  });
});
