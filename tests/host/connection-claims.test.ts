import { describe, expect, it } from "vitest";

import { createHost, type HostEvent, type McpHost } from "../../src/index.ts";
import { demoServerEntry, testServerEntry } from "../../src/testing/index.ts";

/** Who sees the server `files`, of the agents `a`, `b` and `c`. */
function seenBy(host: McpHost): readonly string[] {
  const sees = (agent: string): boolean =>
    host.session({ agent, level: "yolo" }).servers().includes("files");
  return ["a", "b", "c"].filter((agent) => sees(agent));
}

function consentEvents(host: McpHost): readonly HostEvent[] {
  const events: HostEvent[] = [];
  host.on("consent-mode-set", (event) => void events.push(event));
  host.on("consent-ended", (event) => void events.push(event));
  return events;
}

describe("a server that an agent connects for itself", () => {
  it("REG-02: is taken from nobody when that fails, and no mode is set", async () => {
    const files = { command: "/nonexistent/server" };
    await using host = await createHost({ config: false, servers: { files } });
    const events = consentEvents(host);
    const connecting = host.connect("files", { owner: "a", mode: "allow-all" });
    await expect(connecting).rejects.toMatchObject({ code: "command_not_found" });
    expect(seenBy(host)).toEqual(["a", "b", "c"]);
    expect(events).toEqual([]);
    await expect(host.connect("files", { owner: "b", shared: true })).rejects.toThrow();
    // Nobody shares it, so nobody's leave has to be asked.
    await host.disconnect("files", { owner: "c" });
  });

  it("REG-02: stays that agent's when it is connected and connecting it again fails", async () => {
    await using host = await createHost({ config: false, servers: { files: testServerEntry() } });
    await host.connect("files", { owner: "a" });
    await host.reconnect("files", { owner: "a" });
    await expect(
      host.reconnect("files", { owner: "a", signal: AbortSignal.abort() }),
    ).rejects.toMatchObject({ code: "cancelled" });
    expect(seenBy(host)).toEqual(["a"]);
  });

  it("REG-02: is everybody's again when the server is disconnected, for one or for all", async () => {
    await using host = await createHost({ config: false, servers: { files: testServerEntry() } });
    for (const disconnect of [
      () => host.disconnect("files", { owner: "a" }),
      () => host.disconnect("files"),
      () => host.disconnectAll(),
    ]) {
      await host.connect("files", { owner: "a" });
      expect(seenBy(host)).toEqual(["a"]);
      await disconnect();
      expect(seenBy(host)).toEqual(["a", "b", "c"]);
    }
  });

  it("is connected again without ending what others have", async () => {
    await using host = await createHost({ config: false, servers: { files: testServerEntry() } });
    const own = await host.connect("files", { owner: "a" });
    const others = await host.connect("files", { owner: "b" });
    const again = await host.reconnect("files", { owner: "a" });
    expect(again.pid).not.toBe(own.pid);
    expect((await host.connect("files", { owner: "b" })).pid).toBe(others.pid);
    expect(seenBy(host)).toEqual(["a", "b"]);
  });

  it("one that it shares stays shared when it is connected again", async () => {
    await using host = await createHost({ config: false, servers: { files: testServerEntry() } });
    const shared = await host.connect("files", { owner: "a", shared: true });
    const again = await host.reconnect("files", { owner: "a" });
    expect(again.pid).not.toBe(shared.pid);
    expect(seenBy(host)).toEqual(["a", "b", "c"]);
  });
});

describe("who may not end a connection", () => {
  it("REG-18: has not ended any consent either", async () => {
    await using host = await createHost({ config: false, servers: { files: testServerEntry() } });
    await host.connect("files", { owner: "a", shared: true });
    const events = consentEvents(host);
    await expect(host.disconnect("files", { owner: "b" })).rejects.toMatchObject({
      code: "denied",
    });
    expect(events).toEqual([]);
    await host.disconnect("files", { owner: "a" });
    expect(events).toMatchObject([{ type: "consent-ended", agent: "a" }]);
  });

  it("LIM-11: a section that is disconnected leaves alone what another agent calls", async () => {
    await using host = await createHost({ config: false, servers: { files: demoServerEntry() } });
    const section = host.session({ agent: "a", level: "yolo" }).section({ servers: ["files"] });
    await section.connect();
    const other = host.session({ agent: "b", level: "yolo" });
    const progress = new Promise((resolve) => other.on("call-progress", resolve));
    const call = other.call("mcp__files__slow", { steps: 2, delayMs: 200 });
    await progress;
    await section.disconnect();
    expect(await call).toMatchObject({ ok: true });
  });
});
