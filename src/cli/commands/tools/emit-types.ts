import path from "node:path";

import type { CommandContext, DefineCommand } from "../../context/command-context.ts";
import { displayPath } from "../../output/display-path.ts";
import { countTools } from "../../output/tool-listing.ts";
import { connectServer } from "../../steps/connect-server.ts";
import { withServer } from "../../steps/open-host.ts";
import { ProgressLine } from "../../steps/progress-line.ts";
import { writeOutputFile } from "../../terminal/write-output-file.ts";
import type { LaunchOptions } from "../../words/entry-words.ts";
import { addExamples } from "../../words/examples.ts";
import { addServerArgument, readServer, type TypedServer } from "../../words/server-words.ts";

interface TypesCommand {
  readonly server: TypedServer;
  /** Standard output when there is none, and for `-`. */
  readonly output: string | undefined;
}

export const define: DefineCommand = (command, execute) => {
  addExamples(command, [
    { says: "into a file", line: "plugboard types demo -o demo.ts" },
    { says: "of a server that is not configured", line: "plugboard types https://example.com/mcp" },
  ]);
  addServerArgument(command, true)
    .description(
      "Starts one server and writes a TypeScript module with the types of its tools and a typed\n" +
        "client for them.",
    )
    .option("-o, --output <file>", "write to this file, not to standard output")
    .action((words: string[], options: LaunchOptions & { output?: string }) =>
      execute((context) => {
        const server = readServer(words, options, context.line);
        return runTypes(context, { server, output: options.output });
      }),
    );
};

/** `plugboard types`: a module of TypeScript with the types of one server's tools. */
async function runTypes(context: CommandContext, command: TypesCommand): Promise<number> {
  return await withServer(context, command.server, async (host, server) => {
    const { output } = command;
    const { terminal, options, standpoint } = context;
    const progress = new ProgressLine(context);
    const { status } = await connectServer(context, host, { name: server, progress });
    const source = await host.emitTypes(server, { signal: context.signal });
    // What is set aside is not in it.
    const tools = (status.toolCount ?? 0) - status.quarantined.length;
    const isPrinted = output === undefined || output === "-";
    const file = isPrinted ? undefined : path.resolve(standpoint.cwd, output);
    if (file !== undefined) await writeOutputFile(file, source);
    if (options.json)
      terminal.json({ server, tools, ...(file === undefined ? { source } : { file }) });
    else if (file === undefined) terminal.data(source);
    else context.notice(`✓ ${displayPath(file, standpoint)}: ${countTools(tools)} of ${server}`);
    return 0;
  });
}
