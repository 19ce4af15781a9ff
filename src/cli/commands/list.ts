import type { ConnectOptions, McpHost, ServerStatus } from "../../host/host.ts";
import type { CommandContext } from "../command-context.ts";
import { type ConnectReport, connectEach } from "../connect-each.ts";
import { noteConfigProblems, withHost } from "../open-host.ts";
import { serverObject, stateWord, statusNote, widestStateWord } from "../server-status.ts";
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
    const before = host.servers();
    if (!command.check) {
      writeServers(context, host, before);
      return 0;
    }
    return await check(context, host, before);
  });
}

function writeServers(
  context: CommandContext,
  host: McpHost,
  servers: readonly ServerStatus[],
): void {
  if (context.options.json) {
    context.terminal.json({
      servers: servers.map((status) => serverObject(status)),
      problems: host.configProblems,
    });
    return;
  }
  if (servers.length === 0) return writeEmpty(context);
  const rows = servers.map((status) => rowOf(context, status));
  const widths = columnWidths(columns, rows);
  writeHeader(context, widths);
  for (const row of rows) context.terminal.row(renderRow(columns, row, widths));
}

async function check(
  context: CommandContext,
  host: McpHost,
  before: readonly ServerStatus[],
): Promise<number> {
  const { json } = context.options;
  if (before.length === 0 && !json) writeEmpty(context);
  // Widths are settled before the first row is known.
  const widths = columnWidths(
    columns.map((column, index) =>
      index === 1 ? { ...column, minWidth: widestStateWord } : column,
    ),
    before.map((status) => rowOf(context, status)),
  );
  if (before.length > 0 && !json) writeHeader(context, widths);
  const limit = AbortSignal.any([context.signal, AbortSignal.timeout(checkLimitMs)]);
  const reports = await Promise.all(
    connectEach(host, (status) => connectOptions(status, limit)).map(async (attempt) => {
      const report = await attempt;
      if (!json) context.terminal.row(renderRow(columns, checkedRow(context, report), widths));
      return report;
    }),
  );
  if (json) writeServers(context, host, host.servers());
  return reports.find(({ error }) => error !== undefined)?.error?.exitCode ?? 0;
}

/** A server's own limit still counts when it is the shorter one. */
function connectOptions({ config }: ServerStatus, signal: AbortSignal): ConnectOptions {
  const own = config.connectTimeoutMs;
  const timeoutMs = own === undefined || own === 0 ? checkLimitMs : Math.min(own, checkLimitMs);
  return { signal, timeoutMs };
}

function checkedRow(context: CommandContext, { status, error }: ConnectReport): readonly string[] {
  const row = rowOf(context, status);
  // Given up by this command: the attempt itself has no verdict yet.
  if (error?.code !== "cancelled") return row;
  return row
    .with(1, stateWord("disconnected"))
    .with(columns.length - 1, `no answer within ${checkLimitMs / 1_000} s`);
}

function rowOf({ standpoint }: CommandContext, status: ServerStatus): readonly string[] {
  const { name, state, transport, toolCount, provenance } = status;
  return [
    name,
    stateWord(state),
    transport === "none" ? "–" : transport,
    toolCount === undefined ? "–" : String(toolCount),
    provenance.layer,
    statusNote(status, standpoint),
  ];
}

function writeHeader({ terminal }: CommandContext, widths: readonly number[]): void {
  const titles = columns.map(({ title }) => title);
  terminal.line(terminal.paint("dim", renderRow(columns, titles, widths)));
}

function writeEmpty(context: CommandContext): void {
  context.terminal.line("No servers are configured.");
  context.notice(
    'Write them to ~/.plugboard/mcp.json under "mcpServers", then: plugboard list --check',
  );
}
