import { neutralizeLine } from "../../text/untrusted/neutralize.ts";
import type { Terminal } from "./terminal.ts";

export interface Column {
  readonly title: string;
  readonly align?: "left" | "right";
  /** At least this wide, for tables whose rows come one by one. */
  readonly minWidth?: number;
  /** For the last column: text that has no room behind the others stands below them, whole. */
  readonly isBelow?: true;
}

const gap = "  ";
const indentation = "    ";

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

/** Writes the titles of a table. */
export function writeTitles(
  terminal: Terminal,
  columns: readonly Column[],
  widths: readonly number[],
): void {
  const titles = columns.map(({ title }) => title);
  terminal.heading(renderRow(columns, titles, widths));
}

/** Writes one row of a table. */
export function writeRow(
  terminal: Terminal,
  columns: readonly Column[],
  row: readonly string[],
  widths: readonly number[],
): void {
  const text = renderRow(columns, row, widths);
  const below = columns.at(-1)?.isBelow === true ? cell(row, columns.length - 1) : "";
  if (below === "" || terminal.hasRoomFor(text)) return terminal.row(text);
  terminal.row(renderRow(columns.slice(0, -1), row, widths));
  terminal.line(`${indentation}${below}`);
}

function cell(row: readonly string[], index: number): string {
  return neutralizeLine(row[index] ?? "");
}

/** Characters rather than UTF-16 units; scripts with double width come out a little wide. */
function widthOf(text: string): number {
  return Array.from(text).length;
}
