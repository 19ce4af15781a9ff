import { PassThrough } from "node:stream";

import { describe, expect, it } from "vitest";

import { type Column, columnWidths, renderRow, writeRow, writeTitles } from "./table.ts";
import { type OutputStream, Terminal } from "./terminal.ts";

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

  it.each<[string, Pick<Column, "isBelow">, number, readonly string[]]>([
    ["is cut", {}, 20, ["NAME  TOOLS  NOTE", "demo     12  not th…"]],
    [
      "has its note below",
      { isBelow: true },
      20,
      ["NAME  TOOLS  NOTE", "demo     12", "    not there: type this"],
    ],
    [
      "keeps its note where there is room",
      { isBelow: true },
      80,
      ["NAME  TOOLS  NOTE", "demo     12  not there: type this"],
    ],
    ["has titles that are cut, too", { isBelow: true }, 12, ["NAME  TOOLS…", "demo     12"]],
  ])("a row on a narrow screen %s", (_name, trait, width, lines) => {
    const stdout = new PassThrough();
    const screen: OutputStream = Object.assign(stdout, { isTTY: true, columns: width });
    const env = { LANG: "C.UTF-8" };
    const terminal = new Terminal({
      stdout: screen,
      stderr: screen,
      env,
      platform: "linux",
      color: false,
    });
    const noted = [...columns.slice(0, 2), { title: "NOTE", ...trait }];
    const row = ["demo", "12", "not there: type this"];
    const widths = columnWidths(noted, [row]);
    writeTitles(terminal, noted, widths);
    writeRow(terminal, noted, row, widths);
    const written = String(stdout.read()).trimEnd().split("\n");
    expect(written.slice(0, lines.length)).toEqual(lines);
  });

  it("can be written row by row", () => {
    const wide = [{ title: "A", minWidth: 6 }, { title: "B" }];
    expect(renderRow(wide, ["x", "y"], columnWidths(wide, []))).toBe("x       y");
  });
});
