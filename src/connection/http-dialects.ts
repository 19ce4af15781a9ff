import {
  hasServerStream,
  type HttpTransportConfig,
  type TransportConfig,
} from "../config/keys/server-config.ts";
import { createError } from "../errors/families.ts";
import type { McpError } from "../errors/mcp-error.ts";
import { reveal } from "../text/secret-text.ts";
import { requiresStream } from "./required-stream.ts";

/** What `transport: "http"` may turn out to be, in the order in which it is tried. */
export const httpDialects = ["streamable-http", "sse", "rest"] as const;
export type HttpDialect = (typeof httpDialects)[number];

const maxRemembered = 1_000;

/** Which dialect an address spoke last, for as long as the host lives. */
export class DialectMemory {
  readonly #byUrl = new Map<string, HttpDialect>();

  /** All that can serve the entry, the remembered one first. */
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
