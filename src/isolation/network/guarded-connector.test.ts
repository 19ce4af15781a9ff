import { once } from "node:events";
import { get } from "node:http";
import { type AddressInfo, Socket, createServer } from "node:net";

import type { buildConnector } from "undici";
import buildConnect from "undici/lib/core/connect.js";
import PoolClass from "undici/lib/dispatcher/pool.js";
import { describe, expect, it, vi } from "vitest";

import { DnsStub } from "../../../tests/fixtures/network/dns-stub.ts";
import { sendRequest } from "../../../tests/fixtures/network/send-request.ts";
import { TrapServer } from "../../../tests/fixtures/network/trap-server.ts";
import { createError } from "../../errors/families.ts";
import {
  GuardedConnector,
  type ResolveHost,
  directRoute,
  stopAtOverflow,
} from "./guarded-connector.ts";
import { type NetworkPolicy, configuredUrlPolicy, serverUrlPolicy } from "./network-policy.ts";

const publicOnly = configuredUrlPolicy("https://example.com", false);
const stock = buildConnect({ timeout: 0 });
const never: ResolveHost = () => new Promise(() => {});

interface Rig {
  readonly policy?: NetworkPolicy;
  readonly resolve?: ResolveHost;
  readonly connect?: buildConnector.connector;
  readonly timeoutMs?: number;
}

function createConnector({ policy, resolve, connect, timeoutMs = 10_000 }: Rig): GuardedConnector {
  const route = directRoute(policy ?? publicOnly, {
    resolve: resolve ?? (() => Promise.reject(new Error("nothing to resolve"))),
    connect: connect ?? stock,
  });
  return new GuardedConnector(route, timeoutMs);
}

/** A GET of `url` over a connection of its own. */
async function fetchOnce(url: string, rig: Rig) {
  const { origin } = new URL(url);
  const pool = new PoolClass(origin, { connect: createConnector(rig).connect });
  try {
    return await sendRequest(pool, origin);
  } finally {
    await pool.destroy();
  }
}

const open = (connector: GuardedConnector, url: string) =>
  new Promise<unknown>((resolve, reject) => {
    const { protocol, hostname, host, port } = new URL(url);
    connector.connect({ protocol, hostname, host, port }, (error, socket) => {
      socket?.destroy();
      if (error === null) resolve(socket);
      else reject(error);
    });
  });

type StandIn = "127.0.0.1" | "refuses" | "is silent";

/** Dials as if the addresses of the internet that a test uses were this machine, or out of order. */
const withStandIns =
  (dialled: string[], standIns: Readonly<Record<string, StandIn>>): buildConnector.connector =>
  (target, callback) => {
    dialled.push(target.hostname);
    const standIn = standIns[target.hostname];
    if (standIn === "127.0.0.1") return stock({ ...target, hostname: standIn }, callback);
    const socket = new Socket();
    const refused = Object.assign(new Error("refused"), { code: "ECONNREFUSED" });
    if (standIn === "refuses") setImmediate(() => callback(refused, null));
    else silent.push(socket);
    return socket;
  };
const silent: Socket[] = [];

describe("a configured URL", () => {
  const disguises = [
    "2130706433",
    "0x7f000001",
    "0x7f.1",
    "017700000001",
    "0177.0.0.1",
    "127.1",
    "127.0.1",
    "127.0.0.1.",
    "127%2e0.0.1",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "0.0.0.0",
  ];

  it("HTP-06 C-36: 12 of 12 disguises of this machine are refused, all of which reach it unguarded", async () => {
    await using trap = await TrapServer.start();
    const urls = disguises.map((host) => `http://${host}:${trap.port}/`);
    for (const url of urls) {
      const [response] = (await once(get(new URL(url)), "response")) as [NodeJS.ReadableStream];
      response.resume();
    }
    expect(trap.hits).toBe(12);
    const outcomes = await Promise.allSettled(
      urls.map((url) => fetchOnce(url, { policy: configuredUrlPolicy(url, false) })),
    );
    expect(outcomes.map((outcome) => outcome.status === "rejected" && outcome.reason)).toEqual(
      urls.map(() => expect.objectContaining({ code: "blocked_address" })),
    );
    expect(trap.hits).toBe(12);
  });

  it.each(["localhost", "LOCALHOST", "tools.localhost", "127.0.0.1"])(
    "HTP-02 C-36: %s reaches this machine, without asking any name server",
    async (host) => {
      await using trap = await TrapServer.start();
      const url = `http://${host}:${trap.port}/`;
      const response = await fetchOnce(url, { policy: configuredUrlPolicy(url, false) });
      expect(response).toEqual({ status: 200, text: "caught" });
      expect(trap.hosts).toEqual([`${host.toLowerCase()}:${trap.port}`]);
    },
  );

  it("C-36: an ordinary name for this machine needs allowPrivateNetwork", async () => {
    await using trap = await TrapServer.start();
    const url = `http://tools.example:${trap.port}/`;
    const resolve: ResolveHost = () => Promise.resolve(["127.0.0.1"]);
    await expect(
      fetchOnce(url, { resolve, policy: configuredUrlPolicy(url, false) }),
    ).rejects.toMatchObject({ code: "blocked_address", details: { address: "127.0.0.1" } });
    expect(trap.hits).toBe(0);
    await fetchOnce(url, { resolve, policy: configuredUrlPolicy(url, true) });
    expect(trap.hosts).toEqual([`tools.example:${trap.port}`]);
  });
});

describe("a URL named by a server", () => {
  it("HTP-06: a server elsewhere cannot send us to this machine", async () => {
    await using trap = await TrapServer.start();
    const policy = serverUrlPolicy(new URL("https://example.com"), publicOnly);
    for (const host of ["localhost", "127.0.0.1", "[::1]", "x.localhost", "2130706433", "0.0.0.0"])
      await expect(fetchOnce(`http://${host}:${trap.port}/`, { policy })).rejects.toMatchObject({
        code: "blocked_address",
        details: { namedBy: "server" },
      });
    expect(trap.hits).toBe(0);
  });

  it("HTP-02: a server on this machine can", async () => {
    await using trap = await TrapServer.start();
    const own = "http://localhost:9/mcp";
    const policy = serverUrlPolicy(new URL(own), configuredUrlPolicy(own, false));
    const response = await fetchOnce(`http://127.0.0.1:${trap.port}/`, { policy });
    expect(response.text).toBe("caught");
  });
});

describe("a resolved name", () => {
  it("HTP-06: a name that turns to this machine after it was public is refused", async () => {
    await using trap = await TrapServer.start();
    await using dns = await DnsStub.start(["93.184.216.34", "127.0.0.1"]);
    const dialled: string[] = [];
    const rig = {
      resolve: dns.resolve,
      connect: withStandIns(dialled, { "93.184.216.34": "127.0.0.1" }),
    };
    const url = `http://flip.example:${trap.port}/`;
    // What was judged is what is dialled: the name is not looked up again for the connection.
    await expect(fetchOnce(url, rig)).resolves.toMatchObject({ text: "caught" });
    expect([dialled, dns.lookups, trap.hits]).toEqual([["93.184.216.34"], 1, 1]);
    await expect(fetchOnce(url, rig)).rejects.toMatchObject({
      code: "blocked_address",
      message: "refused to connect to flip.example: it resolves to 127.0.0.1, this machine itself",
    });
    expect([dialled, dns.lookups, trap.hits]).toEqual([["93.184.216.34"], 2, 1]);
  });

  it.each([
    [["127.0.0.1"]],
    [["93.184.216.34", "127.0.0.1"]],
    [["93.184.216.34", "169.254.169.254"]],
    [["2606:4700::1", "::ffff:127.0.0.1"]],
    [["fe80::1%eth0"]],
    [["not an address"]],
  ])("HTP-06: nothing is dialled when it resolves to %j", async (addresses) => {
    const dialled: string[] = [];
    const rig = { resolve: () => Promise.resolve(addresses), connect: withStandIns(dialled, {}) };
    await expect(fetchOnce("http://mixed.example/", rig)).rejects.toMatchObject({
      code: "blocked_address",
    });
    expect(dialled).toEqual([]);
  });

  it("HTP-06: an address that refuses leaves the others to be tried, families in turn", async () => {
    await using trap = await TrapServer.start();
    const dialled: string[] = [];
    const connect = withStandIns(dialled, {
      "93.184.216.34": "refuses",
      "2606:4700::1": "refuses",
      "93.184.216.35": "127.0.0.1",
    });
    const resolve: ResolveHost = () =>
      Promise.resolve(["93.184.216.34", "93.184.216.35", "2606:4700::1"]);
    const response = await fetchOnce(`http://many.example:${trap.port}/`, { resolve, connect });
    expect(response.text).toBe("caught");
    expect(dialled).toEqual(["93.184.216.34", "2606:4700::1", "93.184.216.35"]);
  });

  it("HTP-06: a silent address holds up no other, and is given up when another has answered", async () => {
    await using trap = await TrapServer.start();
    const connect = withStandIns([], { "2606:4700::1": "is silent", "93.184.216.34": "127.0.0.1" });
    const resolve: ResolveHost = () => Promise.resolve(["2606:4700::1", "93.184.216.34"]);
    const response = await fetchOnce(`http://slow.example:${trap.port}/`, { resolve, connect });
    expect(response.text).toBe("caught");
    expect(silent.map((socket) => socket.destroyed)).toEqual([true]);
  });

  it("ERR-02: when every address fails, the first failure is told", async () => {
    const closed = createServer().listen(0, "127.0.0.1");
    await once(closed, "listening");
    const { port } = closed.address() as AddressInfo;
    closed.close();
    await once(closed, "close");
    await expect(
      fetchOnce(`http://localhost:${port}/`, {
        policy: configuredUrlPolicy("http://localhost", false),
      }),
    ).rejects.toMatchObject({ code: "ECONNREFUSED" });
  });

  it("ERR-02: a name without addresses does not exist", async () => {
    const resolve: ResolveHost = () => Promise.resolve([]);
    await expect(fetchOnce("http://void.example/", { resolve })).rejects.toMatchObject({
      code: "ENOTFOUND",
    });
  });
});

describe("GuardedConnector", () => {
  it("ERR-02: the deadline covers the resolving", async () => {
    const connector = createConnector({ resolve: never, timeoutMs: 5 });
    await expect(open(connector, "http://slow.example/")).rejects.toMatchObject({
      code: "ETIMEDOUT",
    });
  });

  it.each([0, Number.POSITIVE_INFINITY])("SHT-10: a deadline of %d is none", async (timeoutMs) => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      const connector = createConnector({ resolve: never, timeoutMs });
      const attempt = expect(open(connector, "http://slow.example/")).rejects.toThrow("over");
      vi.advanceTimersByTime(24 * 3_600_000);
      connector.cancel(new Error("over"));
      await attempt;
    } finally {
      vi.useRealTimers();
    }
  });

  it("SHT-10: an attempt can be ended while its name is being resolved", async () => {
    const connector = createConnector({ resolve: never });
    const reason = createError("closed", "the connection was closed");
    const attempt = expect(open(connector, "http://slow.example/")).rejects.toBe(reason);
    connector.cancel(reason);
    connector.cancel(reason);
    await attempt;
  });

  it("SHT-10: an answer that comes after the end opens nothing", async () => {
    await using trap = await TrapServer.start();
    let answer: (addresses: string[]) => void = () => {};
    const resolve: ResolveHost = () => new Promise((settle) => (answer = settle));
    const connector = createConnector({ resolve, policy: configuredUrlPolicy("", true) });
    const attempt = open(connector, `http://late.example:${trap.port}/`);
    connector.cancel(new Error("over"));
    await expect(attempt).rejects.toThrow("over");
    answer(["127.0.0.1"]);
    await new Promise((settle) => setImmediate(settle));
    expect(trap.hits).toBe(0);
  });
});

describe("a head that is too large", () => {
  it("F5: ends the connection and whatever was reading it", () => {
    const socket = stopAtOverflow(new Socket()).on("error", () => {});
    const error = Object.assign(new Error("too large"), { code: "UND_ERR_HEADERS_OVERFLOW" });
    expect(() => socket.destroy(error)).toThrow(error);
    expect(socket.destroyed).toBe(true);
  });

  it("F5: is no reason for a connection that ends otherwise to throw", () => {
    const socket = stopAtOverflow(new Socket()).on("error", () => {});
    expect(socket.destroy(new Error("lost"))).toBe(socket);
    expect(stopAtOverflow(new Socket()).destroy().destroyed).toBe(true);
  });
});
