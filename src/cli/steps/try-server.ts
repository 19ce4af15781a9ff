import { McpError } from "../../errors/mcp-error.ts";
import type { ConnectOptions, McpHost } from "../../host/host.ts";
import { neutralizeLine } from "../../text/untrusted/neutralize.ts";
import type { CommandContext } from "../context/command-context.ts";
import { pendingNote, quarantineNote, statusNote, toolsText } from "../output/server-status.ts";
import { connectServer } from "./connect-server.ts";
import { ProgressLine } from "./progress-line.ts";

/** What came of trying a server. */
export interface Trial {
  readonly isTested: boolean;
  /** Why it does not work. */
  readonly failure?: unknown;
}

export const notTried: Trial = { isTested: false };

export interface TriedServer extends Pick<ConnectOptions, "timeoutMs"> {
  readonly name: string;
  /** What the line about a success ends with. */
  readonly next?: string;
  /** `sign-in`: a server that wants one first is no failure. */
  readonly waits?: "sign-in";
}

/**
 * Starts a server that a command has just changed and lists its tools, with one line about it. One that waits for
 * approval is not started, unless somebody at the terminal approves it.
 */
export async function tryServer(
  context: CommandContext,
  host: McpHost,
  { name, next = "", timeoutMs, waits }: TriedServer,
): Promise<Trial> {
  const { standpoint } = context;
  const wasConnected = host.server(name).state === "connected";
  try {
    const progress = new ProgressLine(context);
    const { status } = await connectServer(context, host, { name, progress, timeoutMs });
    const version = status.protocolVersion === undefined ? "" : `, MCP ${status.protocolVersion}`;
    context.answerLine(`test passed: ${toolsText(status)}${version}.${next}`);
    const held = quarantineNote(status, standpoint);
    if (held !== undefined) context.notice(`▲ ${held}`);
    // Where hosts stay open it was a try, and no wish to have it connected.
    if (context.workplace !== undefined && !wasConnected) await host.disconnect(name);
    return { isTested: true };
  } catch (failure) {
    const status = host.server(name);
    if (status.state === "pending")
      context.notice(`⏸ not tried: ${pendingNote(status, standpoint)}`);
    // Nothing is wrong with its entry: somebody has to sign in, and nobody was there or wanted to.
    else if (McpError.is(failure, "auth_required") && waits === "sign-in")
      context.notice(
        `◐ not tried: ${neutralizeLine(failure.message)} → ${statusNote(status, standpoint)}`,
      );
    else return { isTested: false, failure };
    return notTried;
  }
}
