import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import { describe, expect, it } from "vitest";

import { connectClient, openWire } from "../../src/entries/client.ts";
import { createHost, McpAuthError } from "../../src/index.ts";

interface Trap extends AsyncDisposable {
  readonly url: string;
  /** What reached it. */
  readonly requests: readonly string[];
}

async function openTrap(): Promise<Trap> {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    requests,
    [Symbol.asyncDispose]: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

const refusal = {
  code: "auth_required",
  name: "McpAuthError",
  message: expect.stringContaining("OAuth, which this version cannot do; nothing was sent"),
  hint: expect.stringContaining('"type": "bearer"'),
};

describe("an entry that asks for a sign-in with OAuth", () => {
  it.each(["http", "streamable-http", "sse", "http-post", "rest"] as const)(
    "over %s fails closed, and nothing is sent",
    async (transport) => {
      await using trap = await openTrap();
      const entry = { url: trap.url, transport, auth: { type: "oauth", clientId: "id" } } as const;
      await using host = await createHost({ config: false, servers: { app: entry } });
      await expect(host.connect("app")).rejects.toMatchObject({ ...refusal, serverName: "app" });
      expect(host.server("app")).toMatchObject({ state: "needs_auth", lastError: refusal });
      const session = host.session({ level: "yolo" });
      expect(await session.ready()).toMatchObject({ app: { ready: false } });
      await expect(session.content.resources({ server: "app" })).rejects.toMatchObject(refusal);
      await expect(connectClient({ name: "app", ...entry })).rejects.toThrow(McpAuthError);
      await expect(openWire({ name: "app", ...entry }).connect()).rejects.toMatchObject(refusal);
      expect(trap.requests).toEqual([]);
    },
  );
});
