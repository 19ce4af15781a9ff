import type { McpHost, ServerStatus } from "../../../host/host.ts";
import { neutralizeLine } from "../../../text/untrusted/neutralize.ts";
import type { CommandContext, DefineCommand } from "../../context/command-context.ts";
import { formatElapsed, parseDuration } from "../../output/duration.ts";
import { quarantineNote, serverObject, toolsText } from "../../output/server-status.ts";
import { estimateTokens } from "../../output/tool-listing.ts";
import { openListing } from "../../steps/cli-session.ts";
import { connectServer } from "../../steps/connect-server.ts";
import { withTrialHost } from "../../steps/open-host.ts";
import { ProgressLine } from "../../steps/progress-line.ts";
import type { LaunchOptions } from "../../words/entry-words.ts";
import { addExamples } from "../../words/examples.ts";
import { addServerArgument, readServer, type TypedServer } from "../../words/server-words.ts";

interface TestCommand {
  readonly server: TypedServer;
  /** For start and handshake, in place of the entry's own limit. */
  readonly timeoutMs: number | undefined;
}

interface TestOptions extends LaunchOptions {
  readonly timeout?: number;
  readonly contract?: boolean;
}

export const define: DefineCommand = (command, execute) => {
  addExamples(command, [
    { says: "one that is configured", line: "plugboard test demo" },
    { says: "one that you write", line: "plugboard test --contract demo" },
    {
      says: "one that is not configured",
      line: "plugboard test https://example.com/mcp --timeout 10s",
    },
  ]);
  addServerArgument(command, true)
    .description("Starts one server, lists its tools, stops it, and says how long each step took.")
    .option(
      "--timeout <time>",
      "how long the start, and with --contract each answer, may take: 500ms, 60s, 2m",
      parseDuration,
    )
    .option("--contract", "try how it keeps to the protocol, rule by rule, and fail if it does not")
    .action((words: string[], options: TestOptions) =>
      execute(async (context) => {
        const server = readServer(words, options, context.line);
        const command = { server, timeoutMs: options.timeout };
        if (options.contract !== true) return await runTest(context, command);
        const { runContract } = await import("./test-contract.ts");
        return await runContract(context, command);
      }),
    );
};

/** `plugboard test`: starts one server, lists its tools, stops it, and says how long it took. */
async function runTest(context: CommandContext, command: TestCommand): Promise<number> {
  return await withTrialHost(context, command.server, async (host, name) => {
    const { timeoutMs } = command;
    const progress = new ProgressLine(context);
    const started = await connectServer(context, host, { name, progress, timeoutMs });
    const { status, elapsedMs: startMs } = started;
    await requireLife(host, status);
    writeStep(context, "started", identityOf(status), startMs);

    const tokens = await tokensOf(context, host, name);
    writeStep(context, "listed", `${toolsText(status)}, ~${tokens} tokens`);
    const held = quarantineNote(status, context.standpoint);
    if (held !== undefined) context.notice(`▲ ${held}`);

    progress.phase(`stopping ${name}`);
    const since = performance.now();
    await host.disconnect(name);
    const stopMs = performance.now() - since;
    progress.stop();
    const end = status.transport === "stdio" ? "no process left" : "connection closed";
    writeStep(context, "stopped", end, stopMs);

    if (context.options.json)
      context.terminal.json({
        ok: true,
        ...serverObject(status),
        tokens,
        startMs: Math.round(startMs),
        stopMs: Math.round(stopMs),
      });
    return 0;
  });
}

/** A server that has no tools was asked for nothing yet: it may have shaken hands and ended. */
async function requireLife(host: McpHost, { name, toolCount = 0 }: ServerStatus): Promise<void> {
  if (toolCount > 0) return;
  await host.checkConnections();
  const { state, lastError } = host.server(name);
  if (state !== "connected" && lastError !== undefined) throw lastError;
}

function identityOf({ transport, protocolVersion, serverInfo }: ServerStatus): string {
  const version = protocolVersion === undefined ? "" : `, MCP ${protocolVersion}`;
  const identity = serverInfo === undefined ? "" : `, ${serverInfo.name} ${serverInfo.version}`;
  return `${transport}${version}${identity}`;
}

async function tokensOf(context: CommandContext, host: McpHost, name: string): Promise<number> {
  const tools = (await openListing(context, host)).tools();
  return estimateTokens(tools.filter(({ serverName }) => serverName === name));
}

function writeStep(
  { options, terminal }: CommandContext,
  step: string,
  facts: string,
  elapsedMs?: number,
): void {
  if (options.json) return;
  const elapsed = elapsedMs === undefined ? "" : formatElapsed(elapsedMs);
  const row = `${step.padEnd(8)}  ${neutralizeLine(facts).padEnd(48)}  ${elapsed}`;
  terminal.line(`${terminal.paint("good", "✓")} ${row.trimEnd()}`);
}
