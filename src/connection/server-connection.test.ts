import { describe, expect, it } from "vitest";

import { defaultLimits } from "../config/limits.ts";
import { parseServerEntry } from "../config/parse-config.ts";
import { createError } from "../errors/families.ts";
import type { McpError } from "../errors/mcp-error.ts";
import { systemClock } from "../ports/clock.ts";
import { silentLogger } from "../ports/logger.ts";
import type { ProtocolClient, ProtocolOptions } from "../protocol/protocol-client.ts";
import type { HostTransport } from "../transport/host-transport.ts";
import { connectDeadlineMs } from "./connect-deadline.ts";
import { stateAfterFailure } from "./connection-error.ts";
import { ServerConnection } from "./server-connection.ts";

const config = parseServerEntry(
  "files",
  { command: "serve-files" },
  { provenance: { layer: "user", path: "/home/u/.plugboard/mcp.json", line: 7 } },
);

/** A connection whose handshakes the test answers itself. */
function scripted() {
  const handshakes: {
    readonly options: ProtocolOptions;
    readonly transport: HostTransport;
    readonly succeed: () => ProtocolClient;
    readonly fail: (error: McpError) => void;
  }[] = [];
  const states: string[] = [];
  const closed: ProtocolClient[] = [];
  let announce = () => {};
  const connection = new ServerConnection({
    config,
    clientInfo: { name: "test", version: "1" },
    limits: defaultLimits,
    clock: systemClock,
    logger: silentLogger,
    hostEnv: {},
    createTransport: () => Promise.resolve(fakeTransport()),
    connectProtocol: (transport, options) =>
      new Promise((resolve, reject) => {
        options.signal?.addEventListener("abort", () =>
          reject(createError("cancelled", "aborted")),
        );
        handshakes.push({
          options,
          transport: transport as HostTransport,
          succeed() {
            const client = fakeClient((ended) => closed.push(ended));
            resolve(client);
            return client;
          },
          fail: reject,
        });
        announce();
      }),
    onReady: () => Promise.resolve(),
    onState: (state, previous) => states.push(`${previous}→${state}`),
    onNotification: () => {},
  });
  /** The handshake with that number, once it has begun. */
  const handshake = async (index: number) => {
    while (handshakes[index] === undefined)
      await new Promise<void>((resolve) => {
        announce = resolve;
      });
    return handshakes[index];
  };
  return { connection, handshakes, handshake, states, closed };
}

function fakeTransport(): HostTransport {
  return {
    kind: "stdio",
    failure: undefined,
    evidence: { target: "serve-files", stderrTail: ["Error: no such folder"], junkMessages: 0 },
    start: () => Promise.resolve(),
    send: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
}

function fakeClient(onClose: (client: ProtocolClient) => void): ProtocolClient {
  const client: ProtocolClient = {
    era: "legacy",
    protocolVersion: "2025-11-25",
    serverInfo: { name: "fake", version: "1" },
    capabilities: {},
    instructions: undefined,
    request: () => Promise.resolve({}),
    callTool: () => Promise.resolve({ content: [], isError: false }),
    listTools: () => Promise.resolve({ tools: [], rejected: [] }),
    notify: () => Promise.resolve(),
    ping: () => Promise.resolve(),
    close() {
      onClose(client);
      return Promise.resolve();
    },
    onnotification: undefined,
    onlistchanged: undefined,
    onwarning: undefined,
    onclose: undefined,
  };
  return client;
}

describe("ServerConnection", () => {
  it("REG-19: concurrent callers share one handshake", async () => {
    const { connection, handshake, handshakes, states } = scripted();
    const callers = [connection.client(), connection.client(), connection.client()];
    const client = (await handshake(0)).succeed();
    expect(await Promise.all(callers)).toEqual([client, client, client]);
    expect(handshakes).toHaveLength(1);
    expect(connection.openClient).toBe(client);
    expect(states).toEqual(["idle→connecting", "connecting→connected"]);
  });

  it("a link that drops is opened again on the next use, and the reason is kept until then", async () => {
    const { connection, handshake, states } = scripted();
    const waiting = connection.client();
    const first = (await handshake(0)).succeed();
    await waiting;
    first.onclose?.(createError("connection_lost", "the server went away"));
    expect(connection).toMatchObject({ state: "disconnected", openClient: undefined });
    expect(connection.lastError).toMatchObject({ code: "connection_lost", serverName: "files" });
    const again = connection.client();
    const second = (await handshake(1)).succeed();
    expect(await again).toBe(second);
    expect(connection).toMatchObject({ state: "connected", lastError: undefined });
    expect(states).toEqual([
      "idle→connecting",
      "connecting→connected",
      "connected→disconnected",
      "disconnected→connecting",
      "connecting→connected",
    ]);
  });

  it("ERR-17 STD-21: a failed start says where the server is defined and what it printed, and may be tried again", async () => {
    const { connection, handshake } = scripted();
    const waiting = connection.client();
    (await handshake(0)).fail(
      createError("start_exit", "stopped during start", { details: { exitCode: 3 } }),
    );
    await expect(waiting).rejects.toMatchObject({
      code: "start_exit",
      serverName: "files",
      details: {
        transport: "stdio",
        layer: "user",
        definedAt: "/home/u/.plugboard/mcp.json:7",
        target: "serve-files",
        stderrTail: ["Error: no such folder"],
        exitCode: 3,
      },
    });
    expect(connection.state).toBe("disconnected");
    const again = connection.client();
    (await handshake(1)).succeed();
    await expect(again).resolves.toBeDefined();
  });

  it("one caller's cancellation ends that wait only", async () => {
    const { connection, handshake } = scripted();
    const abort = new AbortController();
    const impatient = connection.client({ signal: abort.signal });
    const patient = connection.client();
    const begun = await handshake(0);
    abort.abort();
    await expect(impatient).rejects.toMatchObject({ code: "cancelled" });
    const client = begun.succeed();
    expect(await patient).toBe(client);
  });

  it("closing during the handshake leaves nothing open, and a later use starts afresh", async () => {
    const { connection, handshake, states } = scripted();
    const waiting = connection.client();
    await handshake(0);
    const closing = connection.close();
    await expect(waiting).rejects.toMatchObject({ code: "closed" });
    await closing;
    expect(connection).toMatchObject({ state: "idle", openClient: undefined });
    const again = connection.client();
    (await handshake(1)).succeed();
    await again;
    expect(states.at(-1)).toBe("connecting→connected");
  });

  it("a client that becomes ready while closing is closed too", async () => {
    const { connection, handshake, closed } = scripted();
    const waiting = connection.client();
    const begun = await handshake(0);
    const client = begun.succeed();
    const closing = connection.close();
    await expect(waiting).rejects.toMatchObject({ code: "closed" });
    await closing;
    expect(closed).toContain(client);
    expect(connection.state).toBe("idle");
  });

  it("a second close is the same close, and the connection ends once", async () => {
    const { connection, handshake, closed } = scripted();
    const waiting = connection.client();
    (await handshake(0)).succeed();
    await waiting;
    await Promise.all([connection.close(), connection.close()]);
    await connection.close();
    expect(closed).toHaveLength(1);
  });

  it("a server that dies of the era probe is started once more without it", async () => {
    const { connection, handshake, handshakes } = scripted();
    const waiting = connection.client();
    const died = createError("start_exit", "gone", { details: { diedOfProbe: true } });
    (await handshake(0)).fail(died);
    const second = await handshake(1);
    expect(second.options.knownEra).toBe("legacy");
    second.fail(died);
    await expect(waiting).rejects.toMatchObject({ code: "start_exit" });
    expect(handshakes).toHaveLength(2);
  });

  it("remembers the era for the next connection", async () => {
    const { connection, handshake } = scripted();
    const waiting = connection.client();
    (await handshake(0)).succeed();
    await waiting;
    await connection.close();
    const again = connection.client();
    const second = await handshake(1);
    expect(second.options.knownEra).toBe("legacy");
    second.succeed();
    await again;
  });
});

describe("connectDeadlineMs", () => {
  it("gives the first start of a package runner time to download", () => {
    const npx = parseServerEntry("x", { command: "npx", args: ["-y", "some-server"] });
    expect(connectDeadlineMs(npx, defaultLimits, false)).toBe(120_000);
    expect(connectDeadlineMs(npx, defaultLimits, true)).toBe(30_000);
    expect(connectDeadlineMs(config, defaultLimits, false)).toBe(30_000);
    const own = parseServerEntry("x", { command: "npx", connectTimeout: 5 });
    expect(connectDeadlineMs(own, defaultLimits, false)).toBe(5_000);
  });
});

describe("stateAfterFailure", () => {
  it.each([
    ["unreachable", "disconnected"],
    ["start_exit", "disconnected"],
    ["start_timeout", "disconnected"],
    ["connection_lost", "disconnected"],
    ["auth_required", "needs_auth"],
    ["protocol_violation", "error"],
    ["variable_unset", "error"],
    ["command_not_found", "error"],
    ["cancelled", "idle"],
  ] as const)("%s leaves the server %s", (code, state) => {
    expect(stateAfterFailure(code)).toBe(state);
  });
});
