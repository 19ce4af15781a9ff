import { describe, expect, it } from "vitest";

import { createHost } from "../../src/index.ts";
import { createMemoryServer, createTestServer, testServerEntry } from "../../src/testing/index.ts";

describe("who sees a server", () => {
  it("REG-02 REG-03 REG-04: one that an agent connects for itself exists for that agent alone", async () => {
    await using host = await createHost({ config: false, servers: { files: testServerEntry() } });
    const main = host.session({ agent: "main", level: "yolo" });
    const other = host.session({ agent: "other", level: "yolo" });
    expect(other.servers()).toEqual(["files"]);
    await host.connect("files", { owner: "main" });
    expect([main.servers(), main.tools().length]).toEqual([["files"], 3]);
    expect([other.servers(), other.tools()]).toEqual([[], []]);
    expect(await main.call("mcp__files__add", { a: 1, b: 2 })).toMatchObject({ text: "3" });
    expect(await other.call("mcp__files__add", { a: 1, b: 2 })).toMatchObject({
      ok: false,
      error: { code: "server_unknown" },
    });
  });

  it("REG-01: agents that each connect it have a process each, and end only their own", async () => {
    await using host = await createHost({ config: false, servers: { files: testServerEntry() } });
    await host.connect("files", { owner: "a" });
    await host.connect("files", { owner: "b" });
    await host.disconnect("files", { owner: "a" });
    const b = host.session({ agent: "b", level: "yolo" });
    expect(await b.call("mcp__files__add", { a: 1, b: 2 })).toMatchObject({ text: "3" });
    expect(host.session({ agent: "a", level: "yolo" }).servers()).toEqual([]);
  });

  it("a status tells of an agent's own connection where everybody's has nothing to tell", async () => {
    await using host = await createHost({ config: false, servers: { files: testServerEntry() } });
    const first = await host.connect("files", { owner: "a" });
    const second = await host.connect("files", { owner: "b" });
    expect([first.state, second.state]).toEqual(["connected", "connected"]);
    expect(first.pid).not.toBe(second.pid);
    expect(host.server("files")).toMatchObject({ state: "connected", pid: first.pid });
    await host.disconnect("files", { owner: "a" });
    expect(host.server("files")).toMatchObject({ state: "connected", pid: second.pid });
    await host.disconnect("files");
    expect(host.server("files")).toMatchObject({ state: "idle", pid: undefined });
  });

  it("SES-16: what a server was given is not in the history of an agent that has it for itself", async () => {
    const secret = "only-for-the-server";
    await using host = await createHost({
      config: false,
      servers: { files: { ...testServerEntry(), env: { TOKEN: secret } } },
    });
    await host.connect("files", { owner: "main" });
    const session = host.session({ level: "yolo", history: true });
    await session.call("mcp__files__echo", { text: `it is ${secret}` });
    expect(session.history()).toHaveLength(1);
    expect(JSON.stringify(session.history())).not.toContain(secret);
  });

  it("REG-18: a shared one serves everybody, and only who holds it may end it", async () => {
    await using host = await createHost({ config: false, servers: { files: testServerEntry() } });
    await host.connect("files", { owner: "a", shared: true });
    const b = host.session({ agent: "b", level: "yolo" });
    expect(b.tools()).toHaveLength(3);
    await expect(host.disconnect("files", { owner: "b" })).rejects.toMatchObject({
      name: "McpPermissionError",
      code: "denied",
    });
    await host.disconnect("files", { owner: "a" });
    expect(host.server("files").state).toBe("idle");
  });

  it("REG-12 CON-07 CON-10: all answer the check; one that was killed is back after connectAll", async () => {
    await using host = await createHost({ config: false, servers: { files: testServerEntry() } });
    expect(await host.connectAll()).toEqual({ files: true });
    expect(await host.checkConnections()).toEqual([]);
    const { pid } = host.server("files");
    const lost = new Promise((resolve) => host.on("server-state", resolve));
    process.kill(pid as number, "SIGKILL");
    await lost;
    expect(await host.connectAll()).toEqual({ files: true });
    expect(host.server("files").pid).not.toBe(pid);
  });

  it("REG-07: a server that gives no sign of life is dropped and named", async () => {
    const { transport } = createMemoryServer(createTestServer());
    await using host = await createHost({ config: false, servers: { mute: transport } });
    await host.connect("mute");
    transport.send = () => Promise.reject(new Error("gone"));
    expect(await host.checkConnections()).toEqual(["mute"]);
    expect(host.server("mute").state).not.toBe("connected");
    expect(await host.checkConnections()).toEqual([]);
  });
});
