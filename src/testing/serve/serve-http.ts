import {
  type LegacyHttpHandler,
  type McpServerFactory,
  createMcpHandler,
  isLegacyRequest,
  legacyStatelessFallback,
} from "@modelcontextprotocol/server";

import type { ListenerLimits } from "../../listener/listener-limits.ts";
import { listenOnLoopback } from "../../listener/loopback-listener.ts";
import { LegacySessions } from "./legacy-sessions.ts";
import type { ServedConnection, ServedEra } from "./serve-transport.ts";
import type { ServedHandler } from "./served-handler.ts";

export interface ServeHttpOptions {
  readonly era?: ServedEra | undefined;
  /** The default 0 lets the system choose. */
  readonly port?: number | undefined;
  /**
   * Keeps one server per `Mcp-Session-Id` for 2025 clients, as servers that push messages do. Without
   * it each 2025 request is served by a server of its own.
   */
  readonly sessions?: boolean | undefined;
  readonly limits?: Partial<ListenerLimits> | undefined;
}

export interface HttpServer extends ServedConnection {
  /** `http://127.0.0.1:<port>/mcp` */
  readonly url: string;
  readonly port: number;
}

const path = "/mcp";

/** Serves the factory as streamable HTTP on 127.0.0.1; every other path answers 404. */
export async function serveHttp(
  factory: McpServerFactory,
  options: ServeHttpOptions = {},
): Promise<HttpServer> {
  const { port, limits } = options;
  const handler = createHttpHandler(factory, options);
  const listener = await listenOnLoopback({
    port,
    limits,
    fetch: (request) =>
      new URL(request.url).pathname === path
        ? handler.fetch(request)
        : new Response(null, { status: 404 }),
  });
  return {
    url: `${listener.url}${path}`,
    port: listener.port,
    async close() {
      await handler.close();
      await listener.close();
    },
  };
}

export function createHttpHandler(
  factory: McpServerFactory,
  options: Pick<ServeHttpOptions, "era" | "sessions">,
): ServedHandler {
  const { era = "both" } = options;
  const modern = createMcpHandler(factory, { legacy: "reject" });
  const sessions = options.sessions === true ? new LegacySessions(factory) : undefined;
  const legacy: LegacyHttpHandler = sessions?.fetch ?? legacyStatelessFallback(factory);
  return {
    paths: [path],
    async fetch(request) {
      const isLegacy = era === "legacy" || (era === "both" && (await isLegacyRequest(request)));
      return await (isLegacy ? legacy(request) : modern.fetch(request));
    },
    async close() {
      await Promise.all([modern.close(), sessions?.close()]);
    },
  };
}
