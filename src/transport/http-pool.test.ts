import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";

import { describe, expect, it } from "vitest";

import {
  ScriptedServer,
  answerPlainly,
  answerTo,
  openEvents,
} from "../../tests/fixtures/http/scripted-server.ts";
import {
  ImpatientClock,
  WaitingClock,
  createWire,
  initialize,
  openWire,
} from "../../tests/fixtures/http/wire.ts";
import { defaultLimits } from "../config/limits.ts";
import { OriginPools, originPools } from "./http-pool.ts";

describe("OriginPools", () => {
  it("SHT-10: servers on one origin share their connections until the last one leaves", async () => {
    const pools = new OriginPools();
    const settings = { origin: "http://127.0.0.1:9", connectTimeoutMs: 1_000 };
    const [first, second] = await Promise.all([pools.acquire(settings), pools.acquire(settings)]);
    expect(first.calls).toBe(second.calls);
    expect(first.streams).not.toBe(first.calls);
    await Promise.all([first.release(), first.release()]);
    const third = await pools.acquire(settings);
    expect(third.calls).toBe(second.calls);
    await second.release();
    await third.release();
    const fourth = await pools.acquire(settings);
    expect(fourth.calls).not.toBe(third.calls);
    await fourth.release();
  });

  it("SHT-10: other origins and other deadlines have connections of their own", async () => {
    const pools = new OriginPools();
    const origin = "http://127.0.0.1:9";
    const leases = await Promise.all([
      pools.acquire({ origin, connectTimeoutMs: 1 }),
      pools.acquire({ origin, connectTimeoutMs: 2 }),
      pools.acquire({ origin: "http://127.0.0.1:10", connectTimeoutMs: 1 }),
    ]);
    expect(new Set(leases.map(({ calls }) => calls)).size).toBe(3);
    for (const lease of leases) await lease.release();
  });

  it("SHT-10: closing one server leaves the calls of its neighbour alone", async () => {
    await using server = await ScriptedServer.start((request, response) => {
      if (request.message.method === "held") server.note("held");
      else answerPlainly(request, response);
    });
    const closing = await openWire(server.url);
    await using staying = await openWire(server.url);
    const held = expect(closing.request("held")).rejects.toMatchObject({ code: "closed" });
    await server.until(() => server.notes.length === 1);
    await closing.transport.close();
    await held;
    expect((await staying.request("ping")).result).toEqual({ ok: true });
  });

  it("SHT-10: a closed server leaves no open stream on connections that live on", async () => {
    await using server = await ScriptedServer.start((request, response) => {
      response.on("close", () => server.note("cut off"));
      openEvents(response);
      response.write(`data: ${answerTo(request)}\n\n`);
    });
    await using _neighbour = await openWire(server.url);
    const wire = await openWire(server.url, { clock: new WaitingClock() });
    await wire.request("tools/call");
    await wire.transport.close();
    await server.until(() => server.notes.length === 1);
  });

  it("SHT-06: closing does not wait for connections that a neighbour holds", async () => {
    await using server = await ScriptedServer.start((request, response) => {
      response.setHeader("mcp-session-id", "s");
      if (request.message.method !== "held") answerPlainly(request, response);
    });
    const wire = await openWire(server.url, { clock: new ImpatientClock() });
    await initialize(wire);
    await using neighbour = await openWire(server.url);
    const held = Array.from({ length: 64 }, () => neighbour.request("held").catch(() => undefined));
    await server.until(() => server.posts("held").length === 64);
    await wire.transport.close();
    await neighbour.transport.close();
    await Promise.all(held);
  });

  it("TRN-07: a start that was overtaken by a close gives its connections back", async () => {
    await using server = await ScriptedServer.start(answerPlainly);
    const { connectTimeoutMs } = defaultLimits;
    const lease = await originPools.acquire({ origin: server.origin, connectTimeoutMs });
    const { transport } = createWire(server.url);
    const starting = expect(transport.start()).rejects.toMatchObject({ code: "closed" });
    await transport.close();
    await starting;
    await lease.release();
    expect(lease.calls).toHaveProperty("destroyed", true);
  });

  it("SHT-10: nothing is left of a connection that was still being made", async () => {
    // Accepts the connection and never answers the TLS handshake.
    const silent = createServer((socket) => {
      socket.on("error", () => {});
      silent.emit("taken", socket);
    }).listen(0, "127.0.0.1");
    await once(silent, "listening");
    const { port } = silent.address() as AddressInfo;
    const wire = await openWire(`https://127.0.0.1:${port}/mcp`);
    const call = expect(wire.request("ping")).rejects.toMatchObject({ code: "closed" });
    const [socket] = (await once(silent, "taken")) as [NodeJS.EventEmitter];
    const gone = once(socket, "close");
    await wire.transport.close();
    await call;
    await gone;
    silent.close();
  });

  it("ERR-02: a connection that takes too long is given up", async () => {
    const silent = createServer((socket) => socket.on("error", () => {})).listen(0, "127.0.0.1");
    await once(silent, "listening");
    const { port } = silent.address() as AddressInfo;
    await using wire = await openWire(`https://127.0.0.1:${port}/mcp`, {
      limits: { connectTimeoutMs: 50 },
    });
    await expect(wire.request("ping")).rejects.toMatchObject({
      code: "unreachable",
      message: `no connection to 127.0.0.1:${port} (it does not answer)`,
    });
    silent.close();
  });
});
