import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";

import { normalize } from "../../cli/normalize.ts";
import { type FailureCase, type Place, serverFile } from "./cases.ts";

const root = path.resolve(import.meta.dirname, "../../..");
const maxLines = 20;

/** Writes what somebody has before them who meets the case into an empty folder; the name of the file. */
export function writeCase(
  { config, file = "mcp.json" }: FailureCase,
  place: Place,
  cwd: string,
): string {
  const text =
    typeof config === "string"
      ? config
      : JSON.stringify({ mcpServers: { notes: config(place) } }, undefined, 2);
  mkdirSync(path.dirname(path.join(cwd, file)), { recursive: true });
  writeFileSync(path.join(cwd, file), text);
  writeFileSync(path.join(cwd, "server.mjs"), serverFile);
  return file;
}

/** The text without what differs from run to run and from machine to machine. */
export function goldenText(text: string, folders: Readonly<Record<string, string>>): string {
  let shown = normalize(text)
    // oxlint-disable-next-line no-control-regex -- colours of a terminal
    .replaceAll(/\u001B\[[\d;]*m/g, "")
    .replaceAll(/\b\d+(?:\.\d+)?m?s\b/g, "<time>")
    .replaceAll(/\d{4}-\d\d-\d\dT[\d_]+Z-debug-\d\.log/g, "<log>")
    .replaceAll(/PATH searched: \d+ folders?/g, "PATH searched: <n> folders")
    .replaceAll(/^.*Node\.js v\d.*\n/gm, "");
  for (const [name, folder] of Object.entries({ ...folders, plugboard: root }))
    shown = shown.replaceAll(folder, `<${name}>`);
  return shown.trim();
}

/** One text for all cases; of a long answer its beginning and its end. */
export function goldenTable(told: ReadonlyMap<string, string>): string {
  const sections = [...told].map(([title, text]) => {
    const lines = text.split("\n").map((line) => line.trimEnd());
    const left = lines.length - maxLines;
    const shown = left > 1 ? lines.toSpliced(maxLines - 1, left, `… ${left} more lines`) : lines;
    return `## ${title}\n\n${shown.join("\n")}\n`;
  });
  return sections.join("\n");
}
