import type { McpError } from "../../errors/mcp-error.ts";
import type { McpHost, ServerStatus } from "../../host/host.ts";
import type { McpTool } from "../../session/mcp-tool.ts";
import { neutralizeLine } from "../../text/untrusted/neutralize.ts";
import { pendingNote, quarantineNote } from "../output/server-status.ts";
import { estimateTokens, renderTools, toolObject } from "../output/tool-listing.ts";
import { openListing } from "../steps/cli-session.ts";
import type { CommandContext, DefineCommand } from "../steps/command-context.ts";
import { configFailure, connectEach } from "../steps/connect-each.ts";
import { connectServer } from "../steps/connect-server.ts";
import { withHost } from "../steps/open-host.ts";
import { ProgressLine } from "../steps/progress-line.ts";

interface ToolsCommand {
  /** All servers that may start, when none is named. */
  readonly server: string | undefined;
  readonly schema: boolean;
}

export const define: DefineCommand = (command, execute) => {
  command
    .description("Starts a server, or all of them, and lists the tools.")
    .argument("[server]", "only this server")
    .option("--schema", "whole descriptions and schemas")
    .action((server: string | undefined, { schema = false }: { schema?: boolean }) =>
      execute((context) => runTools(context, { server, schema })),
    );
};

/** `plugboard tools`: what can be called, as the servers describe it. */
async function runTools(context: CommandContext, command: ToolsCommand): Promise<number> {
  return await withHost(context, async (host) => {
    const progress = new ProgressLine(context);
    const { server } = command;
    if (server === undefined) return await listAll(context, host, { ...command, progress });
    await connectServer(context, host, { name: server, progress });
    writeTools(context, listingOf(host, [server]), command.schema);
    return 0;
  });
}

/** A server that fails is told on stderr and decides the exit code; the others are listed all the same. */
async function listAll(
  context: CommandContext,
  host: McpHost,
  { schema, progress }: ToolsCommand & { readonly progress: ProgressLine },
): Promise<number> {
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
  writeTools(context, listingOf(host, listed), schema);
  const configuration = configFailure(host);
  if (configuration !== undefined) failures.push(configuration);
  for (const error of failures) context.report(error);
  return failures[0]?.exitCode ?? 0;
}

interface ListedServer {
  readonly status: ServerStatus;
  /** What may be called; tools that are held back are only counted. */
  readonly tools: readonly McpTool[];
}

function listingOf(host: McpHost, names: readonly string[]): readonly ListedServer[] {
  // Where nothing was connected, each server has said why.
  const tools = names.length === 0 ? [] : openListing(host).tools();
  return names.map((name) => ({
    status: host.server(name),
    tools: tools.filter(({ serverName }) => serverName === name),
  }));
}

function writeTools(
  context: CommandContext,
  servers: readonly ListedServer[],
  withSchema: boolean,
): void {
  const { terminal, options } = context;
  if (options.json) terminal.json({ servers: servers.map((server) => serverListing(server)) });
  else
    for (const { status, tools } of servers)
      for (const line of renderTools(status.name, tools, withSchema)) terminal.line(line);
  for (const { status } of servers) {
    const note = quarantineNote(status, context.standpoint);
    if (note !== undefined) context.notice(`▲ ${neutralizeLine(status.name)}: ${note}`);
  }
}

function serverListing({ status, tools }: ListedServer): Readonly<Record<string, unknown>> {
  const { name, quarantined, suspect } = status;
  return {
    name,
    tokens: estimateTokens(tools),
    tools: tools.map((tool) => toolObject(tool)),
    ...(quarantined.length === 0 ? {} : { quarantined }),
    ...(suspect.length === 0 ? {} : { suspect }),
  };
}
