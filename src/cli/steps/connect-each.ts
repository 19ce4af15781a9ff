import { problemError } from "../../config/keys/config-problem.ts";
import type { StartPhase } from "../../connection/start-phases.ts";
import { createError } from "../../errors/families.ts";
import { McpError } from "../../errors/mcp-error.ts";
import type { ConnectOptions, McpHost, ServerStatus } from "../../host/host.ts";
import { neutralizeLine } from "../../text/untrusted/neutralize.ts";
import { type ProgressBlock, ProgressLine } from "./progress-line.ts";

export interface ConnectReport {
  /** The status after the attempt. */
  readonly status: ServerStatus;
  /** The reason why it is not connected; undefined also for servers that were not tried. */
  readonly error: McpError | undefined;
  readonly durationMs: number;
}

export interface ConnectEachOptions {
  readonly connect: (status: ServerStatus) => ConnectOptions;
  /** Gets a line for each server that is tried, which says how far its start has come. */
  readonly progress: ProgressBlock;
  /** What such a line says of a server that has been tried, by its padded name; without it the line goes away. */
  readonly ended?: (name: string, report: ConnectReport) => string;
}

/** Connects every server that may start, all at once: one promise each, in the order of the list. */
export function connectEach(
  host: McpHost,
  { connect, progress, ended }: ConnectEachOptions,
): readonly Promise<ConnectReport>[] {
  const servers = host.servers();
  const width = Math.max(0, ...servers.map(({ name }) => neutralizeLine(name).length));
  return servers.map(async (before) => {
    const { name, state } = before;
    if (state === "pending" || state === "disabled")
      return { status: before, error: undefined, durationMs: 0 };
    const line = new ProgressLine(progress);
    const shownName = neutralizeLine(name).padEnd(width);
    const onPhase = (phase: StartPhase): void => line.phase(`${shownName}  ${phase}`);
    onPhase("starting");
    const since = performance.now();
    let error: McpError | undefined;
    try {
      await host.connect(name, { ...connect(before), onPhase });
    } catch (thrown) {
      if (!McpError.is(thrown)) throw thrown;
      error = thrown;
    }
    const report = { status: host.server(name), error, durationMs: performance.now() - since };
    if (ended === undefined) line.stop();
    else line.end(ended(shownName, report));
    return report;
  });
}

/**
 * The error of a command that answers for every server, when one is missing because of a mistake in its
 * entry or its file; undefined when all entries could be read.
 */
export function configFailure({ configProblems }: McpHost): McpError | undefined {
  const errors = configProblems.filter(({ severity }) => severity === "error");
  const [first] = errors;
  if (first === undefined) return undefined;
  // A store that cannot be used is no mistake in a file.
  return errors.every(({ code }) => code === "store_failed")
    ? createError("store_failed", first.message)
    : problemError(errors);
}
