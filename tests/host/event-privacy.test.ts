import { Server } from "@modelcontextprotocol/server";
import { describe, expect, it } from "vitest";

import {
  type CallStreamItem,
  createHost,
  type HostEvent,
  type HostEventOf,
  type McpHost,
} from "../../src/index.ts";
import { createMemoryServer, demoServerEntry } from "../../src/testing/index.ts";
import { makeProject } from "./project.ts";
import { anyTool } from "./recorded-host.ts";

/** A server that logs who calls it. */
function telltale(): Server {
  const info = { name: "telltale", version: "1.0.0" };
  const server = new Server(info, { capabilities: { tools: {}, logging: {} } });
  server.setRequestHandler("tools/list", () => ({ tools: [anyTool as never] }));
  server.setRequestHandler("tools/call", async ({ params }) => {
    const data = `called by ${String(params.arguments?.["who"])}`;
    await server.notification({ method: "notifications/message", params: { level: "info", data } });
    return { content: [] };
  });
  return server;
}

/** A server that wants to know the roots as soon as it is connected. */
function rootsAsker(): Server {
  const server = new Server({ name: "asker", version: "1.0.0" }, { capabilities: {} });
  server.oninitialized = () => void server.listRoots();
  return server;
}

function telltaleHost(): Promise<McpHost> {
  const open = () => createMemoryServer(telltale).transport;
  return createHost({ config: false, servers: { s: open }, protocolVersion: "2025-11-25" });
}

async function logged(items: AsyncIterable<CallStreamItem>): Promise<readonly string[]> {
  const texts: string[] = [];
  for await (const item of items) if (item.type === "log") texts.push(item.text);
  return texts;
}

describe("what an agent hears of others", () => {
  it("REG-02: what a server logs is heard over the connection it logs to", async () => {
    await using host = await telltaleHost();
    await host.connect("s", { owner: "a" });
    await host.connect("s", { owner: "b" });
    const [a, b, c] = ["a", "b", "c"].map((agent) => host.session({ agent, level: "yolo" }));
    const heardByC: HostEvent[] = [];
    c?.on("*", (event) => void heardByC.push(event));
    const texts = await Promise.all([
      logged(a!.stream("mcp__s__any", { who: "a" })),
      logged(b!.stream("mcp__s__any", { who: "b" })),
    ]);
    expect(texts).toEqual([["called by a"], ["called by b"]]);
    await host.disconnect("s", { owner: "a" });
    expect(heardByC).toEqual([]);
  });

  it("REG-02: what a server asks outside of calls is told to the agent whose connection it is", async () => {
    const open = () => createMemoryServer(rootsAsker).transport;
    await using host = await createHost({
      config: false,
      servers: { s: open },
      roots: [],
      protocolVersion: "2025-11-25",
    });
    const heard: unknown[] = [];
    const answered: Promise<unknown>[] = [];
    for (const agent of ["a", "b"]) {
      const session = host.session({ agent, level: "yolo" });
      session.on("request-asked", ({ owner }) => void heard.push([agent, owner]));
      answered.push(new Promise((resolve) => session.on("request-answered", resolve)));
    }
    await host.connect("s", { owner: "a" });
    await host.connect("s", { owner: "b" });
    await Promise.all(answered);
    expect(heard).toEqual([
      ["a", "a"],
      ["b", "b"],
    ]);
  });

  it("REG-02: everybody hears of the connection that is everybody's", async () => {
    await using host = await telltaleHost();
    const session = host.session({ agent: "a", level: "yolo" });
    const other = host.session({ agent: "b", level: "yolo" });
    const states: unknown[] = [];
    other.on("server-state", ({ state, owner }) => void states.push([state, owner]));
    const told: unknown[] = [];
    host.on("server-log", ({ serverName, owner, text }) => {
      told.push([serverName, owner, text]);
    });
    expect(await logged(session.stream("mcp__s__any", { who: "a" }))).toEqual(["called by a"]);
    expect(states).toEqual([
      ["connecting", null],
      ["connected", null],
    ]);
    expect(told).toEqual([["s", null, "called by a"]]);
  });

  it("PRM-10: what another agent is allowed is not told", async () => {
    await using host = await telltaleHost();
    await host.connect("s");
    const [a, b] = ["a", "b"].map((agent) => host.session({ agent, level: "trusted" }));
    const heard = { a: [] as string[], b: [] as string[] };
    a?.on("*", ({ type }) => void heard.a.push(type));
    b?.on("*", ({ type }) => void heard.b.push(type));
    await host.grants.allow({ agent: "a", server: "s", tool: "any" });
    await host.grants.revoke({ agent: "a" });
    expect(heard).toEqual({ a: ["grant-added", "grant-revoked"], b: [] });
  });

  it("REG-02: a private server stays private when its entry changes", async () => {
    await using project = await makeProject();
    await using host = await project.host();
    await host.add("payroll", demoServerEntry());
    await host.connect("payroll", { owner: "a" });
    const [a, b] = ["a", "b"].map((agent) => host.session({ agent, level: "yolo" }));
    const heardByB: string[] = [];
    b?.on("*", ({ type }) => void heardByB.push(type));
    await host.update("payroll", { ...demoServerEntry(), descriptionLimit: 50 });
    expect([a?.servers(), b?.servers()]).toEqual([["payroll"], []]);
    expect(await b?.call("mcp__payroll__add", { a: 2, b: 3 })).toMatchObject({
      ok: false,
      error: { code: "tool_unknown" },
    });
    // Its owner need not connect it again.
    expect(await a?.call("mcp__payroll__add", { a: 2, b: 3 })).toMatchObject({ ok: true });
    await host.disable("payroll");
    await host.enable("payroll");
    expect(b?.servers()).toEqual([]);
    await host.remove("payroll");
    // Of its own call, and of nothing else.
    expect(heardByB).toEqual(["call-end", "tool-invoked"]);
    // The name is nobody's any more.
    await host.add("payroll", demoServerEntry());
    expect(b?.servers()).toHaveLength(1);
  });

  it("REG-02: a server that was shared is shared when its entry has changed", async () => {
    await using project = await makeProject();
    await using host = await project.host();
    await host.add("s", demoServerEntry());
    await host.connect("s", { owner: "a" });
    await host.connect("s", { owner: "c", shared: true });
    await host.update("s", { ...demoServerEntry(), descriptionLimit: 50 });
    expect(host.session({ agent: "b", level: "yolo" }).servers()).toHaveLength(1);
    await expect(host.disconnect("s", { owner: "b" })).rejects.toMatchObject({ code: "denied" });
    await host.disconnect("s", { owner: "c" });
    expect(host.session({ agent: "b", level: "yolo" }).servers()).toEqual([]);
  });

  it("REG-02: of changed servers a session hears the names that it sees, or saw", async () => {
    await using project = await makeProject();
    await using host = await project.host();
    for (const name of ["payroll", "open"]) await host.add(name, demoServerEntry());
    await host.connect("payroll", { owner: "a" });
    const heard = { a: [] as unknown[], b: [] as unknown[], host: [] as unknown[] };
    const note = (to: unknown[]) => (event: HostEventOf<"servers-changed">) =>
      void to.push([event.added, event.removed, event.changed]);
    host.session({ agent: "a", level: "yolo" }).on("servers-changed", note(heard.a));
    host.session({ agent: "b", level: "yolo" }).on("servers-changed", note(heard.b));
    host.on("servers-changed", note(heard.host));
    await host.update("payroll", { ...demoServerEntry(), descriptionLimit: 50 });
    await host.update("open", { ...demoServerEntry(), descriptionLimit: 50 });
    await host.remove("payroll");
    await host.remove("open");
    const all = [
      [[], [], ["payroll"]],
      [[], [], ["open"]],
      [[], ["payroll"], []],
      [[], ["open"], []],
    ];
    expect(heard).toEqual({ a: all, b: [all[1], all[3]], host: all });
  });

  it("REG-02: a warning about tools of several servers names none to a session", async () => {
    await using host = await createHost({
      config: false,
      servers: { a: demoServerEntry(), b: demoServerEntry() },
    });
    await host.connect("a", { owner: "one" });
    await host.connect("b", { owner: "two" });
    const heard = { session: [] as string[], host: [] as string[] };
    const session = host.session({
      agent: "two",
      level: "yolo",
      naming: (_server, tool) => tool,
    });
    session.on("warning", ({ text }) => void heard.session.push(text));
    host.on("warning", ({ text }) => void heard.host.push(text));
    session.tools();
    expect(heard.host.join()).toContain('"add" of "a"');
    expect(heard.session).toEqual([]);
  });
});
