import { describe, expect, it } from "vitest";

import { scriptedConnection } from "../../tests/fixtures/connection/scripted-connection.ts";
import type { ServerConnection } from "../connection/server-connection.ts";
import { ServerConnections } from "./server-connections.ts";
import { ServerVisibility } from "./server-visibility.ts";

function connectionsOf(everybodys: ServerConnection): ServerConnections {
  return new ServerConnections({
    visibility: new ServerVisibility(),
    everybodys,
    create: () => everybodys,
  });
}

function connections(visibility = new ServerVisibility()) {
  const everybodys = scriptedConnection().connection;
  const created: ServerConnection[] = [];
  const create = () => {
    const { connection } = scriptedConnection();
    created.push(connection);
    return connection;
  };
  return {
    connections: new ServerConnections({ visibility, everybodys, create }),
    everybodys,
    created,
  };
}

/** Whether the connection has been ended for good. */
async function isEnded(connection: ServerConnection): Promise<boolean> {
  const abort = AbortSignal.abort();
  const error: unknown = await connection.client({ signal: abort }).catch((it: unknown) => it);
  return (error as { code: string }).code === "closed";
}

describe("ServerConnections", () => {
  it("REG-11: as configured a server is everybody's, over one connection", () => {
    const { connections: it, everybodys } = connections();
    expect(it.connectionOf("a")).toBe(everybodys);
    expect(it.connectionOf("b")).toBe(everybodys);
  });

  it("REG-01 REG-02: claimed without sharing it is seen by its owner alone", () => {
    const { connections: it, created } = connections();
    const { connection: own } = it.claim({ owner: "a", isShared: false });
    expect(created).toEqual([own]);
    expect(it.connectionOf("a")).toBe(own);
    expect(it.connectionOf("b")).toBeUndefined();
    expect(it.claim({ owner: "a", isShared: false }).connection).toBe(own);
  });

  it("REG-02: two owners have a connection each; one that shares makes it everybody's again", () => {
    const { connections: it, everybodys } = connections();
    const { connection: first } = it.claim({ owner: "a", isShared: false });
    const { connection: second } = it.claim({ owner: "b", isShared: false });
    expect(second).not.toBe(first);
    expect(it.connectionOf("c")).toBeUndefined();
    it.claim({ owner: "d", isShared: true });
    expect(it.connectionOf("c")).toBe(everybodys);
    expect(it.connectionOf("a")).toBe(first);
  });

  it("REG-02: a claim that came to nothing takes the server from nobody", async () => {
    const { connections: it, everybodys } = connections();
    const { connection: own, drop } = it.claim({ owner: "a", isShared: false });
    await drop();
    expect(await isEnded(own)).toBe(true);
    expect(it.connectionOf("b")).toBe(everybodys);
  });

  it("REG-02: what an owner has by another claim stays", async () => {
    const { connections: it } = connections();
    const { connection: own } = it.claim({ owner: "a", isShared: false });
    const again = it.claim({ owner: "a", isShared: false });
    await again.drop();
    expect(it.connectionOf("a")).toBe(own);
    expect(await isEnded(own)).toBe(false);
    const late = it.claim({ owner: "a", isShared: false });
    await it.release("a", "s");
    const { connection: next } = it.claim({ owner: "a", isShared: false });
    await late.drop();
    expect(it.connectionOf("a")).toBe(next);
  });

  it("REG-18: who could not have the shared connection does not share it", async () => {
    const { connections: it } = connections();
    it.claim({ owner: "x", isShared: false });
    const { drop } = it.claim({ owner: "a", isShared: true });
    it.claim({ owner: "b", isShared: true });
    await drop();
    expect(() => it.release("a", "s")).toThrow("is shared by b");
    await it.release("b", "s");
    expect(it.connectionOf("c")).toBeUndefined();
  });

  it("when everybody lets go, the server is as configured again", async () => {
    const { connections: it, everybodys } = connections();
    const { connection: own } = it.claim({ owner: "a", isShared: false });
    it.claim({ owner: "b", isShared: true });
    await it.releaseAll();
    expect(await isEnded(own)).toBe(true);
    expect(it.connectionOf("a")).toBe(everybodys);
    expect(it.claimedBy("b")).toBeUndefined();
  });

  it("LIM-11: the last one to let go of a shared connection ends it", async () => {
    const { connection, handshake, closed } = scriptedConnection();
    const it = connectionsOf(connection);
    it.claim({ owner: "a", isShared: true });
    it.claim({ owner: "b", isShared: true });
    const opening = connection.client();
    const client = (await handshake(0)).succeed();
    await opening;
    await it.release("b", "s");
    expect(closed).toEqual([]);
    expect(() => it.release("b", "s")).toThrow(expect.objectContaining({ code: "denied" }));
    await it.release("a", "s");
    expect(closed).toEqual([client]);
  });

  it("LIM-11: the last borrower closes what was opened for borrowers alone", async () => {
    const { connection, handshake, closed } = scriptedConnection();
    const it = connectionsOf(connection);
    const [one, two] = [{}, {}];
    expect(it.borrow("a", one)).toBe(connection);
    const opening = connection.client();
    const client = (await handshake(0)).succeed();
    await opening;
    it.borrow("b", two);
    it.borrow("b", two);
    await it.giveBack(one);
    await it.giveBack(one);
    expect(closed).toEqual([]);
    await it.giveBack(two);
    expect(closed).toEqual([client]);
  });

  it.each(["before", "after"])(
    "LIM-11: what somebody else wants %s the borrowers came stays open without them",
    async (when) => {
      const { connection, handshake, closed } = scriptedConnection();
      const it = connectionsOf(connection);
      const borrower = {};
      if (when === "after") it.borrow("a", borrower);
      const opening = it.keep().client();
      await handshake(0).then(({ succeed }) => succeed());
      await opening;
      if (when === "before") it.borrow("a", borrower);
      await it.giveBack(borrower);
      expect(closed).toEqual([]);
    },
  );

  it("LIM-11: the last borrower leaves open what somebody uses at that moment", async () => {
    const { connection, handshake, closed } = scriptedConnection();
    const it = connectionsOf(connection);
    const borrower = {};
    it.borrow("a", borrower);
    const opening = connection.client();
    const client = (await handshake(0)).succeed();
    await opening;
    Object.assign(client, { isIdle: false });
    await it.giveBack(borrower);
    expect(closed).toEqual([]);
  });

  it("LIM-11: a claim keeps what a borrower had opened", async () => {
    const { connection, handshake, closed } = scriptedConnection();
    const it = connectionsOf(connection);
    const borrower = {};
    it.borrow("a", borrower);
    const opening = connection.client();
    await handshake(0).then(({ succeed }) => succeed());
    await opening;
    it.claim({ owner: "b", isShared: true });
    await it.giveBack(borrower);
    expect(closed).toEqual([]);
  });

  it("REG-02: an agent that does not see the server cannot borrow it", () => {
    const { connections: it } = connections();
    it.claim({ owner: "a", isShared: false });
    expect(it.borrow("b", {})).toBeUndefined();
  });

  it("REG-18: who has no part in a shared connection cannot end it", async () => {
    const { connections: it } = connections();
    it.claim({ owner: "a", isShared: true });
    expect(() => it.release("b", "files")).toThrow(
      expect.objectContaining({
        code: "denied",
        message: '"files" is shared by a, who alone may end it',
      }),
    );
  });

  it("letting go of a connection of one's own ends it for good", async () => {
    const { connections: it, everybodys } = connections();
    const { connection: own } = it.claim({ owner: "a", isShared: false });
    await it.release("a", "s");
    expect(await isEnded(own)).toBe(true);
    expect(it.connectionOf("a")).toBe(everybodys);
  });

  it("REG-02: another definition of the server is seen by the same agents", async () => {
    const visibility = new ServerVisibility();
    const before = connections(visibility);
    const { connection: own } = before.connections.claim({ owner: "a", isShared: false });
    await Promise.all(before.connections.end());
    const { connections: it, created } = connections(visibility);
    expect(it.connectionOf("b")).toBeUndefined();
    expect(it.connectionOf("a")).not.toBe(own);
    expect(it.connectionOf("a")).toBe(created[0]);
    expect(it.claimedBy("a")).toEqual({ connection: created[0], isShared: false });
    await it.release("a", "s");
    expect(await isEnded(created[0]!)).toBe(true);
    expect(it.connectionOf("b")).toBeDefined();
  });

  it("of a definition that is gone no connection is made", async () => {
    const { connections: it, created } = connections();
    await Promise.all(it.end());
    const { connection } = it.claim({ owner: "a", isShared: false });
    expect(created).toEqual([]);
    expect(await isEnded(connection)).toBe(true);
  });
});
