import {
  hasServerStream,
  type HttpTransportConfig,
  type ServerConfig,
  type TransportConfig,
} from "../config/keys/server-config.ts";
import { createError } from "../errors/families.ts";
import { McpError } from "../errors/mcp-error.ts";
import type { ProtocolClient } from "../protocol/protocol-client.ts";
import { reveal } from "../text/secrets/secret-text.ts";
import { withoutMethodHint } from "../transport/http/entry-hints.ts";

/** The dialects that `transport: "http"` may turn out to be, in the order in which they are tried. */
export const httpDialects = ["streamable-http", "sse", "rest"] as const;
export type HttpDialect = (typeof httpDialects)[number];

const maxRemembered = 1_000;

/** Remembers which dialect an address spoke last, for as long as the host lives. */
export class DialectMemory {
  readonly #byUrl = new Map<string, HttpDialect>();

  /** Lists the dialects that can serve the entry, the remembered one first. */
  order({ url, method }: HttpTransportConfig): readonly HttpDialect[] {
    const usable = method === "GET" ? httpDialects.filter(hasServerStream) : httpDialects;
    const known = this.#byUrl.get(reveal(url));
    if (known === undefined || !usable.includes(known)) return usable;
    return [known, ...usable.filter((dialect) => dialect !== known)];
  }

  remember({ url }: HttpTransportConfig, dialect: HttpDialect): void {
    if (this.#byUrl.size >= maxRemembered) this.#byUrl.clear();
    this.#byUrl.set(reveal(url), dialect);
  }
}

/**
 * Whether the modern era is only the last resort: what came before it needs no server to be asked for
 * it, and the stream that `"method": "GET"` requires exists in the legacy era alone.
 */
export function prefersLegacy(transport: TransportConfig): boolean {
  const { kind } = transport;
  return kind === "sse" || kind === "rest" || requiresStream(transport);
}

/**
 * Whether the server may well be fine and only speak another dialect: it was reached, it let us in,
 * and it did not know what to do with the question.
 */
export function isOtherDialect({ code, details, retryable }: McpError): boolean {
  // The server's own error in answer to the handshake shows that the dialect is the right one.
  if (code === "protocol_violation") return details["rpc"] === undefined;
  if (code !== "http_error" || retryable) return false;
  const { status } = details;
  return typeof status === "number" && (status < 500 || status === 501);
}

export interface DialectProbe {
  readonly dialect: HttpDialect;
  readonly error: McpError;
}

/** Says what each dialect was answered with, each on a line of its own; nobody can mend an address from the last answer alone. */
export function noDialectError(
  serverName: string,
  transport: HttpTransportConfig,
  probes: readonly DialectProbe[],
): McpError {
  const tried = probes.map(({ dialect, error }) => `\n  ${dialect}: ${error.message}`).join("");
  return createError("http_error", `the address speaks no known kind of MCP:${tried}`, {
    serverName,
    hint:
      transport.method === "GET"
        ? 'check the path of "url"; "method": "GET" leaves out REST services, which have no stream'
        : 'check the path of "url", or say which "transport" it is',
    details: {
      probes: probes.map(({ dialect, error }) => ({
        transport: dialect,
        code: error.code,
        message: error.message,
      })),
    },
  });
}

/** Whether the entry is only served by a server that opens a stream of its own. SSE always does. */
function requiresStream(transport: TransportConfig): boolean {
  return transport.kind === "streamable-http" && transport.method === "GET";
}

/** Closes the client and throws `config_invalid` when the entry requires a stream that the client's era has not. */
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

/** Names the key that waits for the stream, in the error of a server that accepted the handshake and opened none. */
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
