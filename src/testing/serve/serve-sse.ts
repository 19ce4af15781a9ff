import { randomUUID } from "node:crypto";

import type { McpServerFactory } from "@modelcontextprotocol/server";

import type { ListenerLimits } from "../../listener/listener-limits.ts";
import { listenOnLoopback } from "../../listener/loopback-listener.ts";
import { type ServedConnection, serveTransport } from "./serve-transport.ts";
import type { ServedHandler } from "./served-handler.ts";
import { SseSession } from "./sse-session.ts";

export interface ServeSseOptions {
  /** The default 0 lets the system choose. */
  readonly port?: number | undefined;
  /**
   * Whether the stream begins with the address for messages, as MCP asks for. Otherwise a client must
   * derive `/message`, and what it sends there belongs to the newest stream.
   */
  readonly announce?: boolean | undefined;
  /** Where requests are answered: on the stream, as MCP asks for, or in the body of the POST. */
  readonly answers?: "stream" | "body" | undefined;
  readonly limits?: Partial<ListenerLimits> | undefined;
}

export interface SseServer extends ServedConnection {
  /** `http://127.0.0.1:<port>/sse` */
  readonly url: string;
  readonly port: number;
  /** Cuts every stream; the server keeps listening. */
  dropStreams(): Promise<void>;
}

/**
 * Serves the factory over HTTP+SSE, the remote transport of MCP 2024-11-05, on 127.0.0.1. Each stream
 * is a session with a server of its own; there is no modern era on this transport.
 */
export async function serveSse(
  factory: McpServerFactory,
  options: ServeSseOptions = {},
): Promise<SseServer> {
  const { port, limits } = options;
  const handler = createSseHandler(factory, options);
  const listener = await listenOnLoopback({ port, limits, fetch: handler.fetch });
  return {
    url: `${listener.url}${streamPath}`,
    port: listener.port,
    dropStreams: () => handler.close(),
    async close() {
      await handler.close();
      await listener.close();
    },
  };
}

const streamPath = "/sse";
const messagePath = "/message";

/** Closing the handler cuts every stream; it goes on answering. */
export function createSseHandler(
  factory: McpServerFactory,
  options: Pick<ServeSseOptions, "announce" | "answers">,
): ServedHandler {
  const { announce = true, answers = "stream" } = options;
  const sessions = new Map<string, SseSession>();

  const open = async (): Promise<Response> => {
    const id = randomUUID();
    const session = new SseSession(answers === "body");
    const response = session.open(announce ? `${messagePath}?sessionId=${id}` : undefined);
    await serveTransport(factory, session, "legacy");
    const { onclose } = session;
    session.onclose = () => {
      sessions.delete(id);
      onclose?.();
    };
    sessions.set(id, session);
    return response;
  };
  return {
    paths: [streamPath, messagePath],
    async fetch(request) {
      const { pathname, searchParams } = new URL(request.url);
      if (request.method === "GET" && pathname === streamPath) return await open();
      if (request.method !== "POST" || pathname !== messagePath)
        return new Response(null, { status: 404 });
      const id = searchParams.get("sessionId");
      const session = announce ? sessions.get(id ?? "") : [...sessions.values()].at(-1);
      if (session === undefined) return new Response("No such session.\n", { status: 404 });
      return await session.receive(request);
    },
    async close() {
      await Promise.all([...sessions.values()].map((session) => session.close()));
    },
  };
}
