import { EventEmitter, once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

import { describe, expect, it } from "vitest";

import { implementations } from "../../../tests/fixtures/protocol/implementations.ts";
import { resolveLimits } from "../../config/keys/limits.ts";
import { systemClock } from "../../ports/clock.ts";
import { silentLogger } from "../../ports/logger.ts";
import { createSseTransport } from "../dialects/sse-transport.ts";
import { createStreamableHttpTransport } from "../dialects/streamable-http-transport.ts";

interface Message {
  readonly id?: number;
  readonly method: string;
  readonly params?: { readonly name?: string; readonly requestId?: number };
}

/** What the program may have open to one server for its calls at the same time. */
const connections = 40;
const common = {
  serverName: "api",
  headers: {},
  limits: resolveLimits(),
  clock: systemClock,
  logger: silentLogger,
};

/** A server that answers every request but calls of `hold`, and keeps those to itself. */
class HoldingServer {
  readonly messages: Message[] = [];
  connectionCount = 0;
  readonly #changes = new EventEmitter();
  readonly #server = createServer((request, response) => void this.#take(request, response));

  constructor() {
    this.#server.on("connection", () => {
      this.connectionCount += 1;
    });
  }

  async start(): Promise<string> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  received(method: string): Message[] {
    return this.messages.filter((message) => message.method === method);
  }

  async until(condition: () => boolean): Promise<void> {
    while (!condition()) await once(this.#changes, "change");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<unknown> {
    if (request.method === "GET" && request.url !== "/sse") return response.writeHead(405).end();
    if (request.method === "GET") {
      response.writeHead(200, { "content-type": "text/event-stream" });
      return response.write("event: endpoint\ndata: /message\n\n");
    }
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const message = JSON.parse(Buffer.concat(chunks).toString()) as Message;
    this.messages.push(message);
    this.#changes.emit("change");
    return this.#answer(message, response);
  }

  #answer({ id, method, params }: Message, response: ServerResponse): unknown {
    if (params?.name === "hold") return undefined;
    if (id === undefined) return response.writeHead(202).end();
    const answer =
      method === "server/discover"
        ? { error: { code: -32_601, message: "Method not found" } }
        : { result: method === "initialize" ? greeting : { content: [] } };
    const text = JSON.stringify({ jsonrpc: "2.0", id, ...answer });
    return response.writeHead(200, { "content-type": "application/json" }).end(text);
  }
}

const greeting = {
  protocolVersion: "2025-11-25",
  capabilities: { tools: {} },
  serverInfo: { name: "holding", version: "1" },
};

describe.each(implementations)("calls that wait for a connection (%s)", (_, connect) => {
  const options = {
    ...common,
    clientInfo: { name: "tester", version: "1" },
    protocol: "auto",
    connectTimeoutMs: 30_000,
    strict: false,
  };

  it.each([
    ["streamable-http", "/mcp", createStreamableHttpTransport],
    ["sse", "/sse", createSseTransport],
  ] as const)(
    "PRO-22: over %s are called off without a word to the server and in nobody's way",
    async (_kind, path, createTransport) => {
      await using server = new HoldingServer();
      const url = `${await server.start()}${path}`;
      const client = await connect(createTransport({ ...common, method: "POST", url }), options);
      const abort = new AbortController();
      const { signal } = abort;
      const before = server.connectionCount;
      const calls = Array.from({ length: 10 * connections }, () =>
        client.callTool("hold", {}, { signal }).catch((error: unknown) => error),
      );
      await server.until(() => server.received("tools/call").length === connections);
      abort.abort();
      for (const error of await Promise.all(calls))
        expect(error).toMatchObject({ code: "cancelled" });
      await client.callTool("other", {});
      const calledOff = () => server.received("notifications/cancelled");
      await server.until(() => calledOff().length === connections);
      const sent = server.received("tools/call").map(({ id }) => id);
      expect(sent).toHaveLength(connections + 1);
      expect(new Set(calledOff().map(({ params }) => params?.requestId))).toEqual(
        new Set(sent.slice(0, connections)),
      );
      // Those of the calls are closed with them. Then one each to find the queue over, and a few more.
      expect(server.connectionCount - before).toBeLessThanOrEqual(2 * connections + 5);
      await client.close();
      expect(calledOff()).toHaveLength(connections);
    },
  );
});
