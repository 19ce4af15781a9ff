import { createServer } from "node:net";
import type { AddressInfo } from "node:net";

import { describe, expect, it } from "vitest";

import {
  type Respond,
  ScriptedServer,
  answerTo,
  openEvents,
  sendJson,
} from "../../../tests/fixtures/http/scripted-server.ts";
import {
  type SsePost,
  type SseWire,
  announcement,
  createSseWire,
  openSseWire,
  startSseServer,
} from "../../../tests/fixtures/http/sse-wire.ts";
import { ImpatientClock, WaitingClock } from "../../../tests/fixtures/http/wire.ts";

const accept: SsePost = (_request, response) => response.writeHead(202).end();

/** Resolves when the transport says that it is over. */
function ended(wire: SseWire): Promise<void> {
  const { transport } = wire;
  const { onclose } = transport;
  return new Promise((resolve) => {
    transport.onclose = () => {
      onclose?.();
      resolve();
    };
  });
}

describe("a stream that cannot be had", () => {
  const page = "<html><title>Sign in</title></html>";
  it.each<[string, Respond, object]>([
    [
      "401",
      (_request, response) =>
        response.writeHead(401, { "www-authenticate": 'Bearer error="invalid_token"' }).end(),
      {
        code: "auth_required",
        details: { status: 401 },
        hint: expect.stringContaining("token") as unknown,
      },
    ],
    [
      "404",
      (_request, response) => response.writeHead(404).end("nothing here"),
      { code: "http_error", message: expect.stringContaining("HTTP 404: nothing here") },
    ],
    [
      "503",
      (_request, response) => response.writeHead(503, { "retry-after": "7" }).end(),
      { code: "http_error", retryable: true, details: { status: 503, retryAfterMs: 7_000 } },
    ],
    [
      "500 that calls itself a stream",
      (_request, response) =>
        response.writeHead(500, { "content-type": "text/event-stream" }).end(announcement),
      { code: "http_error", details: { status: 500 } },
    ],
    [
      "a web page",
      (_request, response) => response.writeHead(200, { "content-type": "text/html" }).end(page),
      { code: "http_error", message: expect.stringContaining("Sign in") },
    ],
    [
      "JSON",
      (_request, response) => sendJson(response, "{}"),
      { code: "http_error", message: expect.stringContaining("application/json") },
    ],
    [
      "an end without an announcement",
      (_request, response) => {
        openEvents(response);
        response.end();
      },
      { code: "connection_lost" },
    ],
    [
      "a cut connection",
      (_request, response) => response.socket?.resetAndDestroy(),
      { code: "connection_lost" },
    ],
  ])("SSE-11, ERR-02: is a typed error of the start: %s", async (_what, respond, failure) => {
    await using server = await ScriptedServer.start(respond);
    const wire = createSseWire(server.url);
    await expect(wire.transport.start()).rejects.toMatchObject(failure);
    expect(wire.transport.failure).toMatchObject(failure);
    expect(wire.closeCount).toBe(1);
    await expect(wire.ask("ping")).rejects.toMatchObject(failure);
    await server.until(() => server.sockets.size === 0);
    expect(server.requests).toHaveLength(1);
  });

  it("ERR-02: a port nobody listens on is named in plain words", async () => {
    const probe = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => probe.once("listening", resolve));
    const { port } = probe.address() as AddressInfo;
    await new Promise((resolve) => probe.close(resolve));
    await expect(openSseWire(`http://127.0.0.1:${port}/sse`)).rejects.toMatchObject({
      code: "unreachable",
      message: `connection refused at 127.0.0.1:${port} (nothing is listening)`,
      transport: "sse",
    });
  });
});

describe("the end of the stream", () => {
  it.each(["end", "cut"] as const)(
    "SSE-15, F3, TRN-05: is the end of the connection, said once, and nothing is opened again (%s)",
    async (how) => {
      await using server = await startSseServer(announcement, () => server.note("POST"));
      const wire = await openSseWire(server.sseUrl, { clock: new ImpatientClock() });
      const over = ended(wire);
      const asked = wire.ask("tools/call");
      await server.until(() => server.notes.includes("POST"));
      expect(wire.transport.failure).toBeUndefined();
      server.streams[how]();
      await expect(asked).rejects.toMatchObject({ code: "connection_lost", serverName: "api" });
      await over;
      expect(wire.transport.failure).toMatchObject({ code: "connection_lost" });
      await expect(wire.ask("ping")).rejects.toMatchObject({ code: "connection_lost" });
      await wire.transport.close();
      await server.until(() => server.sockets.size === 0);
      expect(wire.closeCount).toBe(1);
      expect(server.requests.map(({ method }) => method)).toEqual(["GET", "POST"]);
    },
  );

  it("F4, SSE-13: comes with an event over the cap", async () => {
    await using server = await startSseServer(announcement, accept);
    const wire = await openSseWire(server.sseUrl, { limits: { maxMessageBytes: 1_000 } });
    const over = ended(wire);
    server.streams.write(`data: "${"x".repeat(2_000)}"\n\n`);
    await over;
    expect(wire.transport.failure).toMatchObject({
      code: "too_large",
      details: { maxBytes: 1_000 },
    });
    expect(wire.received).toEqual([]);
  });

  it("SSE-13: comes with a message nested too deep", async () => {
    await using server = await startSseServer(announcement, accept);
    const wire = await openSseWire(server.sseUrl);
    const over = ended(wire);
    server.streams.write(`data: ${"[".repeat(300)}${"]".repeat(300)}\n\n`);
    await over;
    expect(wire.transport.failure).toMatchObject({ code: "protocol_violation" });
  });
});

describe("a message that fails", () => {
  it.each<[string, SsePost, object]>([
    [
      "404",
      (_request, response) => response.writeHead(404).end("No such session."),
      { code: "http_error", details: { status: 404 }, message: /No such session/ },
    ],
    ["401", (_request, response) => response.writeHead(401).end(), { code: "auth_required" }],
    [
      "429",
      (_request, response) => response.writeHead(429, { "retry-after": "1" }).end(),
      { code: "http_error", retryable: true, details: { status: 429, retryAfterMs: 1_000 } },
    ],
    [
      "a web page",
      (_request, response) =>
        response.writeHead(200, { "content-type": "text/html" }).end("<h1>Sign in</h1>"),
      { code: "http_error", message: /Sign in/ },
    ],
    [
      "a reset",
      (_request, response) => response.socket?.resetAndDestroy(),
      { code: "connection_lost" },
    ],
    [
      "half an answer",
      (request, response) => {
        const answer = answerTo(request);
        response.writeHead(200, {
          "content-type": "application/json",
          "content-length": answer.length,
        });
        response.write(answer.slice(0, 10), () => response.destroy());
      },
      { code: "connection_lost" },
    ],
    [
      "half a stream",
      (_request, response) => {
        openEvents(response);
        response.write("id: 1\ndata: {}\n\n", () => response.destroy());
      },
      { code: "connection_lost" },
    ],
    [
      "an answer over the cap",
      (request, response) => sendJson(response, answerTo(request, { text: "x".repeat(20_000) })),
      { code: "too_large" },
    ],
  ])("F3, ERR-07: is not repeated, and the others go on: %s", async (_what, post, failure) => {
    await using server = await startSseServer(announcement, (request, response, streams) =>
      request.message.method === "ping"
        ? sendJson(response, answerTo(request))
        : post(request, response, streams),
    );
    await using wire = await openSseWire(server.sseUrl, { limits: { maxMessageBytes: 10_000 } });
    const { message, ...rest } = failure as { readonly message?: RegExp };
    await expect(wire.ask("tools/call")).rejects.toMatchObject(rest);
    if (message !== undefined) await expect(wire.ask("tools/call")).rejects.toThrow(message);
    await wire.ask("ping");
    expect(wire.transport.failure).toBeUndefined();
    expect(wire.closeCount).toBe(0);
    expect(server.requests.filter(({ method }) => method === "GET")).toHaveLength(1);
    expect(server.posts("tools/call")).toHaveLength(message === undefined ? 1 : 2);
  });

  it("SSE-06: the server's own error in a refusal is delivered as the answer", async () => {
    await using server = await startSseServer(announcement, (request, response) => {
      const error = { code: -32_602, message: "no such tool" };
      sendJson(response, JSON.stringify({ jsonrpc: "2.0", id: request.message.id, error }), 400);
    });
    await using wire = await openSseWire(server.sseUrl);
    expect(await wire.ask("tools/call")).toMatchObject({ error: { code: -32_602 } });
  });

  it("SSE-08, F2: one that is never accepted has a deadline", async () => {
    await using server = await startSseServer(announcement, () => server.note("POST"));
    await using wire = await openSseWire(server.sseUrl, { limits: { callTimeoutMs: 50 } });
    await expect(wire.notify("notifications/initialized")).rejects.toMatchObject({
      name: "McpTimeoutError",
      code: "timeout",
    });
  });

  it("SSE-08, F2: a request that is called off closes its POST", async () => {
    await using server = await startSseServer(announcement, (request, response) => {
      if (request.message.method !== "tools/call") return response.writeHead(202).end();
      response.on("close", () => server.note("closed"));
      return server.note("called");
    });
    await using wire = await openSseWire(server.sseUrl);
    const { transport } = wire;
    const called = transport.send({ jsonrpc: "2.0", id: 7, method: "tools/call" });
    await server.until(() => server.notes.includes("called"));
    const method = "notifications/cancelled";
    const notified = transport.send({ jsonrpc: "2.0", method, params: { requestId: 7 } });
    await expect(called).rejects.toMatchObject({ code: "cancelled" });
    await notified;
    await server.until(() => server.notes.includes("closed"));
  });

  it("ERR-07: what is no JSON is refused before it is sent", async () => {
    await using server = await startSseServer(announcement, accept);
    await using wire = await openSseWire(server.sseUrl);
    await expect(wire.ask("tools/call", { n: 1n })).rejects.toMatchObject({
      code: "invalid_arguments",
    });
    expect(server.requests).toHaveLength(1);
  });
});

describe("closing", () => {
  it("SSE-07: nothing can be sent before the start", async () => {
    const wire = createSseWire("http://127.0.0.1:9/sse");
    await expect(wire.ask("ping")).rejects.toMatchObject({ code: "not_connected" });
    await wire.transport.close();
  });

  it("SSE-09, TRN-05, TRN-07: ends the stream, twice is once, and no socket or timer is left", async () => {
    await using server = await startSseServer(announcement, accept);
    const wire = await openSseWire(server.sseUrl);
    await wire.notify("notifications/initialized");
    await Promise.all([wire.transport.close(), wire.transport.close()]);
    await wire.transport.close();
    await server.until(() => server.sockets.size === 0);
    expect(wire.closeCount).toBe(1);
    expect(wire.transport.failure).toBeUndefined();
    await expect(wire.ask("ping")).rejects.toMatchObject({ code: "closed" });
    await expect(wire.transport.start()).resolves.toBeUndefined();
  });

  it("SSE-09: one of two connections to an origin ends that one alone", async () => {
    await using server = await startSseServer(announcement, accept);
    const first = await openSseWire(server.sseUrl);
    await using second = await openSseWire(server.sseUrl);
    await first.transport.close();
    await server.until(() => server.notes.includes("stream closed"));
    server.streams.write("data: {}\n\n");
    await second.until((received) => received.length === 1);
    expect(server.notes).toEqual(["stream closed"]);
  });

  it("SSE-09: fails what is under way", async () => {
    await using server = await startSseServer(announcement, () => server.note("POST"));
    const wire = await openSseWire(server.sseUrl);
    const asked = wire.ask("tools/call");
    await server.until(() => server.notes.length === 1);
    await Promise.all([
      wire.transport.close(),
      expect(asked).rejects.toMatchObject({ code: "closed" }),
    ]);
  });

  it.each([
    ["before the headers", () => {}],
    ["before the announcement", openEvents],
  ])("TRN-07: while connecting is safe, %s", async (_when, begin) => {
    await using server = await ScriptedServer.start((_request, response) => {
      begin(response);
      server.note("GET");
    });
    const clock = new WaitingClock();
    const wire = createSseWire(server.url, { clock });
    const starting = wire.transport.start();
    await server.until(() => server.notes.length === 1);
    await Promise.all([
      wire.transport.close(),
      expect(starting).rejects.toMatchObject({ code: "closed" }),
    ]);
    await server.until(() => server.sockets.size === 0);
    expect(clock.cancelCount).toBeGreaterThan(0);
    expect(wire.transport.failure).toBeUndefined();
    expect(wire.closeCount).toBe(1);
  });

  it("TRN-07: at once after the start leaves nothing open", async () => {
    await using server = await startSseServer(announcement, accept);
    const wire = createSseWire(server.sseUrl);
    const starting = wire.transport.start();
    await Promise.all([
      wire.transport.close(),
      expect(starting).rejects.toMatchObject({ code: "closed" }),
    ]);
    expect(server.requests).toEqual([]);
  });

  it("TRN-07: from a handler of a message is safe", async () => {
    await using server = await startSseServer(announcement, accept);
    const wire = await openSseWire(server.sseUrl);
    const over = ended(wire);
    wire.transport.onmessage = () => void wire.transport.close();
    server.streams.write("data: {}\n\ndata: {}\n\n");
    await over;
    await server.until(() => server.sockets.size === 0);
  });
});
