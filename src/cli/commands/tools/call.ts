import type { SuccessfulOutcome } from "../../../call/outcome.ts";
import type { ToolOrigin } from "../../../catalog/tool-origin.ts";
import { createError } from "../../../errors/families.ts";
import type { McpError } from "../../../errors/mcp-error.ts";
import type { SharedHost, SharedSession } from "../../../host/shared-host.ts";
import type { McpTool } from "../../../session/mcp-tool.ts";
import { truncate } from "../../../text/truncate.ts";
import type { CommandContext, DefineCommand } from "../../context/command-context.ts";
import { parseDuration } from "../../output/duration.ts";
import { outcomeFailure } from "../../output/outcome-error.ts";
import { openTypedCall } from "../../steps/cli-session.ts";
import { connectServer } from "../../steps/connect-server.ts";
import { withHost, withServer } from "../../steps/open-host.ts";
import { ProgressLine } from "../../steps/progress-line.ts";
import { argumentFacts, buildArguments, wrongArguments } from "../../words/call-arguments.ts";
import { readJsonObject, readCallWords } from "../../words/call-words.ts";
import { addLaunchOptions, type LaunchOptions } from "../../words/entry-words.ts";
import { addExamples } from "../../words/examples.ts";
import { readCall, type TypedServer } from "../../words/server-words.ts";
import { parseToolAddress } from "../../words/tool-address.ts";

interface CallCommand {
  /** The tool and its arguments, as typed. */
  readonly words: readonly string[];
  /** A server that is not configured; the tool is one of its tools. */
  readonly server: TypedServer | undefined;
  readonly args: string | undefined;
  readonly timeoutMs: number | undefined;
}

export const define: DefineCommand = (command, execute) => {
  addExamples(command, [
    { says: "with arguments as words", line: "plugboard call demo.add a=2 b=3" },
    {
      says: "with all arguments as JSON, from a pipe",
      line: `echo '{"a": 2, "b": 3}' | plugboard call demo.add --args -`,
    },
    {
      says: "of a server that is not configured",
      line: "plugboard call read_text_file path=notes.md -- npx -y @modelcontextprotocol/server-filesystem .",
    },
  ]);
  command
    .description(
      "Calls one tool and prints its result. Arguments:\n" +
        "  key=value    read as the tool's schema asks\n" +
        "  key:=json    JSON, as it stands\n" +
        "  key=@file    the text of a file (key:=@file: its JSON)\n" +
        "Of a server that is not configured: plugboard call <tool> key=value -- <command>, or\n" +
        "plugboard call <address> <tool> key=value.",
    )
    .argument("<server.tool>", "the tool, as plugboard tools lists it")
    .argument("[arguments...]", "key=value, key:=json or key=@file")
    .option("--args <json>", "all arguments as one JSON object; @file reads a file, - reads stdin")
    .option("--timeout <time>", "how long to wait for the answer: 500ms, 60s, 2m", parseDuration);
  addLaunchOptions(command).action(
    (first: string, others: string[], options: CallOptions & LaunchOptions) =>
      execute((context) => {
        const { args, timeout: timeoutMs } = options;
        const typed = readCall([first, ...others], options, context.line);
        return runCall(context, { ...typed, args, timeoutMs });
      }),
  );
};

interface CallOptions {
  readonly args?: string;
  readonly timeout?: number;
}

/** `plugboard call`: the result alone on stdout. A name that does not fit exactly runs nothing. */
async function runCall(context: CommandContext, command: CallCommand): Promise<number> {
  const { signal } = context;
  const [tool, ...words] = command.words;
  if (tool === undefined) throw noTool();
  const typed = await readCallWords(words, signal);
  const base =
    command.args === undefined ? {} : await readJsonObject(command.args, "--args", signal);
  const run = async (host: SharedHost, target: ToolOrigin): Promise<number> => {
    const progress = new ProgressLine(context);
    await connectServer(context, host, { name: target.server, progress });
    const found = await requireTool(await openTypedCall(context, host, target), target);
    const args = buildArguments(found.inputSchema, base, typed);
    return await callTool(context, found, { args, timeoutMs: command.timeoutMs, progress });
  };
  const { server } = command;
  if (server !== undefined)
    return await withServer(context, server, (host, name) => run(host, { server: name, tool }));
  return await withHost(context, (host) => {
    const names = host.servers().map(({ name }) => name);
    return run(host, parseToolAddress(tool, names));
  });
}

function noTool(): McpError {
  return createError("invalid_arguments", "which tool? Name it in front of its arguments", {
    hint: "plugboard call <tool> key=value -- <command>, or plugboard call <address> <tool>",
  });
}

/** By its exact name on the server; a near miss is suggested and never called. */
async function requireTool(session: SharedSession, target: ToolOrigin): Promise<McpTool> {
  const found = session.find(target);
  if (found !== undefined) return found;
  const { steps, suggestions = [] } = await session.why(target);
  const { server: serverName } = target;
  const toolName = truncate(target.tool, 128);
  // A tool that is there, and not for anybody to call, has its reason.
  const { code = "tool_unknown", reason, hint, rule } = steps.find(({ passes }) => !passes) ?? {};
  throw createError(code, reason ?? `${serverName} has no tool "${toolName}"`, {
    serverName,
    hint,
    details: { toolName, rule, suggestions },
  });
}

interface CallPlan {
  readonly args: Readonly<Record<string, unknown>>;
  readonly timeoutMs: number | undefined;
  readonly progress: ProgressLine;
}

async function callTool(context: CommandContext, tool: McpTool, plan: CallPlan): Promise<number> {
  const { args, progress, timeoutMs } = plan;
  progress.phase(`calling ${tool.serverName}.${tool.originalName}`);
  const outcome = await tool.execute(args, {
    signal: context.signal,
    timeoutMs,
    onProgress: (report) => progress.update(report),
  });
  progress.stop();
  if (outcome.ok) {
    writeResult(context, tool, outcome);
    return 0;
  }
  const error = outcomeFailure(outcome);
  if (error.code !== "invalid_arguments") return context.report(error);
  const { program } = context.standpoint;
  return context.report(
    error,
    argumentFacts(tool, args, { wrong: wrongArguments(error), program }),
  );
}

/** The object of `plugboard call --json`. */
interface ResultObject extends Pick<
  SuccessfulOutcome,
  "ok" | "text" | "content" | "durationMs" | "callId" | "truncated"
> {
  /** `structuredContent` of the result; null when there was none. */
  readonly structured: unknown;
  /** `_meta` of the result; null when there was none. */
  readonly meta: unknown;
  readonly server: string;
  readonly tool: string;
}

function writeResult(context: CommandContext, tool: McpTool, outcome: SuccessfulOutcome): void {
  const { text, content, structured = null, meta = null, callId, truncated } = outcome;
  if (truncated && !context.options.json)
    context.notice("⚠ the result was larger than the limit and has been cut");
  if (!context.options.json) {
    context.terminal.data(text);
    return;
  }
  const result: ResultObject = {
    ok: true,
    // The command line defines no native tools.
    server: tool.serverName ?? "",
    tool: tool.originalName,
    text,
    content,
    structured,
    meta,
    durationMs: Math.round(outcome.durationMs),
    callId,
    truncated,
  };
  context.terminal.json(result);
}
