import { describe, expect, it } from "vitest";

import {
  createEventStore,
  startDualEraServer,
  startSessionServer,
} from "../../../tests/fixtures/http/sdk-server.ts";
import {
  ImpatientClock,
  type Wire,
  initialize,
  openWire,
} from "../../../tests/fixtures/http/wire.ts";

const modernVersion = "2026-07-28";
const modernMeta = {
  "io.modelcontextprotocol/protocolVersion": modernVersion,
  "io.modelcontextprotocol/clientInfo": { name: "test", version: "0" },
  "io.modelcontextprotocol/clientCapabilities": {},
};

function call(wire: Wire, name: string, args: Record<string, unknown>, meta = {}) {
  return wire.request("tools/call", { name, arguments: args, _meta: meta });
}

describe("against the official server, legacy era", () => {
  it.each([false, true])(
    "SHT-04: a call is answered as stream or as JSON (JSON: %s)",
    async (enableJsonResponse) => {
      await using server = await startSessionServer({ enableJsonResponse });
      await using wire = await openWire(server.url);
      const { result } = await initialize(wire);
      expect(result).toMatchObject({ serverInfo: { name: "echo" } });
      wire.transport.setProtocolVersion?.("2025-11-25");
      await wire.notify("notifications/initialized");
      const answer = await call(wire, "echo", { text: "grüß 😀" });
      expect(answer.result).toMatchObject({ content: [{ type: "text", text: "grüß 😀" }] });
    },
  );

  it("SHT-06, SHT-07: session and version are sent after initialize, and closing ends the session", async () => {
    await using server = await startSessionServer();
    const wire = await openWire(server.url);
    await initialize(wire);
    const { sessionId } = wire.transport;
    expect(server.sessions.has(sessionId ?? "")).toBe(true);
    wire.transport.setProtocolVersion?.("2025-11-25");
    await call(wire, "echo", { text: "a" });
    const [first, second] = server.requests;
    expect(first?.headers["mcp-session-id"]).toBeUndefined();
    expect(first?.headers["mcp-protocol-version"]).toBeUndefined();
    expect(second?.headers["mcp-session-id"]).toBe(sessionId);
    expect(second?.headers["mcp-protocol-version"]).toBe("2025-11-25");
    await wire.transport.close();
    expect(server.requests.at(-1)?.method).toBe("DELETE");
    expect(server.sessions.size).toBe(0);
    expect(wire.transport.sessionId).toBeUndefined();
  });

  it("SHT-09: progress arrives before the answer", async () => {
    await using server = await startSessionServer();
    await using wire = await openWire(server.url);
    await initialize(wire);
    await call(wire, "count", {}, { progressToken: 7 });
    const progress = wire.received.filter(({ method }) => method === "notifications/progress");
    expect(progress.map(({ params }) => params?.["progress"])).toEqual([1, 2]);
    expect(wire.received.at(-1)?.result).toBeDefined();
  });

  it("SHT-08 LIM-16: what the server says by itself arrives on its own stream", async () => {
    await using server = await startSessionServer();
    await using wire = await openWire(server.url);
    await initialize(wire);
    await wire.notify("notifications/initialized");
    const session = server.sessions.get(wire.transport.sessionId ?? "");
    await server.until(() => server.notes.includes("GET answered"));
    session?.sendToolListChanged();
    await wire.until((received) =>
      received.some(({ method }) => method === "notifications/tools/list_changed"),
    );
  });
});

describe("against the official server, resumable", () => {
  it("SHT-08: an answer given after the stream was ended is fetched", async () => {
    const clock = new ImpatientClock();
    await using server = await startSessionServer({
      eventStore: createEventStore(),
      retryInterval: 300,
    });
    await using wire = await openWire(server.url, { clock });
    await initialize(wire);
    wire.transport.setProtocolVersion?.("2025-11-25");
    const answer = await call(wire, "hang_up", {});
    expect(answer.result).toMatchObject({ content: [{ text: "called back" }] });
    expect(clock.delaysMs).toContain(300);
    expect(server.requests.at(-1)?.headers["last-event-id"]).toMatch(/^event-/);
  });
});

describe("against the official server, modern era", () => {
  it.each(["auto", "sse", "json"] as const)(
    "SHT-04: a call is answered in response mode %s",
    async (responseMode) => {
      await using server = await startDualEraServer({ responseMode });
      await using wire = await openWire(server.url);
      const discovered = await wire.request("server/discover", { _meta: modernMeta });
      expect(discovered.result?.["supportedVersions"]).toContain(modernVersion);
      const answer = await call(wire, "echo", { text: "hello" }, modernMeta);
      expect(answer.result).toMatchObject({ content: [{ text: "hello" }] });
    },
  );

  it("B-P1: requests describe themselves in headers and carry no session", async () => {
    await using server = await startDualEraServer();
    await using wire = await openWire(server.url);
    await call(wire, "echo", { text: "hello" }, modernMeta);
    const headers = server.requests[0]?.headers;
    expect(headers?.["mcp-protocol-version"]).toBe(modernVersion);
    expect(headers?.["mcp-method"]).toBe("tools/call");
    expect(headers?.["mcp-name"]).toBe("echo");
    expect(headers?.["mcp-session-id"]).toBeUndefined();
  });

  it("B-P1: a name that is no header text reaches the server encoded and is understood", async () => {
    await using server = await startDualEraServer();
    await using wire = await openWire(server.url);
    const answer = await call(wire, "größe", {}, modernMeta);
    expect(server.requests[0]?.headers["mcp-name"]).toBe("=?base64?Z3LDtsOfZQ==?=");
    // The server compares header and body before it looks for the tool.
    expect(answer.error?.message ?? JSON.stringify(answer.result)).toMatch(/größe/);
  });

  it("PRO-22: aborting a request closes its stream at once", async () => {
    await using server = await startDualEraServer();
    await using wire = await openWire(server.url);
    const abort = new AbortController();
    const listening = wire.request(
      "subscriptions/listen",
      { _meta: modernMeta, notifications: { toolsListChanged: true } },
      { requestSignal: abort.signal },
    );
    await wire.until((received) => received.length > 0);
    abort.abort();
    await expect(listening).rejects.toMatchObject({ code: "cancelled" });
  });
});
