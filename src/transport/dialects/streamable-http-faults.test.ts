import { once } from "node:events";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { brotliCompressSync, createGzip, deflateSync, gzipSync } from "node:zlib";

import type { Dispatcher } from "undici";
import { describe, expect, it } from "vitest";

import {
  ScriptedServer,
  answerPlainly,
  answerTo,
  openEvents,
  sendJson,
} from "../../../tests/fixtures/http/scripted-server.ts";
import {
  ImpatientClock,
  WaitingClock,
  initialize,
  openWire,
} from "../../../tests/fixtures/http/wire.ts";

const mib = 1_024 * 1_024;

describe("no connection", () => {
  it("ERR-02, ERR-15: a port nobody listens on is named in plain words", async () => {
    const probe = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => probe.once("listening", resolve));
    const { port } = probe.address() as AddressInfo;
    await new Promise((resolve) => probe.close(resolve));
    await using wire = await openWire(`http://127.0.0.1:${port}/mcp`);
    await expect(wire.request("ping")).rejects.toMatchObject({
      name: "McpConnectionError",
      code: "unreachable",
      message: `connection refused at 127.0.0.1:${port} (nothing is listening)`,
      serverName: "api",
      transport: "streamable-http",
      retryable: true,
    });
    expect(wire.transport.failure).toBeUndefined();
  });

  it("ERR-02: a host that does not exist is named", async () => {
    await using wire = await openWire("http://nowhere.invalid/mcp");
    await expect(wire.request("ping")).rejects.toMatchObject({
      code: "unreachable",
      message: expect.stringContaining("nowhere.invalid"),
    });
  });

  it("ERR-02: TLS against a plain server is explained", async () => {
    await using server = await ScriptedServer.start(answerPlainly);
    await using wire = await openWire(server.url.replace("http:", "https:"));
    await expect(wire.request("ping")).rejects.toMatchObject({
      code: "unreachable",
      message: expect.stringContaining("does not speak TLS"),
    });
  });

  it("F5: something that does not speak HTTP is explained", async () => {
    const tcp = createServer((socket) => {
      socket.on("error", () => {});
      socket.once("data", () => socket.end("220 mail.example ESMTP\r\n"));
    }).listen(0, "127.0.0.1");
    await new Promise((resolve) => tcp.once("listening", resolve));
    await using wire = await openWire(
      `http://127.0.0.1:${(tcp.address() as AddressInfo).port}/mcp`,
    );
    await expect(wire.request("ping")).rejects.toMatchObject({
      code: "http_error",
      message: expect.stringContaining("does not speak HTTP"),
    });
    tcp.close();
  });
});

describe("a broken connection", () => {
  it("F3, B-N23: a request that was reset is lost, not repeated", async () => {
    await using server = await ScriptedServer.start((_request, response) =>
      response.socket?.resetAndDestroy(),
    );
    await using wire = await openWire(server.url);
    await expect(wire.request("tools/call")).rejects.toMatchObject({ code: "connection_lost" });
    expect(server.requests).toHaveLength(1);
  });

  it.each(["application/json", "text/event-stream"])(
    "F3: an answer (%s) that breaks off in the middle is lost at once",
    async (type) => {
      await using server = await ScriptedServer.start((request, response) => {
        const prefix = type === "text/event-stream" ? "data: " : "";
        const half = (prefix + answerTo(request)).slice(0, 20);
        response.writeHead(200, { "content-type": type });
        response.write(half, () => response.socket?.destroy());
      });
      await using wire = await openWire(server.url);
      await expect(wire.request("tools/call")).rejects.toMatchObject({ code: "connection_lost" });
      expect(server.requests).toHaveLength(1);
    },
  );

  it("F3: a stream that ends without the answer fails the call at once", async () => {
    await using server = await ScriptedServer.start((_request, response) => {
      openEvents(response);
      response.end('data: {"jsonrpc":"2.0","method":"notifications/message"}\n\n');
    });
    await using wire = await openWire(server.url);
    await expect(wire.request("tools/call")).rejects.toMatchObject({
      code: "connection_lost",
      message: "the server ended the stream before the answer",
    });
  });

  it("F2: a body shorter than announced is lost, not waited for", async () => {
    await using server = await ScriptedServer.start((request, response) => {
      const body = answerTo(request);
      response.writeHead(200, {
        "content-type": "application/json",
        "content-length": body.length + 10,
        connection: "close",
      });
      response.write(body, () => response.socket?.end());
    });
    await using wire = await openWire(server.url);
    await expect(wire.request("ping")).rejects.toMatchObject({ code: "connection_lost" });
  });

  it("B-N23: 503 and a dead connection never make the transport send a call again", async () => {
    await using server = await ScriptedServer.start((request, response) => {
      if (request.message.method === "busy") response.writeHead(503).end();
      else response.socket?.destroy();
    });
    await using wire = await openWire(server.url);
    await expect(wire.request("busy")).rejects.toMatchObject({ code: "http_error" });
    await expect(wire.request("dead")).rejects.toMatchObject({ code: "connection_lost" });
    expect(server.requests).toHaveLength(2);
  });
});

describe("deadlines", () => {
  it("F2, SHT-10, ERR-13: a server that never sends headers", async () => {
    await using server = await ScriptedServer.start((_request, response) => {
      response.on("close", () => server.note("cut off"));
    });
    await using wire = await openWire(server.url, { limits: { callTimeoutMs: 50 } });
    await expect(wire.request("ping")).rejects.toMatchObject({
      name: "McpTimeoutError",
      code: "timeout",
    });
    await server.until(() => server.notes.length === 1);
  });

  it("F2, SHT-10: a server that stops in the middle of the body", async () => {
    await using server = await ScriptedServer.start((_request, response) => {
      response.on("close", () => server.note("cut off"));
      response.writeHead(200, { "content-type": "application/json" }).write('{"jsonrpc"');
    });
    await using wire = await openWire(server.url, { limits: { callTimeoutMs: 50 } });
    await expect(wire.request("ping")).rejects.toMatchObject({ code: "timeout" });
    await server.until(() => server.notes.length === 1);
  });

  it("F2, SHT-10: a server that does not read what it is sent", async () => {
    const tcp = createServer((socket) => socket.on("error", () => {}).pause()).listen(
      0,
      "127.0.0.1",
    );
    await once(tcp, "listening");
    const { port } = tcp.address() as AddressInfo;
    await using wire = await openWire(`http://127.0.0.1:${port}/mcp`, {
      limits: { callTimeoutMs: 100 },
    });
    const text = "x".repeat(16 * mib);
    await expect(wire.request("tools/call", { text })).rejects.toMatchObject({ code: "timeout" });
    tcp.close();
  });

  it("F2: a cancellation that nobody confirms is given up sooner than a call", async () => {
    const timeoutsMs: unknown[] = [];
    const dispatcher = {
      dispatch: ({ headersTimeout }: { readonly headersTimeout?: number | null }) => {
        timeoutsMs.push(headersTimeout);
        return true;
      },
    } as unknown as Dispatcher;
    await using wire = await openWire("http://127.0.0.1/mcp", { dispatcher });
    const sent = ["notifications/cancelled", "notifications/initialized"].map((method) =>
      expect(wire.notify(method)).rejects.toMatchObject({ code: "closed" }),
    );
    await wire.transport.close();
    await Promise.all(sent);
    expect(timeoutsMs).toEqual([5_000, 30_000]);
  });

  it("F2: a request whose owner keeps the deadline is left to them", async () => {
    let release: (() => void) | undefined;
    await using server = await ScriptedServer.start((request, response) => {
      if (request.message.method === "short") return;
      release = () => sendJson(response, answerTo(request));
    });
    await using wire = await openWire(server.url, { limits: { callTimeoutMs: 20 } });
    const owned = wire.request("long", {}, { requestSignal: new AbortController().signal });
    await server.until(() => server.requests.length === 1);
    await expect(wire.request("short")).rejects.toMatchObject({ code: "timeout" });
    release?.();
    expect((await owned).result).toEqual({ ok: true });
  });
});

describe("floods", () => {
  it("A14: a response whose messages are dropped is not read for a while, and then to its end", async () => {
    const steps: string[] = [];
    const event = (message: object): Buffer => Buffer.from(`data: ${JSON.stringify(message)}\n\n`);
    const dispatcher = {
      dispatch(_: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler) {
        const controller = {
          pause: () => void steps.push("pause"),
          resume() {
            steps.push("resume");
            handler.onResponseData?.(controller, event({ jsonrpc: "2.0", id: 1, result: {} }));
            handler.onResponseEnd?.(controller, {});
          },
        } as Dispatcher.DispatchController;
        const headers = { "content-type": "text/event-stream" };
        handler.onRequestStart?.(controller, {});
        handler.onResponseStart?.(controller, 200, headers);
        handler.onResponseData?.(controller, event({ jsonrpc: "2.0", method: "junk" }));
        return true;
      },
    } as unknown as Dispatcher;
    await using wire = await openWire("http://127.0.0.1/mcp", { dispatcher });
    const { transport } = wire;
    const { onmessage } = transport;
    transport.onmessage = (message) => {
      if ("method" in message) transport.slowDown?.();
      onmessage?.(message);
    };
    await wire.request("ping");
    expect(steps).toEqual(["pause", "resume"]);
  });
});

describe("size", () => {
  it("F4, SHT-10: a JSON body over the limit is cut off", async () => {
    await using server = await ScriptedServer.start((request, response) => {
      response.on("close", () => server.note("cut off"));
      response.writeHead(200, { "content-type": "application/json" });
      response.write(`{"jsonrpc":"2.0","id":${request.message.id},"result":{"a":"`);
      const more = (): void => {
        while (!response.destroyed && response.write("x".repeat(65_536)));
      };
      response.on("drain", more);
      more();
    });
    await using wire = await openWire(server.url, { limits: { maxMessageBytes: 1_000_000 } });
    await expect(wire.request("ping")).rejects.toMatchObject({
      name: "McpTransportError",
      code: "too_large",
      details: { maxBytes: 1_000_000 },
    });
    await server.until(() => server.notes.length === 1);
  });

  it("F4, SHT-10: an event without an end is cut off", async () => {
    await using server = await ScriptedServer.start((_request, response) => {
      response.on("close", () => server.note("cut off"));
      openEvents(response);
      response.write("data: ");
      const more = (): void => {
        while (!response.destroyed && response.write("x".repeat(65_536)));
      };
      response.on("drain", more);
      more();
    });
    await using wire = await openWire(server.url, { limits: { maxMessageBytes: 1_000_000 } });
    await expect(wire.request("ping")).rejects.toMatchObject({ code: "too_large" });
    await server.until(() => server.notes.length === 1);
  });

  it.each(["application/json", "text/event-stream"])(
    "F4: a compressed body (%s) is counted as it unfolds, and given up at the limit",
    async (type) => {
      await using server = await ScriptedServer.start((_request, response) => {
        response.on("close", () => server.note("cut off"));
        response.writeHead(200, { "content-type": type, "content-encoding": "gzip" });
        const gzip = createGzip();
        gzip.pipe(response);
        response.on("close", () => gzip.destroy());
        gzip.write(type === "text/event-stream" ? "data: " : '{"a":"');
        const zeros = Buffer.alloc(mib, "0");
        for (let count = 0; count < 256; count += 1) gzip.write(zeros);
        gzip.end();
      });
      await using wire = await openWire(server.url, { limits: { maxMessageBytes: mib } });
      const before = process.memoryUsage().rss;
      await expect(wire.request("ping")).rejects.toMatchObject({ code: "too_large" });
      expect(process.memoryUsage().rss - before).toBeLessThan(64 * mib);
      await server.until(() => server.notes.length === 1);
    },
  );

  it("SHT-10: a message exactly as large as the limit is taken, one byte more is not", async () => {
    const result = { text: "é".repeat(50_000) };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, result });
    const maxMessageBytes = Buffer.byteLength(body);
    await using server = await ScriptedServer.start((request, response) => {
      const padding = request.message.params?.["pad"] === true ? " " : "";
      if (request.message.params?.["stream"] !== true)
        return sendJson(response, body.replace('"id":1', `"id":${request.message.id}`) + padding);
      openEvents(response);
      const text = body.replace('"id":1', `"id":${request.message.id}`) + padding;
      return response.end(`data: ${text}\n\n`);
    });
    await using wire = await openWire(server.url, { limits: { maxMessageBytes } });
    expect((await wire.request("a", { stream: false })).result).toEqual(result);
    expect((await wire.request("b", { stream: true })).result).toEqual(result);
    for (const stream of [false, true])
      await expect(wire.request("c", { stream, pad: true })).rejects.toMatchObject({
        code: "too_large",
      });
  });

  it.each([
    ["gzip", gzipSync],
    ["br", brotliCompressSync],
    ["deflate", deflateSync],
  ] as const)("SHT-10: a body compressed with %s is read", async (encoding, compress) => {
    await using server = await ScriptedServer.start((request, response) => {
      response.writeHead(200, {
        "content-type": "application/json",
        "content-encoding": encoding,
      });
      response.end(compress(answerTo(request, { text: "é".repeat(100_000) })));
    });
    await using wire = await openWire(server.url);
    expect((await wire.request("ping")).result?.["text"]).toHaveLength(100_000);
  });

  it("SHT-04: events of a compressed stream arrive while it is open", async () => {
    let finish: (() => void) | undefined;
    await using server = await ScriptedServer.start((request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream", "content-encoding": "gzip" });
      const gzip = createGzip();
      gzip.pipe(response);
      gzip.write('data: {"jsonrpc":"2.0","method":"notifications/message"}\n\n');
      gzip.flush();
      finish = () => gzip.end(`data: ${answerTo(request)}\n\n`);
    });
    await using wire = await openWire(server.url);
    const answer = wire.request("ping");
    await wire.until((received) => received.length === 1);
    finish?.();
    await answer;
  });

  it("F3: a compressed body that is cut short or broken fails the call", async () => {
    await using server = await ScriptedServer.start((request, response) => {
      const packed = gzipSync(answerTo(request, { text: "abc".repeat(1_000) }));
      response.writeHead(200, {
        "content-type": "application/json",
        "content-encoding": "gzip",
      });
      response.end(request.message.method === "cut" ? packed.subarray(0, 40) : "no gzip at all");
    });
    await using wire = await openWire(server.url);
    for (const method of ["cut", "broken"])
      await expect(wire.request(method)).rejects.toMatchObject({ code: "connection_lost" });
  });

  it("F3: a compressed body that is reset while it is being decoded is lost, and nothing else", async () => {
    const body = gzipSync(Buffer.alloc(24 * mib));
    const head = ["content-type: application/json", "content-encoding: gzip", "connection: close"];
    const tcp = createServer((socket) => {
      socket.on("error", () => {});
      socket.once("data", () => {
        socket.write(`HTTP/1.1 200 OK\r\n${head.join("\r\n")}\r\n\r\n`);
        socket.write(body.subarray(0, -1_000), () => socket.resetAndDestroy());
      });
    }).listen(0, "127.0.0.1");
    await once(tcp, "listening");
    const { port } = tcp.address() as AddressInfo;
    await using wire = await openWire(`http://127.0.0.1:${port}/mcp`, {
      limits: { maxMessageBytes: 100 * mib },
    });
    for (let count = 0; count < 5; count += 1)
      await expect(wire.request("ping")).rejects.toMatchObject({ code: "connection_lost" });
    tcp.close();
  });

  it("F5: an empty body that claims to be compressed is just empty", async () => {
    await using server = await ScriptedServer.start((_request, response) => {
      response.writeHead(401, { "content-encoding": "gzip" }).end();
    });
    await using wire = await openWire(server.url);
    await expect(wire.request("ping")).rejects.toMatchObject({ code: "auth_required" });
  });

  it("F5: an encoding nobody knows is named", async () => {
    await using server = await ScriptedServer.start((_request, response) => {
      response.writeHead(200, { "content-encoding": "zstd-9" }).end("x");
    });
    await using wire = await openWire(server.url);
    await expect(wire.request("ping")).rejects.toMatchObject({
      code: "http_error",
      message: expect.stringContaining("zstd-9"),
    });
  });

  it("F5: headers over the limit are refused", async () => {
    await using server = await ScriptedServer.start((_request, response) => {
      response.writeHead(200, { "x-huge": "x".repeat(64_000) }).end("{}");
    });
    await using wire = await openWire(server.url);
    await expect(wire.request("ping")).rejects.toMatchObject({ code: "too_large" });
  });
});

describe("answers that are no success", () => {
  it.each([301, 302, 303, 307, 308])(
    "F6: HTTP %i is not followed; only the origin of its target is named",
    async (status) => {
      await using trap = await ScriptedServer.start(answerPlainly);
      await using server = await ScriptedServer.start((_request, response) => {
        response.writeHead(status, { location: `${trap.origin}/steal?token=abc` }).end();
      });
      await using wire = await openWire(server.url, { headers: { "x-api-key": "k" } });
      const failure = await wire.request("tools/call").catch((error: unknown) => error);
      expect(failure).toMatchObject({
        code: "http_error",
        details: { status, redirectOrigin: trap.origin },
      });
      expect(JSON.stringify(failure)).not.toMatch(/steal|abc/);
      expect(trap.requests).toEqual([]);
      expect(server.requests).toHaveLength(1);
    },
  );

  it("AUT-01: 401 asks for a sign-in and tells where, by host only", async () => {
    await using server = await ScriptedServer.start((_request, response) => {
      const challenge =
        'Bearer error="invalid_token", scope="read write", resource_metadata="https://auth.example.com/.well-known/x?t=1"';
      response.writeHead(401, { "www-authenticate": challenge }).end("nope");
    });
    await using wire = await openWire(server.url);
    await expect(wire.request("ping")).rejects.toMatchObject({
      name: "McpAuthError",
      code: "auth_required",
      message: "sign-in needed (HTTP 401)",
      details: {
        status: 401,
        wwwAuthenticate: {
          scheme: "Bearer",
          error: "invalid_token",
          scope: "read write",
          resourceMetadataHost: "auth.example.com",
        },
      },
    });
  });

  it("AUT-01: 403 is about rights, too", async () => {
    await using server = await ScriptedServer.start((_request, response) =>
      response.writeHead(403).end(),
    );
    await using wire = await openWire(server.url);
    await expect(wire.request("ping")).rejects.toMatchObject({ code: "auth_required" });
  });

  it("F1: 429 says when to come back, within reason", async () => {
    await using server = await ScriptedServer.start((request, response) => {
      const retryAfter = String(request.message.params?.["after"]);
      response.writeHead(429, { "retry-after": retryAfter }).end();
    });
    await using wire = await openWire(server.url);
    const cases = [
      ["2", 2_000],
      ["999999", 300_000],
      ["Thu, 01 Jan 1970 00:00:00 GMT", 0],
      ["soon", undefined],
    ] as const;
    for (const [after, retryAfterMs] of cases) {
      const failure = await wire.request("ping", { after }).catch((error: unknown) => error);
      expect(failure).toMatchObject({ code: "http_error", retryable: true });
      expect((failure as { details: object }).details).toEqual({
        transport: "streamable-http",
        status: 429,
        ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
      });
    }
  });

  it("F5: a web page instead of an answer is told by its title", async () => {
    const page = "<!doctype html><html><head><title>Sign in\n to Wi-Fi</title></head></html>";
    await using server = await ScriptedServer.start((_request, response) => {
      response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(page);
    });
    await using wire = await openWire(server.url);
    await expect(wire.request("ping")).rejects.toMatchObject({
      code: "http_error",
      message: expect.stringMatching(/text\/html.* Sign in to Wi-Fi$/),
      details: { status: 200 },
    });
  });

  it("F5: a message under the wrong content type is not taken", async () => {
    await using server = await ScriptedServer.start((request, response) => {
      response.writeHead(200, { "content-type": "text/plain" }).end(answerTo(request));
    });
    await using wire = await openWire(server.url);
    await expect(wire.request("ping")).rejects.toMatchObject({ code: "http_error" });
    expect(wire.received).toEqual([]);
  });

  it("ERR-16: an error page is quoted short, harmless and without known secrets", async () => {
    await using server = await ScriptedServer.start((_request, response) => {
      const text = `\u001B[31mboom\u001B[0m hunter2-key ${"x".repeat(5_000)}`;
      response.writeHead(500, { "content-type": "text/plain" }).end(text);
    });
    await using wire = await openWire(server.url, { secrets: ["hunter2-key"] });
    const failure = (await wire.request("ping").catch((error: unknown) => error)) as Error;
    expect(failure.message).toMatch(/HTTP 500: boom \[redacted\] x+…$/);
    expect(failure.message.length).toBeLessThan(300);
  });

  it("F1: one failed call leaves the transport usable", async () => {
    let isDown = true;
    await using server = await ScriptedServer.start((request, response) => {
      if (isDown) return response.writeHead(500).end();
      return answerPlainly(request, response);
    });
    await using wire = await openWire(server.url);
    await expect(wire.request("ping")).rejects.toMatchObject({ code: "http_error" });
    isDown = false;
    await wire.request("ping");
    expect(wire.closeCount).toBe(0);
    expect(wire.transport.failure).toBeUndefined();
  });
});

describe("a stream that breaks before the answer", () => {
  it("SHT-08: it is resumed after the time the server asks for, from the last event", async () => {
    const clock = new ImpatientClock();
    await using server = await ScriptedServer.start((request, response) => {
      openEvents(response);
      if (request.method === "POST") return response.end("id: event-1\nretry: 500\ndata: \n\n");
      return response.end(`id: event-2\ndata: ${answerTo(server.requests[0] ?? request)}\n\n`);
    });
    await using wire = await openWire(server.url, { clock });
    await wire.request("tools/call");
    expect(server.requests.map(({ method }) => method)).toEqual(["POST", "GET"]);
    expect(server.requests[1]?.headers["last-event-id"]).toBe("event-1");
    expect(clock.delaysMs[0]).toBe(500);
  });

  it.each([
    ["0", 100],
    ["99999999", 30_000],
  ])("SHT-08: a wish of %s ms is brought within reason", async (retry, delayMs) => {
    const clock = new ImpatientClock();
    await using server = await ScriptedServer.start((request, response) => {
      openEvents(response);
      if (request.method === "POST") return response.end(`id: 1\nretry: ${retry}\ndata: \n\n`);
      return response.end(`data: ${answerTo(server.requests[0] ?? request)}\n\n`);
    });
    await using wire = await openWire(server.url, { clock });
    await wire.request("tools/call");
    expect(clock.delaysMs[0]).toBe(delayMs);
  });

  it("SHT-08: three fruitless tries, then the call is lost", async () => {
    await using server = await ScriptedServer.start((request, response) => {
      if (request.method === "GET") return response.writeHead(503).end();
      openEvents(response);
      return response.end("id: 1\ndata: \n\n");
    });
    await using wire = await openWire(server.url, { clock: new ImpatientClock() });
    await expect(wire.request("tools/call")).rejects.toMatchObject({ code: "connection_lost" });
    expect(server.requests.map(({ method }) => method)).toEqual(["POST", "GET", "GET", "GET"]);
  });

  it("SHT-08: a server that keeps sending events may be resumed more often", async () => {
    let count = 0;
    await using server = await ScriptedServer.start((request, response) => {
      count += 1;
      openEvents(response);
      const data = count === 8 ? answerTo(server.requests[0] ?? request) : "";
      response.end(`id: ${count}\ndata: ${data}\n\n`);
    });
    await using wire = await openWire(server.url, { clock: new ImpatientClock() });
    await wire.request("tools/call");
    expect(server.requests.map(({ headers }) => headers["last-event-id"])).toEqual([
      undefined,
      "1",
      "2",
      "3",
      "4",
      "5",
      "6",
      "7",
    ]);
  });

  it("F7: even then the total time of a call bounds it", async () => {
    let count = 0;
    await using server = await ScriptedServer.start((_request, response) => {
      count += 1;
      openEvents(response);
      response.end(`id: ${count}\nretry: 30000\ndata: \n\n`);
    });
    await using wire = await openWire(server.url, {
      clock: new ImpatientClock(),
      limits: { totalCallTimeoutMs: 300_000 },
    });
    await expect(wire.request("tools/call")).rejects.toMatchObject({ code: "connection_lost" });
    expect(count).toBeLessThan(15);
  });

  it.each([405, 400])(
    "SHT-08: a server that refuses (HTTP %i) is not asked again",
    async (status) => {
      await using server = await ScriptedServer.start((request, response) => {
        if (request.method === "GET") return response.writeHead(status).end();
        openEvents(response);
        return response.end("id: 1\ndata: \n\n");
      });
      await using wire = await openWire(server.url, { clock: new ImpatientClock() });
      await expect(wire.request("tools/call")).rejects.toMatchObject({ code: "connection_lost" });
      expect(server.requests).toHaveLength(2);
    },
  );

  it("SHT-06: a session lost meanwhile is reported as such", async () => {
    await using server = await ScriptedServer.start((request, response) => {
      if (request.method === "GET") return response.writeHead(404).end();
      response.setHeader("mcp-session-id", "s");
      if (request.message.method === "initialize") return answerPlainly(request, response);
      openEvents(response);
      return response.end("id: 1\ndata: \n\n");
    });
    await using wire = await openWire(server.url, { clock: new ImpatientClock() });
    await initialize(wire);
    await expect(wire.request("tools/call")).rejects.toMatchObject({
      code: "connection_lost",
      details: { sessionLost: true },
    });
  });

  it("B-P1: in the modern era nothing is resumed", async () => {
    await using server = await ScriptedServer.start((_request, response) => {
      openEvents(response);
      response.end("id: 1\ndata: \n\n");
    });
    await using wire = await openWire(server.url, { clock: new ImpatientClock() });
    const meta = { "io.modelcontextprotocol/protocolVersion": "2026-07-28" };
    await expect(wire.request("tools/call", { _meta: meta })).rejects.toMatchObject({
      code: "connection_lost",
    });
    expect(server.requests).toHaveLength(1);
  });

  it("TRN-07: closing while a call waits to resume ends it", async () => {
    await using server = await ScriptedServer.start((_request, response) => {
      openEvents(response);
      response.end("id: 1\nretry: 30000\ndata: \n\n");
    });
    const clock = new WaitingClock();
    const wire = await openWire(server.url, { clock });
    const call = expect(wire.request("tools/call")).rejects.toMatchObject({ code: "closed" });
    await clock.isAsked;
    await wire.transport.close();
    await call;
    expect(server.requests).toHaveLength(1);
    expect(clock.cancelCount).toBe(1);
  });
});
