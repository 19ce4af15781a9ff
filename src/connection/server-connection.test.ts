import { describe, expect, it } from "vitest";

import { scriptedConnection } from "../../tests/fixtures/connection/scripted-connection.ts";
import { ManualClock, settled } from "../../tests/fixtures/protocol/manual-clock.ts";
import { defaultLimits } from "../config/keys/limits.ts";
import { parseServerEntry } from "../config/parse/parse-config.ts";
import { createError } from "../errors/families.ts";
import { stateAfterFailure } from "./connection-error.ts";
import { connectDeadlineMs } from "./open-connection.ts";

describe("ServerConnection", () => {
  it("REG-19: concurrent callers share one handshake", async () => {
    const { connection, handshake, handshakes, states } = scriptedConnection();
    const callers = [connection.client(), connection.client(), connection.client()];
    const client = (await handshake(0)).succeed();
    expect(await Promise.all(callers)).toEqual([client, client, client]);
    expect(handshakes).toHaveLength(1);
    expect(connection.openClient).toBe(client);
    expect(states).toEqual(["idle→connecting", "connecting→connected"]);
  });

  it("CON-08: with reconnect off a link that drops is opened again by the next use only", async () => {
    const { connection, handshake, handshakes, states } = scriptedConnection({
      entry: { reconnect: false },
    });
    const waiting = connection.client();
    const first = (await handshake(0)).succeed();
    await waiting;
    first.onclose?.(createError("connection_lost", "the server went away"));
    expect([connection.state, connection.openClient]).toEqual(["disconnected", undefined]);
    expect(connection.lastError).toMatchObject({ code: "connection_lost", serverName: "files" });
    await settled();
    expect(handshakes).toHaveLength(1);
    const again = connection.client();
    const second = (await handshake(1)).succeed();
    expect(await again).toBe(second);
    expect([connection.state, connection.lastError]).toEqual(["connected", undefined]);
    expect(states).toEqual([
      "idle→connecting",
      "connecting→connected",
      "connected→disconnected",
      "disconnected→connecting",
      "connecting→connected",
    ]);
  });

  it("ERR-17 STD-21: a failed start says where the server is defined and what it printed, and may be tried again", async () => {
    const { connection, handshake } = scriptedConnection();
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
    expect(connection.state).toBe("reconnecting");
    const again = connection.client();
    (await handshake(1)).succeed();
    await expect(again).resolves.toBeDefined();
  });

  it("tells those who wait how far the start has come, and nobody else", async () => {
    let list = (): void => {};
    const listed = new Promise<void>((resolve) => (list = resolve));
    const { connection, handshake } = scriptedConnection({ onReady: () => listed });
    const heard: Record<string, string[]> = { first: [], late: [], gone: [] };
    const hear = (name: string) => (phase: string) => void heard[name]?.push(phase);
    const abort = new AbortController();
    const first = connection.client({
      onPhase: (phase) => {
        hear("first")(phase);
        throw new Error("a handler that fails changes nothing");
      },
    });
    const gone = connection.client({ onPhase: hear("gone"), signal: abort.signal });
    const begun = await handshake(0);
    abort.abort();
    await expect(gone).rejects.toMatchObject({ code: "cancelled" });
    begun.options.onStarted?.();
    // A second try within the same start, as after an era probe that ended the process.
    begun.options.onStarted?.();
    const late = connection.client({ onPhase: hear("late") });
    begun.succeed();
    await settled();
    list();
    await Promise.all([first, late]);
    await connection.client({ onPhase: hear("late") });
    expect(heard).toEqual({
      first: ["starting", "handshake", "listing"],
      late: ["handshake", "listing"],
      gone: ["starting"],
    });
  });

  it("one caller's cancellation ends that wait only", async () => {
    const { connection, handshake } = scriptedConnection();
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
    const { connection, handshake, states } = scriptedConnection();
    const waiting = connection.client();
    await handshake(0);
    const closing = connection.close();
    await expect(waiting).rejects.toMatchObject({ code: "closed" });
    await closing;
    expect([connection.state, connection.openClient]).toEqual(["idle", undefined]);
    const again = connection.client();
    (await handshake(1)).succeed();
    await again;
    expect(states.at(-1)).toBe("connecting→connected");
  });

  it("a client that becomes ready while closing is closed too", async () => {
    const { connection, handshake, closed } = scriptedConnection();
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
    const { connection, handshake, closed } = scriptedConnection();
    const waiting = connection.client();
    (await handshake(0)).succeed();
    await waiting;
    await Promise.all([connection.close(), connection.close()]);
    await connection.close();
    expect(closed).toHaveLength(1);
  });

  it("a server that dies of the era probe is started once more without it", async () => {
    const { connection, handshake, handshakes } = scriptedConnection();
    const waiting = connection.client();
    const died = createError("start_exit", "gone", { details: { diedOfProbe: true } });
    (await handshake(0)).fail(died);
    const second = await handshake(1);
    expect(second.options.knownEra).toBe("legacy");
    second.fail(died);
    await expect(waiting).rejects.toMatchObject({ code: "start_exit" });
    expect(handshakes).toHaveLength(2);
  });

  it("B3: one that dies with and without the probe costs one process for each further start", async () => {
    const clock = new ManualClock();
    const { connection, handshake, handshakes } = scriptedConnection({ clock });
    const waiting = connection.client();
    (await handshake(0)).fail(
      createError("start_exit", "gone", { details: { diedOfProbe: true } }),
    );
    (await handshake(1)).fail(createError("start_exit", "gone"));
    await expect(waiting).rejects.toMatchObject({ code: "start_exit" });
    await clock.advance(500);
    const third = await handshake(2);
    // That it ends either way says nothing about the era it would speak.
    expect(third.options.knownEra).toBeUndefined();
    third.fail(createError("start_exit", "gone", { details: { diedOfProbe: true } }));
    await clock.advance(1_000);
    expect((await handshake(3)).options.knownEra).toBeUndefined();
    expect(handshakes).toHaveLength(4);
    await connection.close();
  });

  it("B3: one that says why it ends is not started once more without the probe", async () => {
    const { connection, handshake, handshakes } = scriptedConnection({
      entry: { reconnect: false },
    });
    const waiting = connection.client();
    const printedCause = { kind: "variable-missing", summary: "X_Y must be set", lines: [] };
    (await handshake(0)).fail(
      createError("start_exit", "gone", { details: { diedOfProbe: true, printedCause } }),
    );
    await expect(waiting).rejects.toMatchObject({ code: "start_exit" });
    expect(handshakes).toHaveLength(1);
  });

  it("remembers the era for the next connection", async () => {
    const { connection, handshake } = scriptedConnection();
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

const lost = createError("connection_lost", "the server went away");
const died = createError("start_exit", "stopped during start");

describe("ServerConnection restarts", () => {
  async function connected(entry: Readonly<Record<string, unknown>> = {}, sessionId?: string) {
    const clock = new ManualClock();
    const scene = scriptedConnection({ entry, clock, ...(sessionId && { sessionId }) });
    const waiting = scene.connection.client();
    const client = (await scene.handshake(0)).succeed();
    await waiting;
    return { ...scene, clock, client };
  }

  it("CON-01 CON-06: a server that crashes after useful work is back at once", async () => {
    const { connection, client, handshake, states } = await connected();
    connection.noteAnswer();
    client.onclose?.(lost);
    const again = connection.client();
    const second = (await handshake(1)).succeed();
    expect(await again).toBe(second);
    expect(states.slice(2)).toEqual(["connected→reconnecting", "reconnecting→connected"]);
  });

  it("CON-06 CON-16: one that never answers comes back slower each time, three times", async () => {
    const { connection, client, clock, handshake, handshakes, states } = await connected();
    client.onclose?.(lost);
    await clock.advance(240);
    expect(handshakes).toHaveLength(1);
    for (const [index, longestMs] of [500, 1_000, 2_000].entries()) {
      await clock.advance(longestMs);
      const next = (await handshake(index + 1)).succeed();
      await settled();
      next.onclose?.(lost);
    }
    await clock.advance(600_000);
    expect(handshakes).toHaveLength(4);
    expect(connection.state).toBe("disconnected");
    expect(connection.lastError).toMatchObject({ code: "connection_lost" });
    expect(states.at(-1)).toBe("connected→disconnected");
  });

  it("CON-06 CON-16: useful work before a restart does not excuse a crash after it", async () => {
    const { connection, client, clock, handshake, handshakes, states } = await connected();
    connection.noteAnswer();
    client.onclose?.(lost);
    for (const [index, longestMs] of [0, 500, 1_000, 2_000].entries()) {
      await clock.advance(longestMs / 2 - 1);
      expect(handshakes).toHaveLength(index === 0 ? 2 : index + 1);
      await clock.advance(longestMs / 2 + 1);
      const next = (await handshake(index + 1)).succeed();
      await settled();
      next.onclose?.(lost);
    }
    await clock.advance(600_000);
    expect(handshakes).toHaveLength(5);
    expect(states.at(-1)).toBe("connected→disconnected");
  });

  it("CON-06: a start that fails is tried again three times, then the reason stays", async () => {
    const { connection, client, clock, handshake, handshakes } = await connected();
    connection.noteAnswer();
    client.onclose?.(lost);
    for (const index of [1, 2, 3, 4]) {
      (await handshake(index)).fail(died);
      await clock.advance(2_000);
    }
    await clock.advance(600_000);
    expect(handshakes).toHaveLength(5);
    expect(connection.state).toBe("disconnected");
    expect(connection.lastError).toMatchObject({ code: "start_exit" });
    expect(clock.pending).toBe(0);
  });

  it("a start that no restart mends is not repeated", async () => {
    const clock = new ManualClock();
    const { connection, handshake, handshakes } = scriptedConnection({ clock });
    const waiting = connection.client();
    (await handshake(0)).fail(createError("command_not_found", "no such command"));
    await expect(waiting).rejects.toMatchObject({ code: "command_not_found" });
    await clock.advance(600_000);
    expect(handshakes).toHaveLength(1);
    expect(connection.state).toBe("error");
  });

  it("CON-17: who needs the server during the wait does not wait, unless it fails to start", async () => {
    const { connection, client, clock, handshake, handshakes } = await connected();
    client.onclose?.(lost);
    await settled();
    expect(handshakes).toHaveLength(1);
    const hurried = connection.client();
    (await handshake(1)).fail(died);
    await expect(hurried).rejects.toMatchObject({ code: "start_exit" });
    const patient = connection.client();
    await settled();
    expect(handshakes).toHaveLength(2);
    await clock.advance(2_000);
    const third = (await handshake(2)).succeed();
    expect(await patient).toBe(third);
  });

  it("a server that keeps failing is not started by every call, but by a person", async () => {
    const clock = new ManualClock();
    const { connection, handshake, handshakes } = scriptedConnection({ clock });
    const first = expect(connection.client()).rejects.toMatchObject({ code: "start_exit" });
    for (const index of [0, 1, 2, 3]) {
      (await handshake(index)).fail(died);
      await clock.advance(2_000);
    }
    await first;
    await expect(connection.client()).rejects.toMatchObject({ code: "start_exit" });
    await settled();
    expect(handshakes).toHaveLength(4);
    const forced = connection.client({ isForced: true });
    (await handshake(4)).succeed();
    await expect(forced).resolves.toBeDefined();
  });

  it("B3: a call each second starts a server that always dies no more than eight times a minute", async () => {
    const clock = new ManualClock();
    const { connection, handshakes } = scriptedConnection({ clock });
    const outcomes: Promise<unknown>[] = [];
    let failed = 0;
    for (let second = 0; second < 60; second += 1) {
      outcomes.push(connection.client().catch((error: unknown) => error));
      await clock.advance(1_000);
      for (; failed < handshakes.length; failed += 1)
        handshakes[failed]?.fail(
          createError("start_exit", "gone", { details: { diedOfProbe: failed === 0 } }),
        );
      await settled();
    }
    await connection.close();
    expect(handshakes.length).toBeGreaterThan(4);
    expect(handshakes.length).toBeLessThanOrEqual(8);
    for (const outcome of await Promise.all(outcomes))
      expect(outcome).toMatchObject({ code: "start_exit" });
  });

  it("after the cooldown a call may start it again", async () => {
    const clock = new ManualClock();
    const { connection, handshake } = scriptedConnection({ clock });
    connection.client().catch(() => undefined);
    for (const index of [0, 1, 2, 3]) {
      (await handshake(index)).fail(died);
      await clock.advance(2_000);
    }
    await clock.advance(10_000);
    const again = connection.client();
    (await handshake(4)).succeed();
    await expect(again).resolves.toBeDefined();
  });

  it("an address may be asked again after a second", async () => {
    const clock = new ManualClock();
    const entry = { command: undefined, url: "http://127.0.0.1:1/mcp", transport: "http-post" };
    const { connection, handshake } = scriptedConnection({ clock, entry });
    connection.client().catch(() => undefined);
    for (const index of [0, 1, 2, 3]) {
      (await handshake(index)).fail(createError("unreachable", "nothing is listening"));
      await clock.advance(index === 3 ? 900 : 2_000);
    }
    await expect(connection.client()).rejects.toMatchObject({ code: "unreachable" });
    await clock.advance(100);
    const again = connection.client();
    (await handshake(4)).succeed();
    await expect(again).resolves.toBeDefined();
  });

  it("halfOpen goes on with a slow probe", async () => {
    const { client, clock, handshake, handshakes } = await connected({ halfOpen: true });
    client.onclose?.(lost);
    for (const index of [1, 2, 3, 4]) {
      await clock.advance(30_000);
      (await handshake(index)).fail(died);
    }
    await clock.advance(30_000);
    expect(handshakes).toHaveLength(6);
  });

  it("CON-16: closing during the wait ends it", async () => {
    const { connection, client, clock, handshakes } = await connected();
    client.onclose?.(lost);
    expect(connection.state).toBe("reconnecting");
    await connection.close();
    expect([connection.state, clock.pending]).toEqual(["idle", 0]);
    await clock.advance(600_000);
    expect(handshakes).toHaveLength(1);
  });

  it("SHT-06: a session the server no longer knows is replaced by a new one", async () => {
    const { connection, handshake, closed, client } = await connected();
    connection.noteAnswer();
    connection.noteFailure(
      createError("connection_lost", "unknown session", { details: { sessionLost: true } }),
    );
    const again = connection.client();
    const second = (await handshake(1)).succeed();
    expect(await again).toBe(second);
    expect(closed).toEqual([client]);
  });

  const refused = createError("http_error", "HTTP 400", { details: { status: 400 } });

  it("SHT-06: so is one in which even a ping is answered with 400", async () => {
    const { connection, client, handshake, closed } = await connected({}, "s1");
    connection.noteAnswer();
    client.ping = () => Promise.reject(refused);
    connection.noteFailure(refused);
    const second = (await handshake(1)).succeed();
    await settled();
    expect(connection.openClient).toBe(second);
    expect(closed).toEqual([client]);
  });

  it("SHT-06: a 400 to one request says nothing, and neither does one without a session", async () => {
    const { connection, client } = await connected({}, "s1");
    let pings = 0;
    client.ping = () => Promise.resolve(void (pings += 1));
    connection.noteFailure(refused);
    await settled();
    expect([pings, connection.openClient]).toEqual([1, client]);
    const other = await connected();
    other.client.ping = () => Promise.reject(refused);
    other.connection.noteFailure(refused);
    expect(await other.connection.isAlive()).toBe(true);
    expect(other.connection.openClient).toBe(other.client);
  });

  it("CON-11: a server that misses a deadline and gives no sign of life is given up", async () => {
    const { connection, client, closed, handshake } = await connected();
    connection.noteAnswer();
    let asked = 0;
    client.ping = () => {
      asked += 1;
      return Promise.reject(createError("timeout", "no answer"));
    };
    connection.noteFailure(createError("timeout", "too late"));
    connection.noteFailure(createError("timeout", "too late"));
    await handshake(1);
    expect([asked, closed]).toEqual([1, [client]]);
    await connection.close();
  });

  it("B11: its successor starts when it has ended, and the reason is what it missed", async () => {
    const { connection, client, handshake, handshakes, states } = await connected();
    connection.noteAnswer();
    let finish = () => {};
    client.close = () => {
      // As real ones do, before the process has ended.
      client.onclose?.(undefined);
      return new Promise((resolve) => {
        finish = resolve;
      });
    };
    client.ping = () => Promise.reject(createError("timeout", "no sign of life"));
    expect(await connection.isAlive()).toBe(false);
    expect(connection.lastError?.message).toContain("no sign of life");
    await settled();
    expect([handshakes.length, states.at(-1)]).toEqual([1, "connected→reconnecting"]);
    finish();
    const again = connection.client();
    const second = (await handshake(1)).succeed();
    expect(await again).toBe(second);
  });

  it("CON-11: one that answers, if only with an error, stays", async () => {
    const { connection, client } = await connected();
    client.ping = () => Promise.reject(createError("rpc_error", "unknown method"));
    expect(await connection.isAlive()).toBe(true);
    expect(connection.openClient).toBe(client);
  });
});

describe("ServerConnection idleness", () => {
  it("CON-20: a server that nobody uses is stopped, and the next use starts it again", async () => {
    const clock = new ManualClock();
    const { connection, handshake, closed } = scriptedConnection({
      clock,
      limits: { idleStopMs: 1_000 },
    });
    const first = connection.client();
    const client = (await handshake(0)).succeed();
    await first;
    connection.noteAnswer();
    await clock.advance(1_000);
    expect(connection.state).toBe("connected");
    Object.assign(client, { isIdle: false });
    await clock.advance(1_000);
    expect(connection.state).toBe("connected");
    Object.assign(client, { isIdle: true });
    await clock.advance(1_000);
    expect([connection.state, closed]).toEqual(["idle", [client]]);
    const again = connection.client();
    const second = (await handshake(1)).succeed();
    expect(await again).toBe(second);
  });
});

describe("connectDeadlineMs", () => {
  it("gives the first start of a package runner time to download", () => {
    const npx = parseServerEntry("x", { command: "npx", args: ["-y", "some-server"] });
    expect(connectDeadlineMs(npx, defaultLimits, false)).toBe(120_000);
    expect(connectDeadlineMs(npx, defaultLimits, true)).toBe(30_000);
    const plain = parseServerEntry("x", { command: "serve-files" });
    expect(connectDeadlineMs(plain, defaultLimits, false)).toBe(30_000);
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
  ] as const)("STA-08: %s leaves the server %s", (code, state) => {
    expect(stateAfterFailure(code)).toBe(state);
  });
});
