import { describe, expect, it } from "vitest";

import {
  CapabilitySet,
  createHost,
  McpError,
  type HostOptions,
  type McpHost,
  type Session,
} from "../../src/index.ts";
import { ManualClock, settled } from "../fixtures/protocol/manual-clock.ts";
import { legacyHello, legacyScripts, ScriptedPeer } from "../fixtures/protocol/scripted-peer.ts";

interface Scene extends AsyncDisposable {
  readonly host: McpHost;
  readonly peer: ScriptedPeer;
}

/** A host whose one server, `s`, has a tool, a resource, a template and a prompt. */
async function scene(options: HostOptions = {}): Promise<Scene> {
  const peer = new ScriptedPeer({
    ...legacyScripts,
    initialize: () => ({
      ...legacyHello,
      capabilities: { tools: {}, resources: { subscribe: true }, prompts: {}, completions: {} },
    }),
    "tools/list": () => ({ tools: [{ name: "work", inputSchema: { type: "object" } }] }),
    "tools/call": () => ({ content: [{ type: "text", text: "done" }] }),
    "resources/list": () => ({ resources: [{ uri: "doc://1", name: "one" }] }),
    "resources/templates/list": () => ({
      resourceTemplates: [{ uriTemplate: "doc://{id}", name: "docs" }],
    }),
    "resources/read": () => ({ contents: [{ uri: "doc://1", text: "secret" }] }),
    "resources/subscribe": () => ({}),
    "resources/unsubscribe": () => ({}),
    "prompts/list": () => ({ prompts: [{ name: "greet" }] }),
    "prompts/get": () => ({ messages: [] }),
    "completion/complete": () => ({ completion: { values: ["a"] } }),
  });
  const host = await createHost({ config: false, servers: { s: peer.transport }, ...options });
  return { host, peer, [Symbol.asyncDispose]: () => host.close() };
}

/** All that a session can want of `s` beside calls, by name. */
const uses: Readonly<Record<string, (session: Session) => Promise<unknown>>> = {
  read: ({ content }) => content.readResource("s", "doc://1"),
  watch: ({ content }) => content.watchResource("s", "doc://1", () => undefined),
  resources: ({ content }) => content.resources({ server: "s" }),
  templates: ({ content }) => content.resourceTemplates({ server: "s" }),
  "complete a resource": ({ content }) =>
    content.complete("s", { of: { uriTemplate: "doc://{id}" }, argument: "id", value: "" }),
  prompts: ({ content }) => content.prompts({ server: "s" }),
  prompt: ({ content }) => content.prompt("s", "greet"),
  "complete a prompt": ({ content }) =>
    content.complete("s", { of: { prompt: "greet" }, argument: "who", value: "" }),
  template: (session) => session.promptTemplate("s", "greet"),
  connect: (session) => session.section({ servers: ["s"] }).connect(),
};

/** Which uses are denied, and by which rule. */
async function denied(session: Session): Promise<readonly string[]> {
  const names: string[] = [];
  for (const [name, use] of Object.entries(uses)) {
    const error: unknown = await use(session).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    if (error === undefined) continue;
    expect(error, name).toMatchObject({ code: "denied", details: { rule: "capability" } });
    expect(McpError.is(error), name).toBe(true);
    names.push(name);
  }
  return names;
}

const set = (...resources: readonly string[]): CapabilitySet =>
  resources.reduce((granted, resource) => granted.grant(resource), new CapabilitySet());

describe("a set of capabilities", () => {
  it.each([
    ["an empty one", set()],
    ["one for another server", set("mcp:other:*", "mcp:other:read_resource")],
    ["one for another action", new CapabilitySet().grant("mcp:s:*", "read")],
  ])(
    "PRM-03: %s, whatever is wanted: nothing is started and nothing sent",
    async (_, capabilities) => {
      await using context = await scene();
      const { host, peer } = context;
      for (const level of [undefined, "yolo"] as const) {
        const session = host.session({ agent: "main", level, capabilities });
        expect(await session.call("mcp__s__work")).toMatchObject({
          error: {
            code: "denied",
            message: 'the agent was granted nothing of server "s"',
            details: { rule: "capability" },
          },
        });
        expect(await denied(session)).toEqual(Object.keys(uses));
        const refused = { s: { ready: false, state: "idle", error: { code: "denied" } } };
        expect(await session.ready()).toMatchObject(refused);
        expect(await session.ready({ servers: ["s"] })).toMatchObject(refused);
        const { content } = session;
        for (const list of [await content.resources(), await content.prompts()])
          expect([...list, list.missing]).toMatchObject([
            [{ serverName: "s", error: { code: "denied" } }],
          ]);
        await session.section().connect();
      }
      expect([peer.transport.isStarted, peer.received]).toEqual([false, []]);
    },
  );

  const resources = ["read", "watch", "resources", "templates", "complete a resource"];
  const prompts = ["prompts", "prompt", "complete a prompt", "template"];

  it.each([
    ["mcp:s:work", [...resources, ...prompts]],
    ["mcp:s:read_resource", prompts],
    ["mcp:s:get_prompt", resources],
    ["mcp:s:*", []],
    ["mcp:*:*", []],
  ])(
    "PRM-02: %s covers what it names, and nothing else of what is no tool",
    async (resource, expected) => {
      await using context = await scene();
      const session = context.host.session({ agent: "main", capabilities: set(resource) });
      expect(await denied(session)).toEqual(expected);
      const count = async (list: Promise<readonly unknown[]>) => (await list).length;
      expect(await count(session.content.resources())).toBe(expected.includes("read") ? 0 : 1);
      expect(await count(session.content.prompts())).toBe(expected.includes("prompt") ? 0 : 1);
      const { steps } = context.host.why("main", "s.read_resource");
      expect(steps.find(({ rule }) => rule === "capability")?.passes).toBe(
        !expected.includes("read"),
      );
    },
  );

  it("C-22: a child has neither what its parent was not granted nor what it was not handed", async () => {
    await using context = await scene();
    const yolo = context.host.session({ agent: "yolo", level: "yolo" });
    expect(await denied(yolo.child({ attenuate: ["mcp:s:work"] }))).toEqual([
      ...resources,
      ...prompts,
    ]);
    const reader = context.host.session({
      agent: "reader",
      capabilities: set("mcp:s:read_resource"),
    });
    expect(await denied(reader.child({ attenuate: ["mcp:s:*"] }))).toEqual(prompts);
  });

  it("PRM-22: ends for the whole server when it ends, also for what is watched", async () => {
    const clock = new ManualClock();
    await using context = await scene({ clock });
    const { host, peer } = context;
    const capabilities = new CapabilitySet().grant("mcp:s:*", "execute", { expiresAt: 1_000 });
    const session = host.session({ agent: "main", level: "yolo", capabilities });
    const updates: number[] = [];
    await session.content.watchResource("s", "doc://1", () => updates.push(clock.now()));
    const touch = async () => {
      peer.notify("notifications/resources/updated", { uri: "doc://1" });
      await settled();
    };
    await touch();
    expect(session.tools()).toHaveLength(1);
    await clock.advance(1_000);
    const before = peer.received.length;
    await touch();
    expect(updates).toEqual([0]);
    expect(session.tools()).toEqual([]);
    expect(await denied(session)).toEqual(Object.keys(uses));
    expect(await session.ready({ servers: ["s"] })).toMatchObject({ s: { ready: false } });
    expect(peer.received).toHaveLength(before);
  });
});
