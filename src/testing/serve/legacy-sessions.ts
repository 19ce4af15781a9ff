import { randomUUID } from "node:crypto";

import {
  type McpServerFactory,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";

/**
 * 2025 serving with sessions: `initialize` opens one, later requests name it in `Mcp-Session-Id`,
 * DELETE ends it, and the server can push messages on its GET stream.
 */
export class LegacySessions {
  readonly #factory: McpServerFactory;
  readonly #sessions = new Map<string, WebStandardStreamableHTTPServerTransport>();

  constructor(factory: McpServerFactory) {
    this.#factory = factory;
  }

  readonly fetch = async (request: Request): Promise<Response> => {
    const id = request.headers.get("mcp-session-id");
    if (id === null) return await this.#open(request);
    const transport = this.#sessions.get(id);
    // 404 is how a 2025 client learns that it has to initialize again.
    if (transport === undefined) return Response.json(sessionNotFound, { status: 404 });
    return await transport.handleRequest(request);
  };

  async close(): Promise<void> {
    await Promise.all([...this.#sessions.values()].map((transport) => transport.close()));
  }

  async #open(request: Request): Promise<Response> {
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void this.#sessions.set(id, transport),
    });
    transport.onclose = () => {
      if (transport.sessionId !== undefined) this.#sessions.delete(transport.sessionId);
    };
    const server = await this.#factory({ era: "legacy" });
    await server.connect(transport);
    const response = await transport.handleRequest(request);
    // Anything but `initialize` was refused, and nobody can ever name this transport again.
    if (transport.sessionId === undefined) await transport.close();
    return response;
  }
}

const sessionNotFound = {
  jsonrpc: "2.0",
  error: { code: -32_001, message: "Session not found" },
  id: null,
};
