import { createError } from "../../../errors/families.ts";
import { ownCommand } from "../../../text/own-command.ts";
import type { CommandContext, DefineCommand } from "../../context/command-context.ts";
import { untilStopped } from "../../steps/until-stopped.ts";
import { addExamples } from "../../words/examples.ts";
import { choiceArgument, parsePort } from "../../words/option-values.ts";

const kinds = ["stdio", "http", "sse", "rest"] as const;

interface TestServerCommand {
  readonly kind: (typeof kinds)[number];
  readonly port: number;
  /** Whether it wants a sign-in. */
  readonly protected: boolean;
}

const defaultPort = 9_000;
const testTools = ["echo", "get_time", "add"];
const demoTools = [...testTools, "slow", "fail", "crash", "delete_note", "ask_name"];

export const define: DefineCommand = (command, execute) => {
  addExamples(command, [
    {
      says: "at an address, with any free port",
      line: "plugboard test-server http --port 0",
      stays: true,
    },
    {
      says: "one that wants a sign-in, to try plugboard login with",
      line: "plugboard test-server http --protected --port 0",
      stays: true,
    },
    {
      says: "as a server to try things with",
      line: "plugboard add try -- plugboard test-server stdio",
    },
  ]);
  command
    .description(
      "Runs the bundled test server: echo, get_time and add. With --protected it is the demo server\n" +
        "behind a sign-in, with a page of its own on which you allow or deny it.",
    )
    .addArgument(choiceArgument("<kind>", "how it is reached", kinds))
    .option("--port <number>", "port of all but stdio, 0 for any", parsePort, defaultPort)
    .option("--protected", "http alone: it wants a sign-in, at an authorization server of its own")
    .action((kind: TestServerCommand["kind"], options: Partial<TestServerCommand>) =>
      execute(async (context) => {
        const { port = defaultPort, protected: isProtected = false } = options;
        if (!isProtected) return await runTestServer(context, { kind, port });
        if (kind !== "http")
          throw createError("invalid_arguments", "--protected is for the kind http");
        return await runProtected(context, port);
      }),
    );
};

/**
 * `plugboard test-server`: the bundled server with echo, get_time and add. Over stdio it ends with its
 * input, as every server does; at an address it stays until it is told to stop.
 */
async function runTestServer(
  context: CommandContext,
  { kind, port }: Pick<TestServerCommand, "kind" | "port">,
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
    context.answer({ kind, url: server.url, tools: testTools }, server.url);
    context.notice("serving echo, get_time and add; Ctrl-C stops it");
    return await untilStopped(context);
  } finally {
    await server.close();
  }
}

/** The demo server behind a sign-in, with an authorization server of its own. */
async function runProtected(context: CommandContext, port: number): Promise<number> {
  const { startProtectedDemo } = await import("../../../testing/index.ts");
  const server = await startProtectedDemo({ port });
  const { url, issuer } = server;
  const { program } = context.standpoint;
  try {
    context.answer({ kind: "http", url, tools: demoTools, issuer }, url);
    context.notice(
      `serving the demo server to who signs in at ${issuer}; Ctrl-C stops it. In another terminal:`,
    );
    context.notice(
      `  ${program} add secured ${url} && ${ownCommand("login", "secured", [], program)}`,
    );
    return await untilStopped(context);
  } finally {
    await server.close();
  }
}
