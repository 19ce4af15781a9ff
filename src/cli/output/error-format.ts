import { inspect } from "node:util";

import { type ConfigProblem, formatProblem } from "../../config/keys/config-problem.ts";
import { McpError } from "../../errors/mcp-error.ts";
import { ownCommand, ownCommandsIn } from "../../text/own-command.ts";
import { shellWord } from "../../text/shell-word.ts";
import { truncate } from "../../text/truncate.ts";
import { boundedLine } from "../../text/untrusted/bounded-text.ts";
import { neutralize, neutralizeLine } from "../../text/untrusted/neutralize.ts";
import { displayPath, displayPathsIn, type Standpoint } from "./display-path.ts";
import { errorTexts, type FactName, printedIn, textsIn, textsOf } from "./error-texts.ts";

/** One thing to know about a failure: a row of its block, or a piece of its only line. */
export interface Fact {
  readonly label: string;
  /** Several lines only in a fact that makes a block of the whole. */
  readonly text: string;
  /** How it reads in a line, when `label: text` is not it. */
  readonly inline?: string;
}

export interface ErrorStyle extends Standpoint {
  /** A longer line becomes a block of rows. */
  readonly columns: number;
  /** Adds where in the program it happened, for whoever mends it. */
  readonly withStack: boolean;
}

const maxPrintedLines = 5;
const maxListedNames = 8;
const maxRowLength = 400;
const separator = "   ";
const labelWidth = 7;

/**
 * A failure as people read it: what happened, where it is defined, the evidence, what to do. One line
 * when that is enough, a block when there is more to show. `extra` facts come from the command.
 */
export function formatError(
  error: unknown,
  style: ErrorStyle,
  extra: readonly Fact[] = [],
): readonly string[] {
  const stack = style.withStack ? indent(neutralize(inspect(error))) : [];
  if (!McpError.is(error)) return [`✗ unexpected: ${unexpectedText(error)}`, ...stack];
  const facts = [...factsOf(error, style), ...extra];
  return [...layOut(headlineOf(error, style), facts, style.columns), ...stack];
}

/** The same for programs; the exact same hint, so that nobody has to parse the text. */
export function errorObject(
  error: unknown,
  standpoint: Pick<Standpoint, "program" | "typedServer">,
): { readonly error: Readonly<Record<string, unknown>> } {
  if (!McpError.is(error))
    return { error: { code: "unexpected", message: unexpectedText(error), details: {} } };
  const { code, message, serverName, details } = error;
  const hint = nextStep(error, standpoint);
  return {
    error: {
      code,
      message,
      ...(serverName === undefined ? {} : { server: serverName }),
      ...(hint === undefined ? {} : { hint }),
      details,
    },
  };
}

/** `✗ .plugboard/mcp.json:12:5 — expected ","` */
export function formatConfigProblem(problem: ConfigProblem, standpoint: Standpoint): string {
  const path = problem.path === undefined ? {} : { path: displayPath(problem.path, standpoint) };
  const glyph = problem.severity === "error" ? "✗" : "⚠";
  const text = neutralizeLine(formatProblem({ ...problem, ...path }));
  return `${glyph} ${displayPathsIn(text, standpoint)}`;
}

function unexpectedText(error: unknown): string {
  return boundedLine(String(error), maxRowLength);
}

function headlineOf(error: McpError, style: ErrorStyle): string {
  return displayPathsIn(neutralize(errorTexts[error.code].headline(error)), style);
}

function factsOf(error: McpError, style: ErrorStyle): readonly Fact[] {
  return errorTexts[error.code].facts.flatMap((name) => findFact(name, error, style) ?? []);
}

function findFact(name: FactName, error: McpError, style: ErrorStyle): Fact | undefined {
  const { details } = error;
  switch (name) {
    case "command": {
      const command = details["target"] ?? details["command"];
      if (typeof command !== "string") return undefined;
      const from = findFact("from", error, style);
      const row = [boundedLine(command, maxRowLength), from?.inline];
      const label = details["transport"] === "stdio" ? "command" : "address";
      return { label, text: row.filter((part) => part !== undefined).join(separator) };
    }
    case "from": {
      const { definedAt } = details;
      if (typeof definedAt !== "string") return undefined;
      const text = displayPath(definedAt, style);
      return { label: "from", text, inline: `from ${text}` };
    }
    case "searched": {
      const { pathFolders } = details;
      if (typeof pathFolders !== "number") return undefined;
      const text = `searched: ${pathFolders} ${pathFolders === 1 ? "folder" : "folders"}`;
      return { label: "PATH", text, inline: `(PATH ${text})` };
    }
    case "configured": {
      const names = textsIn(error, "configured");
      const shown = names.slice(0, maxListedNames).map((one) => truncate(neutralizeLine(one), 80));
      const more = names.length - shown.length;
      const text = [...shown, ...(more > 0 ? [`… and ${more} more`] : [])].join(", ");
      return { label: "Configured", text: text === "" ? "none" : text };
    }
    case "stderr": {
      const { stream, lines: reason } = printedIn(error);
      const told = textsOf(reason);
      const lines = told.length === 0 ? textsIn(error, "stderrTail") : told;
      const shown = lines.slice(-maxPrintedLines).map((line) => boundedLine(line, maxRowLength));
      const label = stream === "stdout" ? "stdout" : "stderr";
      return shown.length === 0 ? undefined : { label, text: shown.join("\n") };
    }
    case "try": {
      const next = [nextStep(error, style), fullLog(error, style)];
      const text = next.filter((part) => part !== undefined).join(separator);
      return text === "" ? undefined : { label: "try", text: displayPathsIn(text, style) };
    }
  }
}

/** How to read all that a process printed, where that is kept. */
function fullLog(error: McpError, { program }: Standpoint): string | undefined {
  const { serverName, details } = error;
  const hasPrinted = textsIn(error, "stderrTail").length > 0;
  if (serverName === undefined || typeof details["logFile"] !== "string" || !hasPrinted)
    return undefined;
  return `full log: ${ownCommand("logs", serverName, [], program)}`;
}

function nextStep(
  error: McpError,
  { program, typedServer }: Pick<Standpoint, "program" | "typedServer">,
): string | undefined {
  const text = errorTexts[error.code].next?.(error) ?? error.hint;
  if (text === undefined) return undefined;
  const command = ownCommandsIn(text, program);
  if (typedServer === undefined) return command;
  // Whoever copies the command types the server again.
  return ["test", "tools", "login"].reduce(
    (line, name) =>
      line.replaceAll(
        ` ${name} ${shellWord(typedServer.name)}`,
        () => ` ${name} ${typedServer.words}`,
      ),
    command,
  );
}

function layOut(headline: string, facts: readonly Fact[], columns: number): readonly string[] {
  const line = [`✗ ${headline}`, ...facts.map(inlineText)].join(separator);
  const isLine = line.length <= columns && !line.includes("\n") && !facts.some(isEvidence);
  if (isLine) return [line];
  const [first = "", ...rest] = headline.split("\n");
  const rows = facts.flatMap(({ label, text }) =>
    text
      .split("\n")
      .map((part, index) => `${(index === 0 ? label : "").padEnd(labelWidth)}  ${part}`),
  );
  return [`✗ ${first}`, ...indent(rest.join("\n")), ...rows.map((row) => `  ${row}`)];
}

/** What was run and what it wrote is shown as it is, on lines of its own. */
function isEvidence({ label }: Fact): boolean {
  return ["stderr", "stdout", "command", "address"].includes(label);
}

function inlineText({ label, text, inline }: Fact): string {
  return inline ?? `${label}: ${text}`;
}

function indent(text: string): readonly string[] {
  return text === "" ? [] : text.split("\n").map((line) => `  ${line}`);
}
