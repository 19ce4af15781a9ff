import { createError } from "../../../errors/families.ts";
import type { McpError } from "../../../errors/mcp-error.ts";
import type { ServerStatus } from "../../../host/host.ts";
import type { SharedHost } from "../../../host/shared-host.ts";
import type { McpTool } from "../../../session/mcp-tool.ts";
import { neutralizeLine } from "../../../text/untrusted/neutralize.ts";
import type { CommandContext, DefineCommand } from "../../context/command-context.ts";
import { errorObject } from "../../output/error-format.ts";
import { quarantineNote, toolsText } from "../../output/server-status.ts";
import { estimateTokens, renderTools, toolObject } from "../../output/tool-listing.ts";
import { openListing } from "../../steps/cli-session.ts";
import { connectForList, reportMissing } from "../../steps/connect-each.ts";
import { connectServer, requireServer } from "../../steps/connect-server.ts";
import { withHost, withServer } from "../../steps/open-host.ts";
import { ProgressLine } from "../../steps/progress-line.ts";
import type { LaunchOptions } from "../../words/entry-words.ts";
import { addExamples } from "../../words/examples.ts";
import { addServerArgument, readServer, type TypedServer } from "../../words/server-words.ts";

interface ToolsCommand {
  /** All servers that may start, when none is named. */
  readonly server: TypedServer | undefined;
  readonly schema: boolean;
  /** Shows the types that `types` writes. */
  readonly ts: boolean;
  /** Lists the tools as they were last seen, and starts nothing. */
  readonly remembered: boolean;
}

type ToolsOptions = LaunchOptions & Partial<Pick<ToolsCommand, "schema" | "ts" | "remembered">>;

export const define: DefineCommand = (command, execute) => {
  addExamples(command, [
    { says: "of every server", line: "plugboard tools" },
    { says: "of one, with descriptions and schemas", line: "plugboard tools demo --schema" },
    { says: "as TypeScript, to read", line: "plugboard tools demo --ts" },
    { says: "as they were last seen; starts nothing", line: "plugboard tools demo --remembered" },
    {
      says: "of one that is not configured",
      line: "plugboard tools -- npx -y @modelcontextprotocol/server-memory",
    },
  ]);
  addServerArgument(command, false)
    .description(
      "Starts a server, or all of them, and lists the tools; or lists those that were seen last.",
    )
    .option("--schema", "whole descriptions and schemas")
    .option("--ts", "as TypeScript, as plugboard types writes it")
    .option("--remembered", "the tools as they were last seen; starts nothing")
    .action((words: string[], options: ToolsOptions) =>
      execute((context) => {
        const server = words.length === 0 ? undefined : readServer(words, options, context.line);
        const { schema = false, ts = false, remembered = false } = options;
        return runTools(context, { server, schema, ts, remembered });
      }),
    );
};

/** `plugboard tools`: what can be called, as the servers describe it. */
async function runTools(context: CommandContext, command: ToolsCommand): Promise<number> {
  const { server, remembered } = command;
  if (remembered) return await listRemembered(context, command);
  if (server === undefined)
    return await withHost(context, (host) => listAll(context, host, command));
  return await withServer(context, server, async (host, name) => {
    const progress = new ProgressLine(context);
    await connectServer(context, host, { name, progress });
    writeTools(context, await listingOf(context, host, [name], command), command);
    return 0;
  });
}

async function listRemembered(context: CommandContext, command: ToolsCommand): Promise<number> {
  const { server } = command;
  if (server?.entry !== undefined)
    throw createError("invalid_arguments", "nothing is remembered of a server that is typed", {
      hint: "leave out --remembered",
    });
  return await withHost(context, async (host) => {
    const asked =
      server === undefined ? host.servers() : [requireServer(context, host, server.name)];
    const known = asked.filter(({ toolCount }) => toolCount !== undefined);
    if (server !== undefined && known.length === 0)
      throw createError("tool_unknown", `no tools of "${server.name}" are remembered`, {
        serverName: server.name,
      });
    const names = [...new Set(known.map(({ name }) => name))];
    writeTools(context, await listingOf(context, host, names, command), command);
    return 0;
  });
}

/** A server that fails is told on stderr and decides the exit code; the others are listed all the same. */
async function listAll(
  context: CommandContext,
  host: SharedHost,
  command: ToolsCommand,
): Promise<number> {
  const { listed, failures } = await connectForList(context, host, toolsText);
  writeTools(context, await listingOf(context, host, listed, command), command, failures);
  return reportMissing(context, failures);
}

interface ListedServer {
  readonly status: ServerStatus;
  /** What may be called; tools that are held back are only counted. */
  readonly tools: readonly McpTool[];
  /** A module of TypeScript, where one was asked for. */
  readonly types?: string;
}

async function listingOf(
  context: CommandContext,
  host: SharedHost,
  names: readonly string[],
  { ts }: ToolsCommand,
): Promise<readonly ListedServer[]> {
  // Where nothing was connected, each server has said why.
  const tools = names.length === 0 ? [] : (await openListing(context, host)).tools();
  const { signal } = context;
  return await Promise.all(
    names.map(async (name) => ({
      status: host.server(name),
      tools: tools.filter(({ serverName }) => serverName === name),
      ...(ts ? { types: await host.emitTypes(name, { signal }) } : {}),
    })),
  );
}

function writeTools(
  context: CommandContext,
  servers: readonly ListedServer[],
  { schema }: ToolsCommand,
  failures: readonly McpError[] = [],
): void {
  const { terminal, options, standpoint } = context;
  if (options.json)
    terminal.json({
      servers: servers.map((server) => serverListing(server)),
      failures: failures.map((error) => errorObject(error, standpoint).error),
    });
  else
    for (const { status, tools, types } of servers)
      if (types !== undefined) terminal.data(types);
      else for (const line of renderTools(status.name, tools, schema)) terminal.line(line);
  for (const { status } of servers) {
    const note = quarantineNote(status, context.standpoint);
    if (note !== undefined) context.notice(`▲ ${neutralizeLine(status.name)}: ${note}`);
  }
}

function serverListing({ status, tools, types }: ListedServer): Readonly<Record<string, unknown>> {
  const { name, quarantined, suspect } = status;
  return {
    name,
    tokens: estimateTokens(tools),
    tools: tools.map((tool) => toolObject(tool)),
    ...(types === undefined ? {} : { types }),
    ...(quarantined.length === 0 ? {} : { quarantined }),
    ...(suspect.length === 0 ? {} : { suspect }),
  };
}
