import { type McpServerFactory, Server } from "@modelcontextprotocol/server";
import { describe, expect, it } from "vitest";

import {
  CapabilitySet,
  type ConfirmAnswer,
  createHost,
  type HostOptions,
  type McpTool,
  type Session,
} from "../../src/index.ts";
import { createMemoryServer, createRecordedServer } from "../../src/testing/index.ts";
import { ManualClock } from "../fixtures/protocol/manual-clock.ts";

const definition = (name: string, description = name) => ({
  name,
  description,
  inputSchema: { type: "object" as const },
});

/** Two servers of two tools each; the descriptions of the first can be exchanged. */
function createServers() {
  const state = { text: "as it was" };
  const serve = (tools: () => readonly unknown[]) => () =>
    createMemoryServer((...args) =>
      createRecordedServer({ tools: tools(), answers: () => ({ content: [] }) })(...args),
    ).transport;
  return {
    state,
    servers: {
      one: serve(() => [definition("a", state.text), definition("b")]),
      two: serve(() => [definition("a"), definition("c")]),
    },
  };
}

async function open(options: HostOptions = {}) {
  const { state, servers } = createServers();
  const host = await createHost({ config: false, servers, ...options });
  await host.connectAll();
  return { host, state };
}

const names = (tools: readonly McpTool[]) => tools.map(({ name }) => name);
const asking = (session: Session) =>
  session
    .tools()
    .filter(({ needsConsent }) => needsConsent)
    .map(({ name }) => name);
const ofServer = (tools: readonly McpTool[], server: string) =>
  tools.filter(({ serverName }) => serverName === server);

describe("the list of a session", () => {
  it("is the same frozen array while nothing has changed", async () => {
    const { host } = await open();
    await using _closing = host;
    const session = host.session({ level: "yolo" });
    const tools = session.tools();
    expect(names(tools)).toEqual(["mcp__one__a", "mcp__one__b", "mcp__two__a", "mcp__two__c"]);
    expect(session.tools()).toBe(tools);
    await session.call("mcp__one__a");
    // What happens to another agent, or to what nobody lists, is no change of this list.
    await host.grants.allow({ agent: "other", server: "one" });
    expect(session.tools()).toBe(tools);
    expect(Object.isFrozen(tools)).toBe(true);
  });

  it("has the tools of other servers unchanged when one server has others", async () => {
    const { host, state } = await open();
    await using _closing = host;
    const session = host.session({ level: "yolo" });
    const before = session.tools();
    state.text = "as it is now";
    await host.reconnect("one");
    const after = session.tools();
    expect(names(after)).toEqual(["mcp__one__b", "mcp__two__a", "mcp__two__c"]);
    for (const [index, tool] of ofServer(after, "two").entries())
      expect(tool).toBe(ofServer(before, "two")[index]);
    const [waiting] = await host.pins.list("one");
    await host.pins.accept("one", "a", waiting?.fingerprint ?? "");
    expect(names(session.tools())).toEqual(names(before));
    host.registerTools("own", [definition("x")]);
    expect(ofServer(session.tools(), "two")[0]).toBe(ofServer(before, "two")[0]);
  });

  it("PRM-20: follows grants, their end and their revocation", async () => {
    const clock = new ManualClock();
    const { host } = await open({ clock });
    await using _closing = host;
    const confirm = () => Promise.resolve("no" as const);
    const session = host.session({ agent: "main", level: "trusted", human: { confirm } });
    const all = names(session.tools());
    expect(asking(session)).toEqual(all);
    await host.grants.allow({ agent: "main", server: "one", tool: "a", expiresAt: 100 });
    await host.grants.allow({ agent: "main", server: "two", tool: "c" });
    expect(asking(session)).toEqual(["mcp__one__b", "mcp__two__a"]);
    const { length } = session.tools();
    await clock.advance(100);
    expect(asking(session)).toEqual(["mcp__one__a", "mcp__one__b", "mcp__two__a"]);
    await host.grants.revoke({ agent: "main", server: "two" });
    expect(asking(session)).toEqual(all);
    expect(session.tools()).toHaveLength(length);
  });

  it("follows the end of a capability, in the session and in its child", async () => {
    const clock = new ManualClock();
    const { host } = await open({ clock });
    await using _closing = host;
    const capabilities = new CapabilitySet()
      .grant("mcp:one:a", "execute", { expiresAt: 100 })
      .grant("mcp:two:*");
    const session = host.session({ capabilities });
    const child = session.child();
    const before = ["mcp__one__a", "mcp__two__a", "mcp__two__c"];
    expect([names(session.tools()), names(child.tools())]).toEqual([before, before]);
    const [, kept] = session.tools();
    await clock.advance(100);
    const after = ["mcp__two__a", "mcp__two__c"];
    expect([names(session.tools()), names(child.tools())]).toEqual([after, after]);
    expect(session.tools()[0]).toBe(kept);
  });

  it("follows what a person allows, for servers' tools and native ones, also in a child", async () => {
    const { host } = await open();
    await using _closing = host;
    let answer: ConfirmAnswer = "tool-session";
    const human = { confirm: () => Promise.resolve(answer) };
    const session = host.session({ level: "trusted", human });
    session.defineTool({
      name: "own",
      description: "",
      inputSchema: { type: "object" },
      needsConsent: true,
      handler: () => "",
    });
    const child = session.child();
    expect(asking(session)[0]).toBe("own");
    await session.call("own");
    await session.call("mcp__one__a");
    expect(asking(session)).toEqual(["mcp__one__b", "mcp__two__a", "mcp__two__c"]);
    expect(asking(child)).toContain("mcp__one__a");
    answer = "server-session";
    await child.call("mcp__one__b");
    expect(asking(child)).toEqual(["mcp__two__a", "mcp__two__c"]);
    expect(asking(session)).toContain("mcp__one__b");
  });

  it("follows natives that are added, and a person who can be asked from now on", async () => {
    const { host } = await open();
    await using _closing = host;
    const human: { confirm?: () => Promise<ConfirmAnswer> } = {};
    const session = host.session({ level: "trusted", human });
    expect(session.tools()).toEqual([]);
    const inputSchema = { type: "object" };
    session.defineTool({ name: "own", description: "", inputSchema, handler: () => "" });
    expect(names(session.tools())).toEqual(["own"]);
    human.confirm = () => Promise.resolve("no");
    expect(session.tools()).toHaveLength(5);
  });

  it("REG-03: follows who sees a server, and which there are", async () => {
    const { host } = await open();
    await using _closing = host;
    const session = host.session({ agent: "other", level: "yolo" });
    const before = session.tools();
    await host.connect("one", { owner: "main" });
    expect(names(session.tools())).toEqual(["mcp__two__a", "mcp__two__c"]);
    await host.disconnect("one", { owner: "main" });
    expect(names(session.tools())).toEqual(names(before));
    expect(session.tools()[2]).toBe(before[2]);
  });

  it("follows a server that turns out to have resources", async () => {
    const library: McpServerFactory = () => {
      const server = new Server(
        { name: "library", version: "1" },
        { capabilities: { resources: {}, tools: {} } },
      );
      server.setRequestHandler("tools/list", () => ({ tools: [definition("t")] }));
      return server;
    };
    const servers = { library: () => createMemoryServer(library).transport };
    await using host = await createHost({ config: false, servers });
    host.registerTools("library", [definition("t")]);
    const sessions = [1, 2].map(() => host.session({ level: "yolo", resourceTools: true }));
    const lists = () => sessions.map((session) => names(session.tools()));
    expect(lists()).toEqual([["mcp__library__t"], ["mcp__library__t"]]);
    await host.connect("library");
    const both = ["mcp__library__t", "mcp__library__read_resource"];
    expect(lists()).toEqual([both, both]);
  });

  it("is made in advance by ready(), and made again for what changes meanwhile", async () => {
    const { host, state } = await open();
    await using _closing = host;
    const human: { confirm?: () => Promise<ConfirmAnswer> } = {};
    const session = host.session({ agent: "main", level: "trusted", human });
    await session.ready();
    const readying = session.ready();
    // All of this comes after the tools were judged in advance, or while they are.
    human.confirm = () => Promise.resolve("no");
    await host.grants.allow({ agent: "main", server: "one", tool: "b" });
    state.text = "as it is now";
    await host.reconnect("one");
    await readying;
    expect(names(session.tools())).toEqual(["mcp__one__b", "mcp__two__a", "mcp__two__c"]);
    expect(asking(session)).toEqual(["mcp__two__a", "mcp__two__c"]);
  });

  it("is the same whether a long list was made in pieces or at once", async () => {
    const tools = Array.from({ length: 900 }, (_, index) => definition(`t${index}`));
    const { transport } = createMemoryServer((...args) =>
      createRecordedServer({ tools, answers: () => ({ content: [] }) })(...args),
    );
    await using host = await createHost({ config: false, servers: { long: transport } });
    for (const tool of ["t3", "t300", "t899"])
      await host.grants.allow({ agent: "main", server: "long", tool });
    const human = { confirm: () => Promise.resolve("no" as const) };
    const options = { agent: "main", level: "trusted", human } as const;
    const [inPieces, atOnce] = [host.session(options), host.session(options)];
    await inPieces.ready();
    expect(inPieces.tools()).toHaveLength(900);
    expect(names(inPieces.tools())).toEqual(names(atOnce.tools()));
    expect(inPieces.tools().map(({ originalName }) => originalName)).toEqual(
      names(atOnce.tools()).map((name) => name.replace("mcp__long__", "")),
    );
    expect(asking(inPieces)).toEqual(asking(atOnce));
    expect(asking(inPieces)).toHaveLength(897);
    // What was given out while the pieces were made stays, and so does a change that came meanwhile.
    await host.grants.revoke({ agent: "main", server: "long", tool: "t300" });
    const readying = inPieces.ready();
    const given = inPieces.tools();
    await readying;
    expect(inPieces.tools()).toBe(given);
    expect(asking(inPieces)).toHaveLength(898);
  });
});
