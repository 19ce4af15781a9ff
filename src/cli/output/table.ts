import { neutralizeLine } from "../../text/untrusted/neutralize.ts";

export interface Column {
  readonly title: string;
  readonly align?: "left" | "right";
  /** At least this wide, for tables whose rows come one by one. */
  readonly minWidth?: number;
}

const gap = "  ";

/** Widths that fit the titles and all of `rows`; the last column is never padded. */
export function columnWidths(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
): readonly number[] {
  return columns.map(({ title, minWidth = 0 }, index) =>
    Math.max(title.length, minWidth, ...rows.map((row) => widthOf(cell(row, index)))),
  );
}

/** One line of a table. Cells are neutralized here, wherever their text comes from. */
export function renderRow(
  columns: readonly Column[],
  row: readonly string[],
  widths: readonly number[],
): string {
  const cells = columns.map(({ align = "left" }, index) => {
    const text = cell(row, index);
    const padding = " ".repeat(Math.max(0, (widths[index] ?? 0) - widthOf(text)));
    return align === "right" ? padding + text : text + padding;
  });
  return cells.join(gap).trimEnd();
}

function cell(row: readonly string[], index: number): string {
  return neutralizeLine(row[index] ?? "");
}

/** Characters rather than UTF-16 units; scripts with double width come out a little wide. */
function widthOf(text: string): number {
  return Array.from(text).length;
}
