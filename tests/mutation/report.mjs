// @ts-check
import { existsSync, readFileSync, writeFileSync } from "node:fs";

import { equivalents } from "./equivalents.mjs";
import { resultFile } from "./rooms.mjs";

/**
 * @typedef {object} Mutant as Stryker reports it
 * @property {"Killed" | "Survived" | "NoCoverage" | "Timeout" | "RuntimeError" | "CompileError" | "Ignored"} status
 * @property {string} mutatorName
 * @property {string} [replacement]
 * @property {{ start: Place, end: Place }} location
 */
/** @typedef {{ line: number, column: number }} Place both count from 1 */
/** @typedef {{ files: Record<string, { source: string, mutants: Mutant[] }> }} StrykerReport */
/** @typedef {{ where: string, file: string, original: string, replacement: string, isCovered: boolean, reason: string | undefined }} Survivor */
/** @typedef {{ room: string, killed: number, timedOut: number, survived: number, notCovered: number, score: number, survivors: readonly Survivor[] }} RoomResult */

/** The score that every room has to reach, in percent of all mutants, equivalent ones included. */
export const wantedScore = 90;

/**
 * Reads what the last run about a room found.
 *
 * @param {string} room
 */
export function readResult(room) {
  return summarize(room, JSON.parse(readFileSync(resultFile(room, "json"), "utf8")));
}

/**
 * Counts the mutants of a room and lists those that survived.
 *
 * @param {string} room
 * @param {StrykerReport} report
 * @returns {RoomResult}
 */
export function summarize(room, report) {
  const mutants = Object.entries(report.files).flatMap(([file, { source, mutants }]) =>
    mutants.map((mutant) => ({ file, lines: source.split("\n"), ...mutant })),
  );
  /** @param {Mutant["status"]} status */
  const count = (status) => mutants.filter((it) => it.status === status).length;
  const [killed, timedOut] = [count("Killed"), count("Timeout")];
  const [survived, notCovered] = [count("Survived"), count("NoCoverage")];
  const all = killed + timedOut + survived + notCovered;
  const survivors = mutants
    .filter(({ status }) => status === "Survived" || status === "NoCoverage")
    .toSorted(
      (a, b) => a.file.localeCompare(b.file) || a.location.start.line - b.location.start.line,
    )
    .map(({ file, lines, location, replacement = "", status }) => {
      const original = textAt(lines, location);
      return {
        where: `${file}:${location.start.line}`,
        file,
        original,
        replacement,
        isCovered: status === "Survived",
        reason: equivalents.find(
          (it) => it.file === file && it.original === original && it.replacement === replacement,
        )?.reason,
      };
    });
  const score = all === 0 ? 0 : (100 * (killed + timedOut)) / all;
  return { room, killed, timedOut, survived, notCovered, score, survivors };
}

/**
 * Takes the survivors out of what the next run uses again, so that they are judged anew. Stryker itself does
 * that only when it sees a new test that covers them, which it never does for code that runs while its
 * module is loaded.
 *
 * @param {string} room
 */
export function forgetSurvivors(room) {
  const file = resultFile(room, "incremental.json");
  if (!existsSync(file)) return;
  /** @type {StrykerReport} */
  const report = JSON.parse(readFileSync(file, "utf8"));
  for (const source of Object.values(report.files))
    source.mutants = source.mutants.filter(
      ({ status }) => status === "Killed" || status === "Timeout",
    );
  writeFileSync(file, JSON.stringify(report));
}

/** @param {readonly string[]} lines @param {Mutant["location"]} location */
function textAt(lines, { start, end }) {
  const [first = "", ...rest] = lines.slice(start.line - 1, end.line);
  const last = rest.pop();
  if (last === undefined) return first.slice(start.column - 1, end.column - 1);
  return [first.slice(start.column - 1), ...rest, last.slice(0, end.column - 1)].join("\n");
}

/** @param {readonly RoomResult[]} results */
export function renderReport(results) {
  const rows = results.map(({ room, killed, timedOut, survived, notCovered, score }) =>
    [room, killed, timedOut, survived, notCovered, `${score.toFixed(1)} %`].join(" | "),
  );
  const lists = results.map(({ room, survivors }) =>
    [`## Survivors of ${room}`, "", ...survivors.map(renderSurvivor)].join("\n"),
  );
  return `${[
    [
      "| room | killed | timed out | survived | not covered | score |",
      "| --- | --- | --- | --- | --- | --- |",
      ...rows.map((row) => `| ${row} |`),
    ].join("\n"),
    ...lists,
  ].join("\n\n")}\n`;
}

/** @param {Survivor} survivor */
function renderSurvivor({ where, original, replacement, isCovered, reason }) {
  const notes = [isCovered ? [] : "no test runs it", reason ?? []].flat();
  const note = notes.length === 0 ? "" : ` (${notes.join("; ")})`;
  return `- ${where} \`${oneLine(original)}\` → \`${oneLine(replacement)}\`${note}`;
}

/** @param {string} code */
function oneLine(code) {
  const line = code.replaceAll(/\s+/g, " ");
  return line.length > 120 ? `${line.slice(0, 119)}…` : line;
}
