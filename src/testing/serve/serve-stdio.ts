import type { Readable, Writable } from "node:stream";

import type { McpServerFactory } from "@modelcontextprotocol/server";

import { LineTransport } from "./line-transport.ts";
import { type ServedConnection, type ServedEra, serveTransport } from "./serve-transport.ts";

export interface ServeStdioOptions {
  readonly era?: ServedEra | undefined;
  readonly input?: Readable;
  readonly output?: Writable;
}

export interface StdioServer extends ServedConnection {
  /** Settles when the client has ended the input, or after `close()`. */
  readonly closed: Promise<void>;
}

/**
 * Serves the factory over this process's stdin and stdout. When stdin ends the connection ends with
 * it, running calls are cancelled, and nothing of it keeps the process alive. No signal handler is
 * installed and the process is never ended from here.
 */
export async function serveStdio(
  factory: McpServerFactory,
  options: ServeStdioOptions = {},
): Promise<StdioServer> {
  const { era, input = process.stdin, output = process.stdout } = options;
  const transport = new LineTransport(input, output);
  const connection = await serveTransport(factory, transport, era);
  return { closed: transport.closed, close: () => connection.close() };
}
