import { createError } from "../../../errors/families.ts";
import type { McpHost } from "../../../host/host.ts";
import type { LogEntry } from "../../../host/logs/log-entry.ts";
import { closest } from "../../../text/closest.ts";
import { ownCommand } from "../../../text/own-command.ts";
import { neutralizeLine } from "../../../text/untrusted/neutralize.ts";
import type { CommandContext, DefineCommand } from "../../context/command-context.ts";
import { formatMoment, parseMoment } from "../../output/duration.ts";
import { requireServer } from "../../steps/connect-server.ts";
import { withWholeHost } from "../../steps/open-host.ts";
import { endOfOutput, followExitCode, untilRead } from "../../steps/stream-output.ts";
import type { Terminal } from "../../terminal/terminal.ts";
import { addExamples } from "../../words/examples.ts";
import { parseCount } from "../../words/option-values.ts";

interface LogsCommand {
  readonly server: string;
  readonly follow: boolean;
  /** Infinity for all. */
  readonly lines: number | undefined;
  readonly since: number | undefined;
}

const defaultLines = 100;

export const define: DefineCommand = (command, execute) => {
  addExamples(command, [
    { says: "why did it fail yesterday?", line: "plugboard logs demo --since 2d" },
    {
      says: "everything as it happens, until Ctrl-C",
      line: "plugboard logs demo -f",
      stays: true,
      exitCode: 130,
    },
    { says: "all that is kept, for a program", line: "plugboard logs demo -n all --json" },
  ]);
  command
    .description(
      "Shows what a server printed on stderr, the log messages it sent, and how it started, failed and\n" +
        "ended; also of a server that ended long ago or is no longer configured. Secrets are masked.\n" +
        "Starts nothing.",
    )
    .argument("<server>", "its name in plugboard list")
    .option("-f, --follow", "go on with what comes, until Ctrl-C")
    .option(
      "-n, --lines <count>",
      `the last so many lines, or all; ${defaultLines} by default, with --since all`,
      (text) => parseCount(text, { orAll: true }),
    )
    .option("--since <time>", "only what is newer: 10m, 2h, 3d, 2026-11-16T09:30", (text) =>
      parseMoment(text),
    )
    .action((server: string, { follow = false, lines, since }: Partial<LogsCommand>) =>
      execute((context) => runLogs(context, { server, follow, lines, since })),
    );
};

/** `plugboard logs`: what is kept of one server's output. Starts nothing. */
async function runLogs(context: CommandContext, command: LogsCommand): Promise<number> {
  const { server, follow, since } = command;
  const limit = command.lines ?? (since === undefined ? defaultLines : Number.POSITIVE_INFINITY);
  return await withWholeHost(context, async (host) => {
    const [newest] = await host.keptLogs.read(server, { limit: 1 });
    if (newest === undefined) await requireKnown(context, host, server);
    if (follow) return await followLogs(context, host, { server, since, limit });
    const entries = await host.keptLogs.read(server, { since, limit: limit + 1 });
    const shown = entries.length > limit ? entries.slice(1) : entries;
    if (context.options.json === true) context.terminal.json({ server, entries: shown });
    else for (const entry of shown) writeEntry(context.terminal, entry);
    noteGaps(context, { server, newest, shown, isCut: shown !== entries && limit > 0 });
    return 0;
  });
}

async function followLogs(
  context: CommandContext,
  host: McpHost,
  {
    server,
    ...query
  }: { readonly server: string; readonly since: number | undefined; readonly limit: number },
): Promise<number> {
  const { terminal, options } = context;
  const end = endOfOutput(context);
  for await (const entry of host.keptLogs.follow(server, { ...query, signal: end })) {
    if (options.json === true) terminal.json(entry);
    else writeEntry(terminal, entry);
    await untilRead(context, end);
    if (end.aborted) break;
  }
  return followExitCode(context);
}

function writeEntry(terminal: Terminal, { at, source, level, text }: LogEntry): void {
  const label = (source === "message" ? (level ?? source) : source).padEnd(7);
  const shown = source === "host" && level === "error" ? terminal.paint("bad", text) : text;
  terminal.line(`${terminal.paint("dim", `${formatMoment(at)}  ${label}`)}  ${shown}`);
}

/** Says on stderr why nothing is shown, or that there is more. */
function noteGaps(
  context: CommandContext,
  found: {
    readonly server: string;
    readonly newest: LogEntry | undefined;
    readonly shown: readonly LogEntry[];
    readonly isCut: boolean;
  },
): void {
  const { server, newest, shown, isCut } = found;
  const { program } = context.standpoint;
  const name = neutralizeLine(server);
  if (newest === undefined)
    context.notice(
      `Nothing is kept of ${name} yet: that begins with its next start → ${ownCommand("test", server, [], program)}`,
    );
  else if (shown.length === 0)
    context.notice(
      `Nothing that new is kept of ${name}; the last line is of ${formatMoment(newest.at)}.`,
    );
  else if (isCut)
    context.notice(`Older lines: ${ownCommand("logs", server, ["-n", "all"], program)}`);
}

/** Throws for a server that is not configured, with the names that have a log, too. */
async function requireKnown(context: CommandContext, host: McpHost, name: string): Promise<void> {
  const logged = await host.keptLogs.names();
  const configured = host.servers().map((server) => server.name);
  const isWrong = host.configProblems.some(({ serverName }) => serverName === name);
  const known = [...new Set([...configured, ...logged])];
  if (configured.includes(name) || isWrong || known.length === configured.length) {
    requireServer(context, host, name);
    return;
  }
  throw createError("server_unknown", `no server "${name}", and no log of one`, {
    details: { suggestions: closest(name, known), configured },
  });
}
