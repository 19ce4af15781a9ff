import { describe, expect, it } from "vitest";

import {
  scriptedConnection,
  type ScriptedConnectionOptions,
} from "../../tests/fixtures/connection/scripted-connection.ts";
import { settled } from "../../tests/fixtures/protocol/manual-clock.ts";
import { createError } from "../errors/families.ts";

/** An open connection whose server takes its time to stop: until the test says so. */
async function slowToStop(options?: ScriptedConnectionOptions) {
  const scene = scriptedConnection(options);
  const waiting = scene.connection.client();
  const client = (await scene.handshake(0)).succeed();
  await waiting;
  let stopped = (): void => {};
  const stopping = new Promise<void>((resolve) => {
    stopped = resolve;
  });
  client.close = () => {
    // As real ones do, before the process has ended.
    client.onclose?.(undefined);
    return stopping;
  };
  return { ...scene, client, stopped };
}

/** Whether it has settled by now. */
async function isOver(promise: Promise<unknown>): Promise<boolean> {
  let over = false;
  const note = (): void => {
    over = true;
  };
  promise.then(note, note);
  await settled();
  return over;
}

describe("the end of a connection", () => {
  it("CON-04: closing ends an attempt that is newer than the close under way", async () => {
    const { connection, handshake, handshakes, stopped } = await slowToStop();
    const first = connection.close();
    const waiting = connection.client();
    const second = connection.close();
    expect(await isOver(Promise.race([first, second]))).toBe(false);
    stopped();
    await expect(waiting).rejects.toMatchObject({ code: "closed", serverName: "files" });
    await Promise.all([first, second]);
    expect([connection.state, handshakes.length]).toEqual(["idle", 1]);
    const again = connection.client();
    const client = (await handshake(1)).succeed();
    expect(await again).toBe(client);
  });

  it("CON-04: what was ended for good never starts again, whoever waits for it", async () => {
    const { connection, handshakes, stopped } = await slowToStop();
    const closing = connection.close();
    const waiting = [connection.client(), connection.client({ isForced: true })];
    const ended = connection.end();
    const late = connection.client({ isForced: true });
    stopped();
    const results = await Promise.allSettled([...waiting, late]);
    expect(results).toMatchObject([
      { status: "rejected", reason: { code: "closed" } },
      { status: "rejected", reason: { code: "closed" } },
      { status: "rejected", reason: { code: "closed" } },
    ]);
    await Promise.all([closing, ended]);
    await settled();
    expect([connection.state, handshakes.length]).toEqual(["idle", 1]);
  });

  it("CON-04: closing ends the restart of a server that was given up, and waits for that one's end", async () => {
    const { connection, client, handshakes, stopped } = await slowToStop();
    connection.noteAnswer();
    client.ping = () => Promise.reject(createError("timeout", "no sign of life"));
    expect(await connection.isAlive()).toBe(false);
    expect(connection.state).toBe("reconnecting");
    const ended = connection.end();
    expect(await isOver(ended)).toBe(false);
    stopped();
    await ended;
    await settled();
    expect([connection.state, handshakes.length]).toEqual(["idle", 1]);
  });

  it.each([{ reconnect: true }, { reconnect: false }])(
    "CON-04: a link that drops before its process has ended holds up its successor and the close, with %o",
    async (entry) => {
      const { connection, client, handshakes, stopped } = await slowToStop({ entry });
      connection.noteAnswer();
      client.onclose?.(createError("connection_lost", "the server closed its output"));
      const waiting = connection.client();
      expect(await isOver(waiting)).toBe(false);
      expect(handshakes).toHaveLength(1);
      const ended = connection.end();
      expect(await isOver(ended)).toBe(false);
      stopped();
      await ended;
      await expect(waiting).rejects.toMatchObject({ code: "closed" });
      expect(handshakes).toHaveLength(1);
    },
  );

  it("CON-04: closing does not wait for a server that is slow to list what it offers", async () => {
    let isListing = false;
    const { connection, handshake, closed, states } = scriptedConnection({
      onReady: () => {
        isListing = true;
        return new Promise(() => {});
      },
    });
    const waiting = connection.client();
    const refused = expect(waiting).rejects.toMatchObject({ code: "closed", serverName: "files" });
    const client = (await handshake(0)).succeed();
    await settled();
    expect(isListing).toBe(true);
    const closing = connection.close();
    expect(await isOver(closing)).toBe(true);
    await refused;
    expect(closed).toEqual([client]);
    expect(states).toEqual(["idle→connecting", "connecting→idle"]);
  });

  it("a handshake that succeeds at the moment of the end is of use to nobody", async () => {
    // After so many turns it may be over, or about to be, or its caller about to hear of it.
    for (let turns = 0; turns < 20; turns += 1) {
      const { connection, handshake, closed } = scriptedConnection();
      const waiting = connection.client();
      const client = (await handshake(0)).succeed();
      for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
      const wasOpen = connection.openClient === client;
      const ended = connection.end();
      const result = await waiting.catch((error: unknown) => error);
      await ended;
      if (wasOpen) expect(result).toBe(client);
      else expect(result).toMatchObject({ code: "closed" });
      expect([connection.state, connection.openClient]).toEqual(["idle", undefined]);
      expect(closed).toEqual([client]);
    }
  });

  it("CON-02: nothing is started for a caller who has already given up", async () => {
    const { connection, handshakes } = scriptedConnection();
    const waiting = connection.client({ signal: AbortSignal.abort() });
    await expect(waiting).rejects.toMatchObject({ code: "cancelled", serverName: "files" });
    await settled();
    expect([connection.state, handshakes.length]).toEqual(["idle", 0]);
  });
});
