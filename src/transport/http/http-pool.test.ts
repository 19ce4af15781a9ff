import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";

import { describe, expect, it } from "vitest";

import {
  ScriptedServer,
  answerPlainly,
  answerTo,
  openEvents,
} from "../../../tests/fixtures/http/scripted-server.ts";
import {
  ImpatientClock,
  WaitingClock,
  createWire,
  initialize,
  openWire,
} from "../../../tests/fixtures/http/wire.ts";
import { sendRequest } from "../../../tests/fixtures/network/send-request.ts";
import { TrapServer } from "../../../tests/fixtures/network/trap-server.ts";
import { defaultLimits } from "../../config/keys/limits.ts";
import { configuredUrlPolicy } from "../../isolation/network/network-policy.ts";
import { OriginPools, type OriginSettings, originPools } from "./http-pool.ts";

/** As an entry `{ "url": origin }` gets them. */
function settingsFor(origin: string, changes: Partial<OriginSettings> = {}): OriginSettings {
  return {
    origin,
    connectTimeoutMs: 10_000,
    policy: configuredUrlPolicy(origin, false),
    hostEnv: {},
    serverName: "api",
    ...changes,
  };
}

describe("OriginPools", () => {
  it("SHT-10: servers on one origin share their connections until the last one leaves", async () => {
    const pools = new OriginPools();
    const settings = settingsFor("http://127.0.0.1:9");
    const [first, second] = await Promise.all([
      pools.acquire(settings),
      pools.acquire({ ...settings, serverName: "neighbour" }),
    ]);
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

  it("SHT-10 C-36: other origins, deadlines, rights and proxies have connections of their own", async () => {
    const pools = new OriginPools();
    const origin = "http://tools.example";
    const proxied = (url: string) => settingsFor(origin, { hostEnv: { HTTP_PROXY: url } });
    const named = { namedBy: "server", loopback: false, privateNetwork: false } as const;
    const leases = await Promise.all(
      [
        settingsFor(origin),
        settingsFor(`${origin}:81`),
        settingsFor(origin, { connectTimeoutMs: 1 }),
        settingsFor(origin, { policy: configuredUrlPolicy(origin, true) }),
        settingsFor(origin, { policy: named }),
        settingsFor(origin, { policy: { ...named, loopback: true } }),
        proxied("http://proxy.corp"),
        proxied("http://me@proxy.corp"),
        proxied("http://other.corp"),
      ].map((settings) => pools.acquire(settings)),
    );
    expect(new Set(leases.map(({ calls }) => calls)).size).toBe(9);
    for (const lease of leases) await lease.release();
  });

  it("HTP-06: an address that may not be reached is refused before there is a connection", async () => {
    const pools = new OriginPools();
    const url = "http://0x0a000001:8080";
    const settings = { policy: configuredUrlPolicy(url, false), serverName: "tools" };
    const { origin } = new URL(url);
    for (let turn = 0; turn < 2; turn += 1)
      await expect(pools.acquire(settingsFor(origin, settings))).rejects.toMatchObject({
        code: "blocked_address",
        serverName: "tools",
        message: "refused to connect to 10.0.0.1: it is an address of a private network",
      });
  });

  it("HTP-06 C-36: a server is reached by the plain notation of its address only, or by permission", async () => {
    await using server = await ScriptedServer.start(answerPlainly);
    const { port } = new URL(server.origin);
    const disguised = `http://2130706433:${port}/mcp`;
    await expect(openWire(disguised)).rejects.toMatchObject({
      code: "blocked_address",
      serverName: "api",
    });
    expect(server.requests).toEqual([]);
    await using plain = await openWire(`http://localhost:${port}/mcp`);
    await using allowed = await openWire(disguised, { allowPrivateNetwork: true });
    for (const wire of [plain, allowed])
      expect((await wire.request("ping")).result).toEqual({ ok: true });
  });

  it("HTP-06: a name is refused for what it resolves to, on both lanes", async () => {
    await using trap = await TrapServer.start();
    const pools = new OriginPools({ resolve: () => Promise.resolve(["127.0.0.1"]) });
    const origin = `http://tools.example:${trap.port}`;
    const lease = await pools.acquire(settingsFor(origin));
    for (const lane of [lease.calls, lease.streams])
      await expect(sendRequest(lane, origin)).rejects.toMatchObject({ code: "blocked_address" });
    expect(trap.hits).toBe(0);
    await lease.release();
  });

  it("HTP-06: a proxy that cannot be used is told before there is a connection", async () => {
    const settings = settingsFor("https://tools.example", { hostEnv: { HTTPS_PROXY: "ftp://x" } });
    await expect(new OriginPools().acquire(settings)).rejects.toMatchObject({
      code: "config_invalid",
    });
  });

  it("SHT-10: the last one to leave ends the resolving of names, too", async () => {
    let asked = (): void => {};
    const isAsked = new Promise<void>((resolve) => (asked = resolve));
    const resolve = (): Promise<never> => {
      asked();
      return new Promise(() => {});
    };
    const lease = await new OriginPools({ resolve }).acquire(settingsFor("http://slow.example"));
    const call = expect(sendRequest(lease.calls, "http://slow.example")).rejects.toMatchObject({
      code: "UND_ERR_DESTROYED",
    });
    await isAsked;
    await lease.release();
    await call;
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
    const held = Array.from({ length: 40 }, () => neighbour.request("held").catch(() => undefined));
    await server.until(() => server.posts("held").length === 40);
    await wire.transport.close();
    await neighbour.transport.close();
    await Promise.all(held);
  });

  it("TRN-07: a start that was overtaken by a close gives its connections back", async () => {
    await using server = await ScriptedServer.start(answerPlainly);
    const { connectTimeoutMs } = defaultLimits;
    const lease = await originPools.acquire(settingsFor(server.origin, { connectTimeoutMs }));
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
