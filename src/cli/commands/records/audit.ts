import path from "node:path";

import { createError } from "../../../errors/families.ts";
import { auditTypes } from "../../../events/audit-types.ts";
import type { McpHost } from "../../../host/host.ts";
import type { AuditFilter, AuditRow } from "../../../store/audit/audit-entry.ts";
import { closest } from "../../../text/closest.ts";
import { neutralizeLine } from "../../../text/untrusted/neutralize.ts";
import type { CommandContext, DefineCommand } from "../../context/command-context.ts";
import { auditCells, auditColumns, auditCsv, csvHeader } from "../../output/audit-rows.ts";
import { displayPath } from "../../output/display-path.ts";
import { parseMoment } from "../../output/duration.ts";
import { requireStore, withWholeHost } from "../../steps/open-host.ts";
import { endOfOutput, followExitCode, untilRead } from "../../steps/stream-output.ts";
import { columnWidths, writeRow, writeTitles } from "../../terminal/table.ts";
import { writeOutputFile } from "../../terminal/write-output-file.ts";
import { addExamples } from "../../words/examples.ts";
import { choiceOption, parseCount } from "../../words/option-values.ts";

interface AuditOptions {
  readonly server?: string;
  readonly tool?: string;
  readonly agent?: string;
  readonly type?: string;
  /** `ok`, `failed`, or the code of an error. */
  readonly outcome?: string;
  readonly since?: number;
  readonly until?: number;
  readonly lines?: number;
  readonly follow?: boolean;
  /** A file, or `-` for standard output. */
  readonly export?: string;
  readonly csv?: boolean;
}

const defaultLines = 50;
/** As many as the trail gives at once; all of it is for `--export`. */
const maxLines = 1_000;
/** Lines are written in pieces of this size. */
const pieceChars = 64 * 1_024;
/** Who called what is nobody else's business. */
const exportMode = 0o600;

export const define: DefineCommand = (command, execute) => {
  addExamples(command, [
    {
      says: "what went wrong since yesterday",
      line: "plugboard audit --outcome failed --since 1d",
    },
    {
      says: "what one agent did with one server",
      line: "plugboard audit --agent main --server demo",
    },
    { says: "all of it as JSON lines", line: "plugboard audit --export audit.ndjson" },
    {
      says: "calls as they happen, until Ctrl-C",
      line: "plugboard audit --type call -f",
      stays: true,
      exitCode: 130,
    },
  ]);
  command
    .description(
      "Shows the audit trail: every call and every decision, who made it, how it ended and which rule\n" +
        "refused it or let it pass. Arguments and results are not in it. Starts nothing.",
    )
    .option("--server <name>", "only of this server")
    .option("--tool <name>", "only of this tool, by its own name")
    .option("--agent <name>", "only of this agent")
    .addOption(choiceOption("--type <type>", "only entries of this type", auditTypes))
    .option("--outcome <outcome>", "only ok, failed, or one code such as denied")
    .option("--since <time>", "only what is newer: 10m, 2h, 3d, 2026-11-16T09:30", (text) =>
      parseMoment(text),
    )
    .option("--until <time>", "only what is older", (text) => parseMoment(text))
    .option(
      "-n, --lines <count>",
      `the last so many entries; ${defaultLines} by default, ${maxLines} at most`,
      (text) => parseCount(text, { max: maxLines }),
    )
    .option("-f, --follow", "go on with what comes, until Ctrl-C")
    .option("--export <file>", "write everything that fits as JSON lines; - for standard output")
    .option("--csv", "with --export: comma-separated values, for spreadsheets")
    .action((options: AuditOptions) => execute((context) => runAudit(context, options)));
};

/** `plugboard audit`: the audit trail, newest at the end. Starts nothing. */
async function runAudit(context: CommandContext, options: AuditOptions): Promise<number> {
  refuseCombinations(options);
  return await withWholeHost(context, async (host) => {
    requireStore(context, host);
    const filter = filterOf(options);
    if (options.export !== undefined)
      return await exportTrail(context, host, {
        filter,
        file: options.export,
        isCsv: options.csv === true,
      });
    const limit = options.lines ?? defaultLines;
    const newestFirst = limit === 0 ? [] : await host.audit.query({ ...filter, limit });
    const rows = newestFirst.toReversed();
    if (options.follow === true) return await followTrail(context, host, { filter, rows });
    if (context.options.json === true) context.terminal.json({ entries: rows });
    else if (rows.length > 0) createTable(context, rows)(rows);
    else if (limit > 0) noteNothing(context, host, filter);
    return 0;
  });
}

function refuseCombinations(options: AuditOptions): void {
  const { csv, follow, lines, since, until } = options;
  const isExport = options.export !== undefined;
  const problem =
    csv === true && !isExport
      ? "--csv goes with --export"
      : isExport && follow === true
        ? "--export and --follow exclude each other"
        : isExport && lines !== undefined
          ? "--export writes everything that fits: leave --lines out"
          : since !== undefined && until !== undefined && since > until
            ? "--since is later than --until"
            : undefined;
  if (problem !== undefined) throw createError("invalid_arguments", problem);
}

function filterOf(options: AuditOptions): AuditFilter {
  const { server, tool, agent, type, outcome, since, until } = options;
  const isWhole = outcome === "ok" || outcome === "failed";
  return {
    server,
    tool,
    agent,
    type,
    since,
    until,
    ...(isWhole ? { outcome } : { code: outcome }),
  };
}

/** Writes rows of one table; the columns fit the first ones. */
function createTable(
  { terminal }: CommandContext,
  first: readonly AuditRow[],
): (rows: readonly AuditRow[]) => void {
  const widths = columnWidths(auditColumns, first.map(auditCells));
  writeTitles(terminal, auditColumns, widths);
  return (rows) => {
    for (const row of rows) writeRow(terminal, auditColumns, auditCells(row), widths);
  };
}

async function followTrail(
  context: CommandContext,
  host: McpHost,
  { filter, rows }: { readonly filter: AuditFilter; readonly rows: readonly AuditRow[] },
): Promise<number> {
  const { terminal, options } = context;
  const end = endOfOutput(context);
  const write =
    options.json === true
      ? (added: readonly AuditRow[]) => added.forEach((row) => terminal.json(row))
      : createTable(context, rows);
  write(rows);
  await untilRead(context, end);
  const after = rows.at(-1)?.seq;
  for await (const row of host.audit.follow({ ...filter, after, signal: end })) {
    write([row]);
    await untilRead(context, end);
    if (end.aborted) break;
  }
  return followExitCode(context);
}

async function exportTrail(
  context: CommandContext,
  host: McpHost,
  command: { readonly filter: AuditFilter; readonly file: string; readonly isCsv: boolean },
): Promise<number> {
  const { terminal, standpoint, options } = context;
  const { filter, isCsv } = command;
  let entries = 0;
  async function* lines(): AsyncGenerator<string, void, undefined> {
    if (isCsv) yield csvHeader;
    for await (const line of host.audit.export(filter)) {
      context.throwIfInterrupted();
      entries += 1;
      yield isCsv ? auditCsv(JSON.parse(line) as AuditRow) : line;
    }
  }
  if (command.file === "-") {
    const end = endOfOutput(context);
    for await (const piece of inPieces(lines())) {
      terminal.data(piece);
      await untilRead(context, end);
      context.throwIfInterrupted();
      if (end.aborted) break;
    }
    return 0;
  }
  const file = path.resolve(standpoint.cwd, command.file);
  await writeOutputFile(file, inPieces(lines()), exportMode);
  if (options.json === true) terminal.json({ file, entries });
  else
    context.notice(
      `✓ ${displayPath(file, standpoint)}: ${entries} ${entries === 1 ? "entry" : "entries"}`,
    );
  return 0;
}

/** The same text in fewer pieces. */
async function* inPieces(lines: AsyncIterable<string>): AsyncGenerator<string, void, undefined> {
  let piece = "";
  for await (const line of lines) {
    piece += line;
    if (piece.length < pieceChars) continue;
    yield piece;
    piece = "";
  }
  if (piece !== "") yield piece;
}

/** A name that was mistyped has no entries either; one that is no longer configured may have some. */
function noteNothing(context: CommandContext, host: McpHost, { server }: AuditFilter): void {
  const names = host.servers().map(({ name }) => name);
  const isKnown = server === undefined || names.includes(server);
  const meant = isKnown ? [] : closest(server, names);
  const doubt = isKnown ? "" : ` No server "${neutralizeLine(server)}" is configured.`;
  const suggestion =
    meant.length === 0 ? "" : ` Did you mean: ${neutralizeLine(meant.join(", "))}?`;
  context.notice(`Nothing is on record that fits.${doubt}${suggestion}`);
}
