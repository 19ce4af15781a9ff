import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { describe, expect, it } from "vitest";

import { createHost } from "../../src/index.ts";
import {
  createMemoryServer,
  createTestServer,
  serveHttp,
  serveRest,
  serveSse,
  testServerEntry,
} from "../../src/testing/index.ts";

const tool = {
  name: "where",
  description: "Says how it is reached",
  inputSchema: { type: "object" },
};

const answers: Readonly<Record<string, object>> = {
  initialize: {
    protocolVersion: "2025-11-25",
    capabilities: { tools: {} },
    serverInfo: { name: "own", version: "1" },
  },
  "tools/list": { tools: [tool] },
  "tools/call": { content: [{ type: "text", text: "over a transport of the program" }] },
};

/** A transport that no library knows: the program itself is at the other end. */
class OwnTransport implements Transport {
  onmessage?: (message: JSONRPCMessage) => void;
  onclose?: () => void;

  start(): Promise<void> {
    return Promise.resolve();
  }

  send(message: JSONRPCMessage): Promise<void> {
    if (!("method" in message) || !("id" in message)) return Promise.resolve();
    const { id, method } = message;
    const result = answers[method];
    const error = { code: -32_601, message: "Method not found" };
    const answer = result === undefined ? { error } : { result };
    queueMicrotask(() => this.onmessage?.({ jsonrpc: "2.0", id, ...answer } as JSONRPCMessage));
    return Promise.resolve();
  }

  close(): Promise<void> {
    this.onclose?.();
    return Promise.resolve();
  }
}

describe("servers of every kind", () => {
  it("REG-10 LIM-17: live in one host at the same time, a transport of the program's own beside them", async () => {
    const [web, sse, rest] = await Promise.all([
      serveHttp(createTestServer()),
      serveSse(createTestServer()),
      serveRest(createTestServer()),
    ]);
    {
      await using host = await createHost({
        config: false,
        servers: {
          stdio: testServerEntry(),
          streamable: { url: web.url, transport: "streamable-http" },
          post: { url: web.url, transport: "http-post" },
          sse: { url: sse.url, transport: "sse" },
          rest: { url: rest.url, transport: "rest" },
          memory: () => createMemoryServer(createTestServer()).transport,
          own: () => new OwnTransport(),
        },
      });
      const session = host.session({ level: "yolo" });
      const names = host.servers().map(({ name }) => name);
      const states = Object.values(await session.ready());
      expect(states.map(({ ready, state, error }) => [ready, state, error])).toEqual(
        names.map(() => [true, "connected", undefined]),
      );
      expect(host.servers().map(({ transport }) => transport)).toEqual([
        "stdio",
        "streamable-http",
        "http-post",
        "sse",
        "rest",
        "memory",
        "memory",
      ]);
      const kinds = names.filter((name) => name !== "own");
      const sums = await Promise.all(
        kinds.map((name, index) => session.execute(`mcp__${name}__add`, { a: index, b: 100 })),
      );
      expect(sums).toEqual(kinds.map((_, index) => String(100 + index)));
      expect(await session.execute("mcp__own__where")).toBe("over a transport of the program");
      // The end of one is the end of no other.
      await host.disconnect("sse");
      expect(await session.execute("mcp__rest__add", { a: 1, b: 1 })).toBe("2");
    }
    await Promise.all([web.close(), sse.close(), rest.close()]);
  });
});
