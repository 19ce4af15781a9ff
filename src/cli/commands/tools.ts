import type { McpError } from "../../errors/mcp-error.ts";
import type { McpHost } from "../../host/host.ts";
import type { McpTool } from "../../session/session.ts";
import { openListing } from "../cli-session.ts";
import type { CommandContext } from "../command-context.ts";
import { connectEach } from "../connect-each.ts";
import { connectServer } from "../connect-server.ts";
import { noteConfigProblems, withHost } from "../open-host.ts";
import { ProgressLine } from "../progress-line.ts";
import { pendingNote } from "../server-status.ts";
import { estimateTokens, renderTools, toolObject } from "../tool-listing.ts";

export interface ToolsCommand {
  /** All servers that may start, when none is named. */
  readonly server: string | undefined;
  readonly schema: boolean;
}

/** `plugboard tools`: what can be called, as the servers describe it. */
export async function runTools(context: CommandContext, command: ToolsCommand): Promise<number> {
  return await withHost(context, async (host) => {
    const progress = new ProgressLine(context);
    const { server } = command;
    if (server === undefined) return await listAll(context, host, { ...command, progress });
    await connectServer(context, host, { name: server, progress });
    writeTools(context, toolsByServer(host, [server]), command.schema);
    return 0;
  });
}

/** A server that fails is told on stderr and decides the exit code; the others are listed all the same. */
async function listAll(
  context: CommandContext,
  host: McpHost,
  { schema, progress }: ToolsCommand & { readonly progress: ProgressLine },
): Promise<number> {
  noteConfigProblems(context, host, "error");
  progress.phase("starting the servers");
  const reports = await Promise.all(connectEach(host, () => ({ signal: context.signal })));
  progress.stop();
  context.throwIfInterrupted();
  const failures: McpError[] = [];
  const listed: string[] = [];
  for (const { status, error } of reports) {
    if (error !== undefined) failures.push(error);
    else if (status.state === "connected") listed.push(status.name);
    else if (status.state === "pending")
      context.notice(`⏸ ${status.name}: not approved, ${pendingNote(status, context.standpoint)}`);
  }
  writeTools(context, toolsByServer(host, listed), schema);
  for (const error of failures) context.report(error);
  return failures[0]?.exitCode ?? 0;
}

type ToolsByServer = ReadonlyMap<string, readonly McpTool[]>;

function toolsByServer(host: McpHost, names: readonly string[]): ToolsByServer {
  const tools = openListing(host).tools();
  return new Map(
    names.map((name) => [name, tools.filter(({ serverName }) => serverName === name)]),
  );
}

function writeTools(context: CommandContext, servers: ToolsByServer, withSchema: boolean): void {
  if (context.options.json) {
    context.terminal.json({
      servers: [...servers].map(([name, tools]) => ({
        name,
        tokens: estimateTokens(tools),
        tools: tools.map((tool) => toolObject(tool)),
      })),
    });
    return;
  }
  for (const [name, tools] of servers)
    for (const line of renderTools(name, tools, withSchema)) context.terminal.line(line);
}
