import { describe, expect, it } from "vitest";

import { settled } from "../../../tests/fixtures/protocol/manual-clock.ts";
import { protocolOptions } from "../../../tests/fixtures/protocol/protocol-options.ts";
import {
  legacyHello,
  legacyScripts,
  modernHello,
  modernScripts,
  ScriptedPeer,
  type Script,
} from "../../../tests/fixtures/protocol/scripted-peer.ts";
import { createError } from "../../errors/families.ts";
import type { McpError } from "../../errors/mcp-error.ts";
import { RpcChannel } from "../channel/rpc-channel.ts";
import { negotiateEra } from "./negotiate-era.ts";

type Options = Parameters<typeof protocolOptions>[0];

function negotiation(scripts: Record<string, Script>, overrides: Options = {}) {
  const peer = new ScriptedPeer(scripts);
  const options = protocolOptions(overrides);
  const channel = new RpcChannel(peer.transport, options);
  const start = () => negotiateEra(channel, options);
  return { peer, channel, start, clock: options.clock };
}

/** The rejection of a negotiation that must fail. */
async function failureOf(promise: Promise<unknown>): Promise<McpError> {
  return await promise.then(
    () => Promise.reject(new Error("the negotiation succeeded")),
    (error: unknown) => error as McpError,
  );
}

/** A legacy server behind HTTP, where the probe ends with `failure`. */
function overHttp(failure: McpError, overrides: Options = {}) {
  const refused: Script = () => {
    throw failure;
  };
  const made = negotiation({ ...legacyScripts, "server/discover": refused }, overrides);
  made.peer.transport.hasPerRequestStream = true;
  return made;
}
function http(status: number): McpError {
  return createError("http_error", `HTTP ${status}`, { details: { status } });
}

/** A server that sends `count` notifications nobody handles before it answers. */
function flood(count: number) {
  return negotiation({
    ...legacyScripts,
    initialize: (_, peer) => {
      for (let i = 0; i < count; i += 1) peer.notify("notifications/x");
      return legacyHello;
    },
  });
}

describe("a server that answers at once", () => {
  it("a modern answer with our revision decides, and nothing else is sent", async () => {
    const { peer, start, clock } = negotiation(modernScripts);
    await expect(start()).resolves.toMatchObject({
      era: "modern",
      protocolVersion: "2026-07-28",
      serverInfo: { name: "scripted", version: "2.0.0" },
      capabilities: { tools: {} },
      discover: modernHello,
    });
    expect(peer.methods).toEqual(["server/discover"]);
    expect(peer.find("server/discover")?.params).toEqual({
      _meta: {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { name: "tester", version: "1.2.3" },
        "io.modelcontextprotocol/clientCapabilities": {},
      },
    });
    expect(peer.transport.protocolVersion).toBe("2026-07-28");
    expect(clock.pending).toBe(0);
  });

  it("PRO-01, PRO-18, C-12: a refused probe is followed by initialize, then initialized without params", async () => {
    const { peer, start, clock } = negotiation(legacyScripts);
    await expect(start()).resolves.toMatchObject({
      era: "legacy",
      protocolVersion: "2025-11-25",
      initializeResult: legacyHello,
    });
    expect(peer.methods).toEqual(["server/discover", "initialize", "notifications/initialized"]);
    expect(peer.find("initialize")?.params).toEqual({
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "tester", version: "1.2.3" },
    });
    expect(peer.received.at(-1)).toEqual({ jsonrpc: "2.0", method: "notifications/initialized" });
    expect(clock.pending).toBe(0);
  });

  it.each([
    ["an empty result", {}],
    ["a result without our revision", { ...modernHello, supportedVersions: ["2027-01-01"] }],
    ["a list of versions that is no list", { ...modernHello, supportedVersions: "2026-07-28" }],
    ["a result that is not complete", { ...modernHello, resultType: "input_required" }],
  ])("the probe answered with %s means legacy", async (_, answer) => {
    const { start } = negotiation({ ...legacyScripts, "server/discover": () => answer });
    await expect(start()).resolves.toMatchObject({ era: "legacy" });
  });

  it.each([
    ["a null result", { result: null }],
    ["both result and error", { result: {}, error: { code: 1, message: "x" } }],
    ["an error that is text", { error: "unknown" }],
  ])("the probe answered with %s means legacy", async (_, answer) => {
    const malformed: Script = ({ id }, peer) => peer.send({ jsonrpc: "2.0", id, ...answer });
    const { start } = negotiation({ ...legacyScripts, "server/discover": malformed });
    await expect(start()).resolves.toMatchObject({ era: "legacy" });
  });

  it("PRO-20: a refusal of the probe with id null leads to initialize without waiting", async () => {
    const { start } = negotiation({
      ...legacyScripts,
      "server/discover": (_, peer) => peer.fail(null, -32_600, "Invalid Request"),
    });
    await expect(start()).resolves.toMatchObject({ era: "legacy" });
  });

  it("PRO-04: a server that does not say who it is gets a name, and odd text is cleaned", async () => {
    const anonymous = negotiation({
      ...legacyScripts,
      initialize: () => ({ protocolVersion: "2024-11-05", capabilities: null }),
    });
    await expect(anonymous.start()).resolves.toMatchObject({
      serverInfo: { name: "unknown", version: "unknown" },
      capabilities: {},
    });
    const odd = negotiation({
      ...legacyScripts,
      initialize: () => ({
        ...legacyHello,
        serverInfo: { name: `\u001B[31mred${"x".repeat(500)}`, version: "1" },
      }),
    });
    const { serverInfo } = await odd.start();
    expect(serverInfo.name.length).toBeLessThanOrEqual(128);
    expect(serverInfo.name.startsWith("redx")).toBe(true);
  });

  it("a revision that was refused though listed is asked for once more, not for ever", async () => {
    const { peer, start } = negotiation({
      ...legacyScripts,
      "server/discover": ({ id }, server) =>
        server.fail(id, -32_022, "Unsupported protocol version", { supported: ["2026-07-28"] }),
    });
    await expect(start()).resolves.toMatchObject({ era: "legacy" });
    expect(peer.methods.filter((method) => method === "server/discover")).toHaveLength(2);
  });
});

describe("a server that does not answer the probe", () => {
  it("gets initialize beside it after the probe's time, and its answer makes it legacy", async () => {
    const { peer, start, clock } = negotiation({ initialize: () => legacyHello });
    const result = start();
    await clock.advance(1_399);
    expect(peer.methods).toEqual(["server/discover"]);
    await clock.advance(1);
    await expect(result).resolves.toMatchObject({ era: "legacy", provenEra: "legacy" });
    expect(clock.pending).toBe(0);
  });

  it("C-11: the late answer to the probe is swallowed, even on a strict connection", async () => {
    const { peer, channel, start, clock } = negotiation(
      { initialize: () => legacyHello },
      { strict: true },
    );
    const result = start();
    await clock.advance(1_400);
    await result;
    peer.respond(peer.find("server/discover")?.id, modernHello);
    expect(channel.end).toBeUndefined();
  });

  it("C-11: after the verdict the other question is no longer expected to be answered", async () => {
    const { peer, channel, start, clock } = negotiation(
      { initialize: () => legacyHello },
      { strict: true },
    );
    const result = start();
    await clock.advance(1_400);
    await result;
    peer.respond("stray", {});
    expect(channel.end?.message).toContain("expected none");
  });

  it("a server of both eras that answers both late is legacy: it read initialize last", async () => {
    const { peer, start, clock } = negotiation({});
    const result = start();
    await clock.advance(1_400);
    peer.respond(peer.find("server/discover")?.id, modernHello);
    await settled();
    peer.respond(peer.find("initialize")?.id, legacyHello);
    await expect(result).resolves.toMatchObject({ era: "legacy", provenEra: "modern" });
  });

  it("a modern server that was slow and refuses initialize is modern", async () => {
    const { peer, start, clock } = negotiation({});
    const result = start();
    await clock.advance(1_400);
    peer.respond(peer.find("server/discover")?.id, modernHello);
    peer.fail(peer.find("initialize")?.id, -32_601);
    await expect(result).resolves.toMatchObject({ era: "modern" });
  });

  it("a modern server that was slow and ignores initialize is modern", async () => {
    const { peer, channel, start, clock } = negotiation({}, { strict: true });
    const result = start();
    await clock.advance(1_400);
    peer.respond(peer.find("server/discover")?.id, modernHello);
    await clock.advance(1_400);
    await expect(result).resolves.toMatchObject({ era: "modern" });
    peer.fail(peer.find("initialize")?.id, -32_601);
    expect(channel.end).toBeUndefined();
  });

  it("CON-05: a refused initialize is reported once the silence of the probe is conclusive", async () => {
    const { start, clock } = negotiation({
      initialize: ({ id }, peer) => peer.fail(id, -32_602, "bad client"),
    });
    const failure = failureOf(start());
    await clock.advance(3_000);
    expect(await failure).toMatchObject({
      name: "McpConnectionError",
      code: "protocol_violation",
      message:
        "the server refused the handshake: initialize was answered with error -32602: bad client",
    });
    expect((await failure).details["rpc"]).toMatchObject({ code: -32_602, message: "bad client" });
  });

  it("PRO-23: total silence ends at the deadline, naming the phase, with everything cleaned up", async () => {
    const { peer, start, clock } = negotiation({});
    const failure = failureOf(start());
    await clock.advance(30_000);
    const error = await failure;
    expect(error.code).toBe("start_timeout");
    expect(error.message).toBe("no answer to initialize within 30 s (nothing received)");
    expect(error.details).toMatchObject({ phase: "initialize", timeoutMs: 30_000 });
    expect(peer.transport.closeCount).toBe(1);
    expect(clock.pending).toBe(0);
  });

  it("PRO-23: a transport that never opens is named as such", async () => {
    const { peer, start, clock } = negotiation({}, { connectTimeoutMs: 5_000 });
    peer.transport.startWith = () => new Promise(() => undefined);
    const failure = failureOf(start());
    await clock.advance(5_000);
    expect((await failure).message).toBe(
      "the transport did not open within 5 s (nothing received)",
    );
    expect(peer.methods).toEqual([]);
  });
});

describe("an era that is known or demanded", () => {
  it("a known legacy server gets initialize first and no probe", async () => {
    const { peer, start } = negotiation(legacyScripts, { knownEra: "legacy" });
    await start();
    expect(peer.methods).toEqual(["initialize", "notifications/initialized"]);
  });

  it("a known legacy server that has become modern is still reached", async () => {
    const { start } = negotiation(
      { ...modernScripts, initialize: ({ id }, peer) => peer.fail(id, -32_601) },
      { knownEra: "legacy" },
    );
    await expect(start()).resolves.toMatchObject({ era: "modern" });
  });

  it("a known modern server is not hedged, but a refusal still leads to initialize", async () => {
    const silent = negotiation({ initialize: () => legacyHello }, { knownEra: "modern" });
    const slow = silent.start();
    await silent.clock.advance(10_000);
    expect(silent.peer.methods).toEqual(["server/discover"]);
    silent.peer.respond(silent.peer.find("server/discover")?.id, modernHello);
    await expect(slow).resolves.toMatchObject({ era: "modern" });
    const changed = negotiation(legacyScripts, { knownEra: "modern" });
    await expect(changed.start()).resolves.toMatchObject({ era: "legacy" });
  });

  it.each(["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"])(
    "C-08, PRO-17: %s is offered in initialize, without a probe",
    async (protocol) => {
      const { peer, start } = negotiation(
        {
          initialize: ({ params }) => ({
            ...legacyHello,
            protocolVersion: params?.["protocolVersion"],
          }),
        },
        { protocol },
      );
      await expect(start()).resolves.toMatchObject({ protocolVersion: protocol });
      expect(peer.methods).toEqual(["initialize", "notifications/initialized"]);
      expect(peer.transport.protocolVersion).toBe(protocol);
    },
  );

  it("C-08: the server may answer the offer with another revision we speak", async () => {
    const { start } = negotiation(
      { initialize: () => ({ ...legacyHello, protocolVersion: "2024-11-05" }) },
      { protocol: "2025-06-18" },
    );
    await expect(start()).resolves.toMatchObject({ protocolVersion: "2024-11-05" });
  });

  it("2026-07-28 demanded of a legacy server is a typed refusal without initialize", async () => {
    const { peer, start } = negotiation(legacyScripts, { protocol: "2026-07-28" });
    const error = await failureOf(start());
    expect(error.code).toBe("protocol_violation");
    expect(error.message).toContain("2026-07-28");
    expect(peer.methods).toEqual(["server/discover"]);
  });

  it("a revision that does not exist is a configuration error, and nothing is started", async () => {
    const { peer, start } = negotiation({}, { protocol: "2020-01-01" });
    const error = await failureOf(start());
    expect(error.code).toBe("config_invalid");
    expect(peer.transport.isStarted).toBe(false);
  });

  it.each(["1.0", "2026-07-28", "2099-12-31\u001B[2J"])(
    "C-08: a server that answers initialize with version %j is refused by name",
    async (protocolVersion) => {
      const { peer, start } = negotiation({
        ...legacyScripts,
        initialize: () => ({ ...legacyHello, protocolVersion }),
      });
      const error = await failureOf(start());
      expect(error.code).toBe("protocol_violation");
      expect(error.message).toContain(protocolVersion.slice(0, 3));
      expect(error.message).not.toContain("\u001B");
      expect(peer.methods).not.toContain("notifications/initialized");
      expect(peer.transport.closeCount).toBe(1);
    },
  );

  it("CON-05: an initialize result without a version is refused", async () => {
    const { start } = negotiation({ ...legacyScripts, initialize: () => ({}) });
    expect(await failureOf(start())).toMatchObject({
      name: "McpConnectionError",
      code: "protocol_violation",
      message: expect.stringContaining("it names no protocol version") as string,
    });
  });
});

describe("a server that dies", () => {
  it("of the probe is marked, so that it can be started once more without it", async () => {
    const exit = createError("start_exit", "the process ended with code 1");
    const { start } = negotiation({ "server/discover": (_, peer) => peer.die(exit) });
    const error = await failureOf(start());
    expect(error.code).toBe("start_exit");
    expect(error.message).toBe("the process ended with code 1");
    expect(error.details["diedOfProbe"]).toBe(true);
  });

  it("after refusing the probe is marked as well", async () => {
    const { start } = negotiation({
      "server/discover": ({ id }, peer) => {
        peer.fail(id, -32_600, "initialize first");
        peer.die();
      },
    });
    const error = await failureOf(start());
    expect(error).toMatchObject({ code: "connection_lost", details: { diedOfProbe: true } });
  });

  it("in a way that only the write notices is marked as well", async () => {
    const { peer, start } = negotiation({});
    peer.transport.override = () => Promise.reject(new Error("write EPIPE"));
    const error = await failureOf(start());
    expect(error).toMatchObject({ code: "connection_lost", details: { diedOfProbe: true } });
  });

  it.each([{ knownEra: "legacy" as const }, { protocol: "2025-11-25" }])(
    "without a probe (%j) is not marked",
    async (overrides) => {
      const { start } = negotiation({ initialize: (_, peer) => peer.die() }, overrides);
      const error = await failureOf(start());
      expect(error.code).toBe("connection_lost");
      expect(error.details["diedOfProbe"]).toBeUndefined();
      expect(error.details["phase"]).toBe("initialize");
    },
  );

  it("while it starts reports the transport's own reason", async () => {
    const { peer, start } = negotiation({});
    peer.transport.startWith = () =>
      Promise.reject(createError("command_not_found", "nope: not found"));
    const error = await failureOf(start());
    expect(error).toMatchObject({ code: "command_not_found", message: "nope: not found" });
    expect(error.details["diedOfProbe"]).toBeUndefined();
  });
});

describe("HTTP", () => {
  it.each([400, 404, 405, 410])("a probe answered with %d means legacy", async (status) => {
    await expect(overHttp(http(status)).start()).resolves.toMatchObject({ era: "legacy" });
  });

  it.each([
    http(503),
    createError("auth_required", "sign in"),
    createError("unreachable", "connection refused"),
    createError("blocked_address", "private network"),
  ])("$message on the probe is passed on and never taken for legacy", async (failure) => {
    const { peer, start } = overHttp(failure);
    const error = await failureOf(start());
    expect(error).toMatchObject({ code: failure.code, message: failure.message });
    expect(peer.methods).toEqual(["server/discover"]);
    expect(peer.transport.closeCount).toBe(1);
  });

  it("silence is no evidence: initialize is not sent beside the probe", async () => {
    const { peer, start, clock } = negotiation({}, { connectTimeoutMs: 10_000 });
    peer.transport.hasPerRequestStream = true;
    const failure = failureOf(start());
    await clock.advance(10_000);
    expect((await failure).message).toContain("no answer to server/discover within 10 s");
    expect(peer.methods).toEqual(["server/discover"]);
  });

  it("a foreign transport's status is understood: 405 is legacy, 401 asks for sign-in", async () => {
    for (const [status, expected] of [
      [405, "legacy"],
      [401, "auth_required"],
    ] as const) {
      const { peer, start } = negotiation({ initialize: () => legacyHello });
      const original = Object.assign(new Error("POST failed"), { data: { status } });
      peer.transport.override = async (message) => {
        if ("method" in message && message.method === "server/discover") throw original;
        peer.receive(message as never, undefined);
      };
      const outcome = await start().then(
        ({ era }) => era,
        (error: McpError) => error.code,
      );
      expect(outcome).toBe(expected);
    }
  });
});

describe("during negotiation", () => {
  it("PRO-19: the server's ping is answered, its other requests are refused", async () => {
    const { peer, start } = negotiation({
      ...legacyScripts,
      initialize: (_, server) => {
        server.send({ jsonrpc: "2.0", id: "p", method: "ping" });
        server.send({ jsonrpc: "2.0", id: 5, method: "sampling/createMessage", params: {} });
        return legacyHello;
      },
    });
    await start();
    expect(peer.received).toContainEqual({ jsonrpc: "2.0", id: "p", result: {} });
    expect(peer.received).toContainEqual({
      jsonrpc: "2.0",
      id: 5,
      error: { code: -32_601, message: "Method not found" },
    });
  });

  it("PRO-09: 100 stray notifications are tolerated, the 101st fails", async () => {
    await expect(flood(100).start()).resolves.toMatchObject({ era: "legacy" });
    const { peer, start } = flood(101);
    expect((await failureOf(start())).code).toBe("protocol_violation");
    expect(peer.transport.closeCount).toBe(1);
  });

  it("a signal cancels at any moment and closes the transport", async () => {
    const before = negotiation({}, { signal: AbortSignal.abort() });
    expect((await failureOf(before.start())).code).toBe("cancelled");
    expect(before.peer.transport.isStarted).toBe(false);
    const abort = new AbortController();
    const { peer, start, clock } = negotiation({}, { signal: abort.signal });
    const failure = failureOf(start());
    await settled();
    abort.abort();
    expect((await failure).code).toBe("cancelled");
    expect(peer.transport.closeCount).toBe(1);
    expect(clock.pending).toBe(0);
  });

  it("an answer with an id of another type does not count", async () => {
    const { peer, start, clock } = negotiation({});
    const failure = failureOf(start());
    await settled();
    peer.respond(String(peer.find("server/discover")?.id), modernHello);
    await clock.advance(30_000);
    expect((await failure).code).toBe("start_timeout");
  });
});
