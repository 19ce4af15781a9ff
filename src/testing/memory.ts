import {
  InMemoryTransport,
  type McpServerFactory,
  type Transport,
} from "@modelcontextprotocol/server";

import { createError } from "../errors/families.ts";
import { type ServedConnection, type ServedEra, serveTransport } from "./serve/serve-transport.ts";

export interface MemoryServerOptions {
  readonly era?: ServedEra | undefined;
}

export interface MemoryServer extends ServedConnection {
  /** The client's end, not started yet: give it to `createHost({ servers })` or to any MCP client. */
  readonly transport: Transport;
}

/**
 * A server in this process, for tests. Like a real wire it hands each side copies, never objects. A
 * factory that fails ends the connection, and `close()` then rejects with its error.
 */
export function createMemoryServer(
  factory: McpServerFactory,
  options: MemoryServerOptions = {},
): MemoryServer {
  const [client, server] = InMemoryTransport.createLinkedPair();
  copyMessages(client);
  copyMessages(server);
  const connection = serveTransport(factory, server, options.era);
  connection.catch(() => server.close());
  return { transport: client, close: async () => (await connection).close() };
}

function copyMessages(transport: Transport): void {
  const send = transport.send.bind(transport);
  transport.send = async (message, options) => await send(throughJson(message), options);
}

function throughJson<T>(message: T): T {
  try {
    return JSON.parse(JSON.stringify(message)) as T;
  } catch (cause) {
    throw createError("invalid_arguments", "the message cannot be written as JSON", { cause });
  }
}
