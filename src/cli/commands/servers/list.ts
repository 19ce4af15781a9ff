import path from "node:path";

import { Stop } from "../../../async/stop.ts";
import { createError } from "../../../errors/families.ts";
import type { OtherHostFile } from "../../../host/files/other-host-files.ts";
import type { ConnectOptions, ServerStatus } from "../../../host/host.ts";
import type { SharedHost } from "../../../host/shared-host.ts";
import { systemClock } from "../../../ports/clock.ts";
import type { CommandContext, DefineCommand } from "../../context/command-context.ts";
import { claimOf, holdingNote } from "../../context/workplace.ts";
import { displayPath, type Standpoint } from "../../output/display-path.ts";
import {
  serverObject,
  statusNote,
  statusWord,
  toolCounts,
  widestStateWord,
} from "../../output/server-status.ts";
import { configFailure, connectEach, type ConnectReport } from "../../steps/connect-each.ts";
import { noteConfigProblems, withHost } from "../../steps/open-host.ts";
import { ProgressBlock } from "../../steps/progress-line.ts";
import { type Column, columnWidths, writeRow, writeTitles } from "../../terminal/table.ts";
import { addExamples } from "../../words/examples.ts";

interface ListCommand {
  readonly check: boolean;
}

/** For all servers together: the slowest never holds up the answer for longer. */
const checkLimitMs = 15_000;

const columns: readonly Column[] = [
  { title: "NAME" },
  { title: "STATUS" },
  { title: "TRANSPORT" },
  { title: "TOOLS", align: "right" },
  { title: "SCOPE" },
  { title: "NOTE", isBelow: true },
];

export const define: DefineCommand = (command, execute) => {
  addExamples(command, [
    { says: "what is configured, from what is known", line: "plugboard list" },
    { says: "and whether it works", line: "plugboard list --check" },
  ]);
  command
    .description("Lists the configured servers. Starts nothing, unless --check is given.")
    .option("--check", "connect all that may start (15 s at most) and fail if one cannot be")
    .action(({ check = false }: { check?: boolean }) =>
      execute((context) => runList(context, { check })),
    );
};

/** `plugboard list`: what is configured, from state alone; `--check` connects what may start. */
async function runList(context: CommandContext, command: ListCommand): Promise<number> {
  return await withHost(context, async (host) => {
    noteConfigProblems(context, host, "all");
    const found = { host, otherFiles: await findOtherFiles(context) };
    const servers = command.check ? host.servers() : await host.serversAsLastSeen();
    if (servers.length === 0 && !context.options.json) {
      context.terminal.line("No servers are configured.");
      if (host.configProblems.length === 0) noteWhereToWrite(context);
    } else if (command.check) return await check(context, found);
    else writeServers(context, found, servers);
    noteOtherFiles(context, found.otherFiles, servers);
    // A failure that is known is listed; only --check finds out whether it is one now.
    return endList(context, host, []);
  });
}

/** What a list is about. */
interface Configured {
  readonly host: SharedHost;
  /** Files of other programs that are there and were not read. */
  readonly otherFiles: readonly OtherHostFile[];
}

/** Whoever names files wants those and no others. */
async function findOtherFiles({
  options,
  standpoint,
}: CommandContext): Promise<readonly OtherHostFile[]> {
  const { cwd, home } = standpoint;
  if (options.config !== undefined || home === undefined) return [];
  const { findOtherHostFiles } = await import("../../../host/files/other-host-files.ts");
  return findOtherHostFiles({ workspaceFolder: cwd, home });
}

/** Whoever has imported servers of a file knows that it is there. */
function noteOtherFiles(
  context: CommandContext,
  files: readonly OtherHostFile[],
  servers: readonly ServerStatus[],
): void {
  const { standpoint } = context;
  const imported = new Set(servers.flatMap(({ config }) => importedFiles(config, standpoint)));
  const others = files.filter((file) => !imported.has(file.path));
  if (others.length === 0) return;
  const shown = others.map((file) => `${displayPath(file.path, standpoint)} (${file.program})`);
  context.notice(`Not read: ${shown.join(", ")}. Import them: ${standpoint.program} import`);
}

/** The file that an entry was imported from is written as it was seen then, from the home folder or a project's. */
function importedFiles(
  { importedFrom }: ServerStatus["config"],
  { cwd, home = cwd }: Standpoint,
): readonly string[] {
  if (importedFrom === undefined) return [];
  const file = importedFrom.replace(/:\d+$/, "").replace(/^~[/\\]/, "");
  return [path.resolve(home, file), path.resolve(cwd, file)];
}

/** Where nothing is configured there is the demo server: whoever sees no server at all has named a file. */
function noteWhereToWrite(context: CommandContext): void {
  const { options, standpoint } = context;
  const file = options.config?.at(-1);
  if (file === undefined) return;
  const shown = displayPath(path.resolve(standpoint.cwd, file), standpoint);
  const check = `${standpoint.program} list --check`;
  context.notice(`Write them to ${shown} under "mcpServers", then: ${check}`);
}

function writeServers(
  context: CommandContext,
  { host, otherFiles }: Configured,
  servers: readonly ServerStatus[],
): void {
  const { terminal, options } = context;
  if (options.json) {
    const objects = servers.map((status) => serverObject(status));
    terminal.json({ servers: objects, problems: host.configProblems, otherFiles });
    return;
  }
  const now = Date.now();
  const rows = servers.map((status) => rowOf(context, status, now));
  const widths = columnWidths(columns, rows);
  writeTitles(terminal, columns, widths);
  for (const row of rows) writeRow(terminal, columns, row, widths);
}

/** Writes each server as soon as something is known about it. */
async function check(context: CommandContext, found: Configured): Promise<number> {
  const { host } = found;
  const { options, terminal, signal } = context;
  // The widths are settled before the first row is known.
  const widths = columnWidths(
    columns.map((column) =>
      column.title === "STATUS" ? { ...column, minWidth: widestStateWord } : column,
    ),
    host.servers().map((status) => rowOf(context, status)),
  );
  if (!options.json) writeTitles(terminal, columns, widths);
  const limit = new Stop({ signals: [signal], clock: systemClock, afterMs: checkLimitMs });
  const attempts = connectEach(host, {
    connect: (status) => ({
      ...claimOf(context.workplace, status.name),
      ...connectOptions(status, limit.signal),
    }),
    // The rows say it all where nothing can be redrawn.
    progress: new ProgressBlock(context, { plainLines: false }),
  });
  const servers = await Promise.all(
    attempts.map(async (attempt) => {
      const status = withinLimit(await attempt);
      if (!options.json && !signal.aborted)
        writeRow(terminal, columns, rowOf(context, status), widths);
      return status;
    }),
  );
  limit.clear();
  context.throwIfInterrupted();
  if (options.json) writeServers(context, found, servers);
  noteOtherFiles(context, found.otherFiles, servers);
  return endList(context, host, servers);
}

/** What is wrong with the configuration has been told with the other notices, unless those are off. */
function endList(
  context: CommandContext,
  host: SharedHost,
  servers: readonly ServerStatus[],
): number {
  const failure = configFailure(host);
  if (failure !== undefined && context.options.quiet && !context.options.json)
    context.report(failure);
  const { lastError = failure } = servers.find((server) => server.lastError !== undefined) ?? {};
  return lastError?.exitCode ?? 0;
}

/** A server's own limit still counts when it is the shorter one. */
function connectOptions({ config }: ServerStatus, signal: AbortSignal): ConnectOptions {
  const own = config.connectTimeoutMs;
  const timeoutMs = own === undefined || own === 0 ? checkLimitMs : Math.min(own, checkLimitMs);
  return { signal, timeoutMs };
}

/** What was given up here has no verdict of its own: it did not answer in time. */
function withinLimit({ status, error }: ConnectReport): ServerStatus {
  if (error?.code !== "cancelled") return status;
  const lastError = createError("start_timeout", `no answer within ${checkLimitMs / 1_000} s`, {
    serverName: status.name,
    details: { timeoutMs: checkLimitMs },
  });
  return { ...status, state: "disconnected", lastError };
}

/** With `now`, a failure is told with its age. */
function rowOf(
  { standpoint, workplace }: CommandContext,
  status: ServerStatus,
  now?: number,
): readonly string[] {
  const { name, transport, provenance } = status;
  const holding = workplace?.holdingOf(name);
  const notes = [
    ...(holding === undefined ? [] : [holdingNote(holding)]),
    statusNote(status, standpoint, now),
  ];
  return [
    name,
    statusWord(status),
    transport === "none" ? "–" : transport,
    toolCounts(status) ?? "–",
    scopeWord(provenance),
    notes.filter((note) => note !== "").join(", "),
  ];
}

/** What `add` keeps for every project has no file to name, and is the user's like what their file holds. */
function scopeWord({ layer }: ServerStatus["provenance"]): string {
  return layer === "store" ? "user" : layer;
}
