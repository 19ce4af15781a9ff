import { problemError } from "../../config/keys/config-problem.ts";
import type { StartPhase } from "../../connection/start-phases.ts";
import { createError } from "../../errors/families.ts";
import { McpError } from "../../errors/mcp-error.ts";
import type { ConnectOptions, McpHost, ServerStatus } from "../../host/host.ts";
import type { SharedHost } from "../../host/shared-host.ts";
import { systemClock } from "../../ports/clock.ts";
import { ownCommand } from "../../text/own-command.ts";
import { neutralizeLine } from "../../text/untrusted/neutralize.ts";
import type { CommandContext } from "../context/command-context.ts";
import { claimOf } from "../context/workplace.ts";
import type { Standpoint } from "../output/display-path.ts";
import { pendingNote, stateWord } from "../output/server-status.ts";
import { ProgressBlock, ProgressLine } from "./progress-line.ts";

export interface ConnectReport {
  /** The status after the attempt. */
  readonly status: ServerStatus;
  /** The reason why it is not connected; undefined also for servers that were not tried. */
  readonly error: McpError | undefined;
  readonly durationMs: number;
}

export interface ConnectEachOptions {
  readonly connect: (status: ServerStatus) => ConnectOptions;
  /** Whether a server that may start is tried; all of them by default. */
  readonly isMeant?: (status: ServerStatus) => boolean;
  /** Gets a line for each server that is tried, which says how far its start has come. */
  readonly progress: ProgressBlock;
  /** What such a line says of a server that has been tried, by its padded name; without it the line goes away. */
  readonly ended?: (name: string, report: ConnectReport) => string;
}

/** Connects every server that may start, all at once: one promise each, in the order of the list. */
export function connectEach(
  host: SharedHost,
  { connect, isMeant = () => true, progress, ended }: ConnectEachOptions,
): readonly Promise<ConnectReport>[] {
  const servers = host.servers();
  const width = Math.max(0, ...servers.map(({ name }) => neutralizeLine(name).length));
  return servers.map(async (before) => {
    const { name, state } = before;
    if (state === "pending" || state === "disabled" || !isMeant(before))
      return { status: before, error: undefined, durationMs: 0 };
    const line = new ProgressLine(progress);
    const shownName = neutralizeLine(name).padEnd(width);
    const onPhase = (phase: StartPhase): void => line.phase(`${shownName}  ${phase}`);
    onPhase("starting");
    const since = systemClock.monotonic();
    let error: McpError | undefined;
    try {
      await host.connect(name, { ...connect(before), onPhase });
    } catch (thrown) {
      if (!McpError.is(thrown)) throw thrown;
      error = thrown;
    }
    const report = {
      status: host.server(name),
      error,
      durationMs: systemClock.monotonic() - since,
    };
    if (ended === undefined) line.stop();
    else line.end(ended(shownName, report));
    return report;
  });
}

/** The servers that a command can list something of, by name, and why others are missing. */
export interface ListedServers {
  readonly listed: readonly string[];
  readonly failures: readonly McpError[];
}

/**
 * Connects every server that may start, for a command that lists something of each. `describe` says what the line of
 * a server that is there tells while others are waited for.
 */
export async function connectForList(
  context: CommandContext,
  host: SharedHost,
  describe: (status: ServerStatus) => string,
): Promise<ListedServers> {
  const progress = new ProgressBlock(context, { plainLines: false });
  if (!context.terminal.canRedraw) context.notice("starting the servers …");
  const attempts = connectEach(host, {
    connect: ({ name }) => ({ ...claimOf(context.workplace, name), signal: context.signal }),
    // Where servers stay connected, each is connected by its own command.
    isMeant: ({ state }) => context.workplace === undefined || state === "connected",
    progress,
    // Errors are told in full behind all lines.
    ended: (name, { status, error }) =>
      error === undefined
        ? `✓ ${name}  ${describe(status)}`
        : `✗ ${name}  ${neutralizeLine(error.message)}`,
  });
  const reports = await Promise.all(attempts);
  progress.stop();
  context.throwIfInterrupted();
  const failures: McpError[] = [];
  const listed: string[] = [];
  for (const { status, error } of reports) {
    if (error !== undefined) failures.push(error);
    else if (status.state === "connected") listed.push(status.name);
    else if (status.state === "pending")
      context.notice(`⏸ ${status.name}: not approved, ${pendingNote(status, context.standpoint)}`);
    else if (status.state !== "disabled") context.notice(notConnected(status, context.standpoint));
  }
  const configuration = configFailure(host);
  if (configuration !== undefined) failures.push(configuration);
  return { listed, failures };
}

function notConnected({ name, state }: ServerStatus, { program }: Standpoint): string {
  const connect = ownCommand("connect", name, [], program);
  return `${stateWord(state)}: ${neutralizeLine(name)} → ${connect}`;
}

/** Asks each of these servers for a list of its own; one that fails is missing, and holds up no other. */
export async function listEach<List>(
  context: CommandContext,
  { listed, failures }: ListedServers,
  list: (serverName: string) => Promise<List>,
): Promise<{ readonly lists: readonly List[]; readonly failures: readonly McpError[] }> {
  const missing: McpError[] = [...failures];
  const lists = await Promise.all(
    listed.map(async (name): Promise<readonly List[]> => {
      try {
        return [await list(name)];
      } catch (error) {
        if (!McpError.is(error)) throw error;
        missing.push(error);
        return [];
      }
    }),
  );
  context.throwIfInterrupted();
  return { lists: lists.flat(), failures: missing };
}

/** Tells why servers are missing in a list; the exit code of a command that has told the others all the same. */
export function reportMissing(context: CommandContext, failures: readonly McpError[]): number {
  // A program finds all of them in the object; stderr has one, like that of every command.
  for (const error of context.options.json ? failures.slice(0, 1) : failures) context.report(error);
  return failures[0]?.exitCode ?? 0;
}

/**
 * The error of a command that answers for every server, when one is missing because of a mistake in its
 * entry or its file; undefined when all entries could be read.
 */
export function configFailure({
  configProblems,
}: Pick<McpHost, "configProblems">): McpError | undefined {
  const errors = configProblems.filter(({ severity }) => severity === "error");
  const [first] = errors;
  if (first === undefined) return undefined;
  // A store that cannot be used is no mistake in a file.
  return errors.every(({ code }) => code === "store_failed")
    ? createError("store_failed", first.message)
    : problemError(errors);
}
