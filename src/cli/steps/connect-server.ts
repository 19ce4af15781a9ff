import { problemError } from "../../config/keys/config-problem.ts";
import type { StartPhase } from "../../connection/start-phases.ts";
import { errorTable } from "../../errors/error-codes.ts";
import { createError } from "../../errors/families.ts";
import { McpError } from "../../errors/mcp-error.ts";
import type { ConnectOptions, ServerStatus } from "../../host/host.ts";
import type { SharedHost } from "../../host/shared-host.ts";
import { systemClock } from "../../ports/clock.ts";
import { neutralizeLine } from "../../text/untrusted/neutralize.ts";
import type { CommandContext } from "../context/command-context.ts";
import { claimOf } from "../context/workplace.ts";
import { formatConfigProblem } from "../output/error-format.ts";
import { offerApproval } from "./approve-launch.ts";
import type { ProgressLine } from "./progress-line.ts";

export interface ConnectResult {
  readonly status: ServerStatus;
  /** Start, handshake and listing; the time a person took to answer is not part of it. */
  readonly elapsedMs: number;
}

/** What is waited for in the phases after the first. */
const phaseTexts = {
  handshake: (name: string) => `handshake with ${name}`,
  listing: (name: string) => `listing the tools of ${name}`,
} as const satisfies Readonly<
  Record<Exclude<StartPhase, "starting">, (serverName: string) => string>
>;

export interface ConnectedServerOptions extends ConnectOptions {
  readonly name: string;
  readonly progress: ProgressLine;
}

/**
 * Connects one server that the user named, asking for its approval first where that is possible. Where it wants a
 * sign-in and somebody is there, that is offered, and then it is connected again.
 */
export async function connectServer(
  context: CommandContext,
  host: SharedHost,
  options: ConnectedServerOptions,
): Promise<ConnectResult> {
  try {
    return await connectOnce(context, host, options);
  } catch (error) {
    if (!McpError.is(error) || errorTable[error.code].family !== "auth") throw error;
    const { offerSignIn } = await import("./sign-in.ts");
    if (!(await offerSignIn(context, host, options.name, error))) throw error;
    return await connectOnce(context, host, options);
  }
}

async function connectOnce(
  context: CommandContext,
  host: SharedHost,
  { name, progress, ...options }: ConnectedServerOptions,
): Promise<ConnectResult> {
  await offerApproval(context, host, requireServer(context, host, name));
  const { state } = host.server(name);
  const willStart = state !== "pending" && state !== "disabled" && state !== "connected";
  const shown = neutralizeLine(name);
  if (willStart) progress.phase(`starting ${shown}`);
  const since = systemClock.monotonic();
  try {
    const onPhase = (phase: StartPhase): void => {
      if (phase !== "starting") progress.phase(phaseTexts[phase](shown));
    };
    const status = await host.connect(name, {
      ...claimOf(context.workplace, name),
      ...options,
      onPhase,
      signal: context.signal,
    });
    return { status, elapsedMs: systemClock.monotonic() - since };
  } catch (error) {
    // Nobody at a terminal calls themselves a caller.
    if (!context.signal.aborted || !McpError.is(error, "cancelled")) throw error;
    throw createError("cancelled", "cancelled while it was being started", {
      serverName: name,
      cause: error,
    });
  } finally {
    progress.stop();
  }
}

/** Throws what is wrong with its entry, or `server_unknown` with suggestions. */
export function requireServer(
  context: CommandContext,
  host: SharedHost,
  name: string,
): ServerStatus {
  if (!host.servers().some((server) => server.name === name)) {
    const own = host.configProblems.filter(({ serverName }) => serverName === name);
    if (own.some(({ severity }) => severity === "error")) {
      // A key that is not known often explains why another one is missing.
      for (const problem of own)
        if (problem.severity === "warning")
          context.notice(formatConfigProblem(problem, context.standpoint));
      throw problemError(own);
    }
    throw unknownServer(host, name);
  }
  return host.server(name);
}

/** `server_unknown`, with what is wrong with files that could not be read: the server may be in one of them. */
function unknownServer(host: SharedHost, name: string): unknown {
  const unread = host.configProblems.filter(
    ({ severity, serverName }) => severity === "error" && serverName === undefined,
  );
  try {
    return host.server(name);
  } catch (error) {
    if (unread.length === 0 || !McpError.is(error)) return error;
    const { code, message, details, hint } = error;
    return createError(code, message, { details: { ...details, problems: unread }, hint });
  }
}
