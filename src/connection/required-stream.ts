import type { ServerConfig, TransportConfig } from "../config/keys/server-config.ts";
import { createError } from "../errors/families.ts";
import { McpError } from "../errors/mcp-error.ts";
import type { ProtocolClient } from "../protocol/protocol-client.ts";
import { withoutMethodHint } from "../transport/http/http-status.ts";

/** Whether the entry is only served by a server that opens a stream of its own. SSE always does. */
export function requiresStream(transport: TransportConfig): boolean {
  return transport.kind === "streamable-http" && transport.method === "GET";
}

/** Closes the client and throws `config_invalid` when its era has no such stream. */
export async function refuseWithoutStream(
  { name, transport }: ServerConfig,
  client: ProtocolClient,
): Promise<void> {
  if (client.era === "legacy" || !requiresStream(transport)) return;
  const { protocolVersion } = client;
  await client.close();
  throw createError(
    "config_invalid",
    `"method" is GET, and the server has no stream of its own: protocol version ${protocolVersion} has none`,
    { serverName: name, hint: withoutMethodHint, details: { protocolVersion } },
  );
}

/** A server that accepted the handshake and let the stream wait: the error says which key waits for it. */
export function explainMissingStream({ name, transport }: ServerConfig, error: unknown): unknown {
  if (!McpError.is(error, "start_timeout") || !requiresStream(transport)) return error;
  const { message, details } = error;
  if (details["phase"] !== "notifications/initialized") return error;
  return createError("start_timeout", `${message}: "method" is GET, and the stream did not open`, {
    serverName: name,
    hint: withoutMethodHint,
    details,
    cause: error,
  });
}
