import type { ServerResponse } from "node:http";

import { describe, expect, it } from "vitest";

import {
  ScriptedServer,
  answerPlainly,
  answerTo,
  openEvents,
} from "../../../tests/fixtures/http/scripted-server.ts";
import {
  ImpatientClock,
  createWire,
  initialize,
  openWire,
} from "../../../tests/fixtures/http/wire.ts";

const hello = '{"jsonrpc":"2.0","method":"notifications/message"}';
/** The waits of the listener, without the second that answered messages get to end. */
function waits(clock: ImpatientClock): number[] {
  return clock.delaysMs.filter((delayMs) => delayMs !== 1_000);
}

const isGet = ({ method }: { readonly method: string }): boolean => method === "GET";

describe("the server's own stream", () => {
  it("SHT-08: it opens once the handshake is over, and its messages arrive", async () => {
    await using server = await ScriptedServer.start((request, response) => {
      if (request.method !== "GET") return answerPlainly(request, response);
      openEvents(response);
      return response.write(`data: ${hello}\n\n`);
    });
    await using wire = await openWire(server.url);
    await wire.request("ping");
    expect(server.requests.some(isGet)).toBe(false);
    await wire.notify("notifications/initialized");
    await wire.until((received) => received.some(({ method }) => method !== undefined));
    expect(server.requests.find(isGet)?.headers.accept).toBe("text/event-stream");
  });

  it("SHT-08: an answer that comes there is the answer, and its request's connection is taken back", async () => {
    let stream: ServerResponse | undefined;
    await using server = await ScriptedServer.start((request, response) => {
      if (request.message.method !== "tools/call" && request.method !== "GET")
        return answerPlainly(request, response);
      if (request.method === "POST") return stream?.write(`data: ${answerTo(request)}\n\n`);
      openEvents(response);
      stream = response;
      return response.write(`data: ${hello}\n\n`);
    });
    await using wire = await openWire(server.url, { clock: new ImpatientClock() });
    await wire.notify("notifications/initialized");
    await wire.until((received) => received.length === 1);
    // More than there are connections for calls.
    for (let count = 0; count < 50; count += 1)
      expect((await wire.request("tools/call")).result).toEqual({ ok: true });
    await server.until(() => server.sockets.size < 3);
  });

  it.each([405, 404, 400, 401, 302, 200])(
    "SHT-08: a server without one (HTTP %i) is asked once and works on",
    async (status) => {
      await using server = await ScriptedServer.start((request, response) => {
        if (request.method !== "GET") return answerPlainly(request, response);
        return response.writeHead(status).end(() => server.note("refused"));
      });
      const clock = new ImpatientClock();
      await using wire = await openWire(server.url, { clock });
      const errors: Error[] = [];
      wire.transport.onerror = (error) => errors.push(error);
      await wire.notify("notifications/initialized");
      await server.until(() => server.notes.length === 1);
      for (let count = 0; count < 5; count += 1) await wire.request("ping");
      expect(server.requests.filter(isGet)).toHaveLength(1);
      expect(waits(clock)).toEqual([]);
      expect(errors).toEqual([]);
      expect(wire.closeCount).toBe(0);
    },
  );

  it("SHT-08: it comes back after its end, from the last event, at the pace the server asks for", async () => {
    let count = 0;
    await using server = await ScriptedServer.start((request, response) => {
      if (request.method !== "GET") return answerPlainly(request, response);
      count += 1;
      openEvents(response);
      const event = `id: e${count}\nretry: 200\ndata: ${hello}\n\n`;
      return count < 3 ? response.end(event) : response.write(event);
    });
    const clock = new ImpatientClock();
    await using wire = await openWire(server.url, { clock });
    await wire.notify("notifications/initialized");
    await wire.until((received) => received.length === 3);
    const ids = server.requests.filter(isGet).map(({ headers }) => headers["last-event-id"]);
    expect(ids).toEqual([undefined, "e1", "e2"]);
    expect(waits(clock)).toEqual([200, 400]);
  });

  it("SHT-08: a server that ends it at once is asked ever more slowly", async () => {
    await using server = await ScriptedServer.start((request, response) => {
      if (request.method !== "GET") return answerPlainly(request, response);
      openEvents(response);
      return response.end("retry: 0\n\n");
    });
    const clock = new ImpatientClock();
    await using wire = await openWire(server.url, { clock });
    await wire.notify("notifications/initialized");
    await server.until(() => server.requests.filter(isGet).length === 12);
    expect(waits(clock).slice(0, 11)).toEqual([
      100, 200, 400, 800, 1_600, 3_200, 6_400, 12_800, 25_600, 30_000, 30_000,
    ]);
  });

  it("SHT-08: a server that keeps failing is left alone after a while, and calls still work", async () => {
    await using server = await ScriptedServer.start((request, response) => {
      if (request.method !== "GET") return answerPlainly(request, response);
      return response.writeHead(503).end(() => server.note("failed"));
    });
    await using wire = await openWire(server.url, { clock: new ImpatientClock() });
    await wire.notify("notifications/initialized");
    await server.until(() => server.notes.length === 6);
    for (let count = 0; count < 5; count += 1) await wire.request("ping");
    expect(server.requests.filter(isGet)).toHaveLength(6);
    expect(wire.closeCount).toBe(0);
  });

  it("SHT-06: a new session gets a stream of its own, from the beginning", async () => {
    let session = 0;
    await using server = await ScriptedServer.start((request, response) => {
      if (request.message.method === "initialize")
        response.setHeader("mcp-session-id", `s${(session += 1)}`);
      if (request.method !== "GET") return answerPlainly(request, response);
      openEvents(response);
      return response.write(`id: e1\ndata: ${hello}\n\n`);
    });
    await using wire = await openWire(server.url);
    for (const count of [1, 2]) {
      await initialize(wire);
      await wire.notify("notifications/initialized");
      await wire.until((received) => received.filter(({ method }) => method).length === count);
    }
    const streams = server.requests.filter(isGet).map(({ headers }) => headers);
    expect(streams.map((headers) => headers["mcp-session-id"])).toEqual(["s1", "s2"]);
    expect(streams[1]?.["last-event-id"]).toBeUndefined();
  });

  it("SHT-10: it takes none of the connections of calls", async () => {
    await using server = await ScriptedServer.start((request, response) => {
      if (request.method !== "GET") return answerPlainly(request, response);
      openEvents(response);
      return server.note("open");
    });
    await using wire = await openWire(server.url);
    await wire.notify("notifications/initialized");
    await server.until(() => server.notes.length === 1);
    await Promise.all(Array.from({ length: 100 }, () => wire.request("ping")));
  });

  it("TRN-07: closing ends it and it stays closed", async () => {
    await using server = await ScriptedServer.start((request, response) => {
      if (request.method !== "GET") return answerPlainly(request, response);
      openEvents(response);
      return response.write(`retry: 200\ndata: ${hello}\n\n`);
    });
    const clock = new ImpatientClock();
    const wire = await openWire(server.url, { clock });
    await wire.notify("notifications/initialized");
    await wire.until((received) => received.length === 1);
    await wire.transport.close();
    await server.until(() => server.sockets.size === 0);
    expect(waits(clock)).toEqual([]);
  });
});

describe("a required stream", () => {
  it("SHT-03: it opens after the handshake, and the handshake waits for it", async () => {
    let open: (() => void) | undefined;
    await using server = await ScriptedServer.start((request, response) => {
      if (request.method !== "GET") return answerPlainly(request, response);
      open = () => openEvents(response);
    });
    await using wire = await openWire(server.url, { method: "GET" });
    await wire.request("ping");
    expect(server.requests.filter(isGet)).toEqual([]);
    let isReady = false;
    const ready = wire.notify("notifications/initialized").then(() => (isReady = true));
    await server.until(() => server.requests.some(isGet));
    await wire.request("ping");
    expect(isReady).toBe(false);
    open?.();
    await ready;
    for (let count = 0; count < 10; count += 1) await wire.request("ping");
    expect(server.requests.filter(isGet)).toHaveLength(1);
  });

  it("SHT-03: a silent one outlives the time for opening it", async () => {
    let send: (() => void) | undefined;
    await using server = await ScriptedServer.start((request, response) => {
      if (request.message.method === "silent") return;
      if (request.method !== "GET") return answerPlainly(request, response);
      openEvents(response);
      send = () => void response.write(`data: ${hello}\n\n`);
    });
    await using wire = await openWire(server.url, {
      method: "GET",
      limits: { connectTimeoutMs: 1_000, callTimeoutMs: 1_200 },
    });
    await wire.notify("notifications/initialized");
    await expect(wire.request("silent")).rejects.toMatchObject({ code: "timeout" });
    send?.();
    await wire.until((received) => received.length === 1);
    expect(server.requests.filter(isGet)).toHaveLength(1);
  });

  it.each([
    [405, "config_invalid"],
    [400, "config_invalid"],
    [200, "config_invalid"],
    [401, "auth_required"],
    [503, "http_error"],
  ])("SHT-03: a server without it (HTTP %i) cannot be used", async (status, code) => {
    await using server = await ScriptedServer.start((request, response) => {
      if (request.method !== "GET") return answerPlainly(request, response);
      return response.writeHead(status, { "content-type": "text/plain" }).end("no");
    });
    await using wire = await openWire(server.url, { method: "GET" });
    const ready = wire.notify("notifications/initialized");
    await expect(ready).rejects.toMatchObject({ code, details: { status } });
    expect(server.requests.filter(isGet)).toHaveLength(1);
  });

  it("SHT-03: a server that does not open it in time cannot be used", async () => {
    await using server = await ScriptedServer.start((request, response) => {
      if (request.method !== "GET") return answerPlainly(request, response);
    });
    const limits = { connectTimeoutMs: 50 };
    await using wire = await openWire(server.url, { method: "GET", limits });
    const ready = wire.notify("notifications/initialized");
    await expect(ready).rejects.toMatchObject({ code: "timeout" });
  });

  it("TRN-07: closing while it is being opened ends the wait", async () => {
    await using server = await ScriptedServer.start((request, response) => {
      if (request.method !== "GET") return answerPlainly(request, response);
    });
    const wire = createWire(server.url, { method: "GET" });
    await wire.transport.start();
    const ready = expect(wire.notify("notifications/initialized")).rejects.toMatchObject({
      code: "closed",
    });
    await server.until(() => server.requests.some(isGet));
    await wire.transport.close();
    await ready;
    expect(wire.transport.failure).toBeUndefined();
  });
});
