import type { CommandContext, DefineCommand } from "../../context/command-context.ts";
import { untilStopped } from "../../steps/until-stopped.ts";
import { addExamples } from "../../words/examples.ts";
import { choiceArgument, parsePort } from "../../words/option-values.ts";

const kinds = ["stdio", "http", "sse", "rest"] as const;

interface TestServerCommand {
  readonly kind: (typeof kinds)[number];
  readonly port: number;
}

const defaultPort = 9_000;

export const define: DefineCommand = (command, execute) => {
  addExamples(command, [
    {
      says: "at an address, with any free port",
      line: "plugboard test-server http --port 0",
      stays: true,
    },
    {
      says: "as a server to try things with",
      line: "plugboard add try -- plugboard test-server stdio",
    },
  ]);
  command
    .description("Runs the bundled test server: echo, get_time and add.")
    .addArgument(choiceArgument("<kind>", "how it is reached", kinds))
    .option("--port <number>", "port of all but stdio, 0 for any", parsePort, defaultPort)
    .action((kind: TestServerCommand["kind"], { port }: { port: number }) =>
      execute((context) => runTestServer(context, { kind, port })),
    );
};

/**
 * `plugboard test-server`: the bundled server with echo, get_time and add. Over stdio it ends with its
 * input, as every server does; at an address it stays until it is told to stop.
 */
async function runTestServer(
  context: CommandContext,
  { kind, port }: TestServerCommand,
): Promise<number> {
  const { createTestServer, serveHttp, serveRest, serveSse, serveStdio } =
    await import("../../../testing/index.ts");
  const factory = createTestServer();
  if (kind === "stdio") {
    const server = await serveStdio(factory);
    await Promise.race([server.closed, untilStopped(context)]);
    await server.close();
    return 0;
  }
  const serve = { http: serveHttp, sse: serveSse, rest: serveRest }[kind];
  const server = await serve(factory, { port });
  try {
    context.answer({ kind, url: server.url, tools: ["echo", "get_time", "add"] }, server.url);
    context.notice("serving echo, get_time and add; Ctrl-C stops it");
    return await untilStopped(context);
  } finally {
    await server.close();
  }
}
