import path from "node:path";

import { createError } from "../../errors/families.ts";
import type { ConnectOptions, McpHost, ServerStatus } from "../../host/host.ts";
import { systemClock } from "../../ports/clock.ts";
import { limitedSignal } from "../../ports/limited-signal.ts";
import type { CommandContext } from "../command-context.ts";
import { configFailure } from "../config-failure.ts";
import { type ConnectReport, connectEach } from "../connect-each.ts";
import { displayPath } from "../display-path.ts";
import { noteConfigProblems, withHost } from "../open-host.ts";
import {
  serverObject,
  statusNote,
  statusWord,
  toolCounts,
  widestStateWord,
} from "../server-status.ts";
import { type Column, columnWidths, renderRow } from "../table.ts";

export interface ListCommand {
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
  { title: "NOTE" },
];

/** `plugboard list`: what is configured, from state alone; `--check` connects what may start. */
export async function runList(context: CommandContext, command: ListCommand): Promise<number> {
  return await withHost(context, async (host) => {
    noteConfigProblems(context, host, "all");
    const servers = host.servers();
    if (servers.length === 0 && !context.options.json) {
      context.terminal.line("No servers are configured.");
      if (host.configProblems.length === 0) noteWhereToWrite(context);
      return endList(context, host, []);
    }
    if (command.check) return await check(context, host);
    writeServers(context, host, servers);
    return endList(context, host, servers);
  });
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
  host: McpHost,
  servers: readonly ServerStatus[],
): void {
  const { terminal, options } = context;
  if (options.json) {
    const objects = servers.map((status) => serverObject(status));
    terminal.json({ servers: objects, problems: host.configProblems });
    return;
  }
  const rows = servers.map((status) => rowOf(context, status));
  const widths = columnWidths(columns, rows);
  writeHeader(context, widths);
  for (const row of rows) terminal.row(renderRow(columns, row, widths));
}

/** Writes each server as soon as something is known about it. */
async function check(context: CommandContext, host: McpHost): Promise<number> {
  const { options, terminal, signal } = context;
  // The widths are settled before the first row is known.
  const widths = columnWidths(
    columns.map((column) =>
      column.title === "STATUS" ? { ...column, minWidth: widestStateWord } : column,
    ),
    host.servers().map((status) => rowOf(context, status)),
  );
  if (!options.json) writeHeader(context, widths);
  const limit = limitedSignal(signal, checkLimitMs, systemClock);
  const attempts = connectEach(host, (status) => connectOptions(status, limit.signal));
  const servers = await Promise.all(
    attempts.map(async (attempt) => {
      const status = withinLimit(await attempt);
      if (!options.json && !signal.aborted)
        terminal.row(renderRow(columns, rowOf(context, status), widths));
      return status;
    }),
  );
  limit.clear();
  context.throwIfInterrupted();
  if (options.json) writeServers(context, host, servers);
  return endList(context, host, servers);
}

/** What is wrong with the configuration has been told with the other notices, unless those are off. */
function endList(context: CommandContext, host: McpHost, servers: readonly ServerStatus[]): number {
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

function rowOf({ standpoint }: CommandContext, status: ServerStatus): readonly string[] {
  const { name, transport, provenance } = status;
  return [
    name,
    statusWord(status),
    transport === "none" ? "–" : transport,
    toolCounts(status) ?? "–",
    provenance.layer,
    statusNote(status, standpoint),
  ];
}

function writeHeader({ terminal }: CommandContext, widths: readonly number[]): void {
  const titles = columns.map(({ title }) => title);
  terminal.line(terminal.paint("dim", renderRow(columns, titles, widths)));
}
