import type { CommandContext } from "../steps/command-context.ts";
import { untilStopped } from "../steps/until-stopped.ts";

export interface TestServerCommand {
  readonly kind: "stdio" | "http";
  readonly port: number;
}

/**
 * `plugboard test-server`: the bundled server with echo, get_time and add. Over stdio it ends with its
 * input, as every server does; over HTTP it stays until it is told to stop.
 */
export async function runTestServer(
  context: CommandContext,
  { kind, port }: TestServerCommand,
): Promise<number> {
  const { createTestServer, serveHttp, serveStdio } = await import("../../testing/index.ts");
  const factory = createTestServer();
  if (kind === "stdio") {
    const server = await serveStdio(factory);
    await Promise.race([server.closed, untilStopped(context)]);
    await server.close();
    return 0;
  }
  const server = await serveHttp(factory, { port });
  try {
    context.terminal.line(server.url);
    context.notice("serving echo, get_time and add; Ctrl-C stops it");
    return await untilStopped(context);
  } finally {
    await server.close();
  }
}
