import type { McpServerFactory, Transport } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";

/**
 * Which protocol a test server speaks. A `legacy` one knows nothing after 2025-11-25 and answers
 * `server/discover` like any unknown method; a `modern` one refuses `initialize`.
 */
export const servedEras = ["both", "legacy", "modern"] as const;
export type ServedEra = (typeof servedEras)[number];

export interface ServedConnection {
  close(): Promise<void>;
}

/** Serves one connection from the factory; takes over the transport and starts it. */
export async function serveTransport(
  factory: McpServerFactory,
  transport: Transport,
  era: ServedEra = "both",
): Promise<ServedConnection> {
  if (era === "legacy") {
    const server = await factory({ era });
    await server.connect(transport);
    return server;
  }
  // The SDK's stdio entry decides the era from the first message, over any transport.
  return serveStdio(factory, { transport, legacy: era === "modern" ? "reject" : "serve" });
}
