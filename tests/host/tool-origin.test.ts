import { describe, expect, it } from "vitest";

import {
  createHost,
  type HostEvent,
  type HostOptions,
  type McpHost,
  McpConnectionPool,
  type Naming,
  type Session,
} from "../../src/index.ts";
import {
  createMemoryServer,
  createRecordedServer,
  type RecordedCall,
} from "../../src/testing/index.ts";
import { anyTool, recordedHost } from "./recorded-host.ts";

interface ManyServers extends AsyncDisposable {
  readonly host: McpHost;
  readonly started: readonly string[];
  readonly calls: readonly (readonly [server: string, call: RecordedCall])[];
}

/** In-memory servers by name, each with tools of these names. */
async function manyServers(
  servers: Readonly<Record<string, readonly string[]>>,
  options: HostOptions = {},
): Promise<ManyServers> {
  const started: string[] = [];
  const calls: [string, RecordedCall][] = [];
  const entries = Object.entries(servers).map(([server, tools]) => {
    const factory = createRecordedServer({
      tools: tools.map((name) => ({ ...anyTool, name })),
      answers(call) {
        calls.push([server, call]);
        return { content: [{ type: "text", text: `${server} ${call.name}` }] };
      },
    });
    return [
      server,
      () => {
        started.push(server);
        return createMemoryServer(factory).transport;
      },
    ] as const;
  });
  const host = await createHost({
    config: false,
    servers: Object.fromEntries(entries),
    ...options,
  });
  return { host, started, calls, [Symbol.asyncDispose]: () => host.close() };
}

const yolo = (host: McpHost, naming?: Naming): Session => host.session({ level: "yolo", naming });
const origin = { server: "fake", tool: "any" };

describe("a tool by its origin", () => {
  it.each<Naming>(["mcp__server__tool", "prefix_tool", (_server, tool) => `my_${tool}`])(
    "C-01: is called whatever the session names it, from the first call on: %s",
    async (naming) => {
      await using fake = await manyServers({ fake: ["any"], other: ["any"] });
      const session = yolo(fake.host, naming);
      for (const name of [origin, "fake.any"])
        expect(await session.call(name, { x: 1 })).toMatchObject({ ok: true, text: "fake any" });
      // The other server has nothing to do with it.
      expect(fake.started).toEqual(["fake"]);
      expect(session.find(origin)).toMatchObject({ serverName: "fake", originalName: "any" });
      expect(session.find("fake.any")?.name).toBe(session.find(origin)?.name);
      expect(session.why(origin)).toEqual(session.why("fake.any"));
      expect(session.why(origin)).toMatchObject({ server: "fake", tool: "any" });
      expect(fake.host.why("main", origin)).toEqual(session.why(origin));
    },
  );

  it("is taken by every method that calls a tool", async () => {
    await using fake = await recordedHost({ tools: [anyTool] });
    const session = yolo(fake.host);
    expect(await session.execute(origin, { x: 1 })).toBe('{"x":1}');
    expect(await session.execute("fake.any", { x: 2 })).toBe('{"x":2}');
    expect(await session.dispatch({ name: origin, input: { x: 3 } })).toMatchObject({ ok: true });
    const items = [];
    for await (const item of session.stream(origin, { x: 4 })) items.push(item);
    expect(items).toMatchObject([{ type: "outcome", outcome: { ok: true } }]);
    const { committed } = await session.transaction(async (transaction) => {
      await transaction.call(origin, { x: 5 });
    });
    expect(committed).toBe(true);
    session.defineTool({
      name: "both",
      description: "Calls the server twice",
      inputSchema: { type: "object" },
      async handler(_params, { context }) {
        const pool = context.resources.get(McpConnectionPool);
        await context.call(origin, { x: 6 });
        return (await pool?.get("fake")?.callTool("any", { x: 7 }))?.text;
      },
    });
    expect((await session.call("both")).text).toBe('{"x":7}');
    expect(fake.calls.map((call) => call.arguments)).toEqual(
      [1, 2, 3, 4, 5, 6, 7].map((x) => ({ x })),
    );
  });

  it("reads the longest server name in `server.tool`, and dots of a tool's own", async () => {
    await using fake = await manyServers({ a: ["b.c", "d"], "a.b": ["c"] });
    const session = yolo(fake.host);
    expect((await session.call("a.b.c")).text).toBe("a.b c");
    expect((await session.call("a.d")).text).toBe("a d");
    expect((await session.call({ server: "a", tool: "b.c" })).text).toBe("a b.c");
  });

  it("stays the same tool when names change while a person is asked", async () => {
    const naming: Naming = (_server, tool) => `my_${tool}`;
    await using fake = await manyServers({ fake: ["any"] }, { naming });
    const human = {
      async confirm() {
        // Both tools would be called `my_any`: from now on neither is.
        await fake.host.add("late", { command: "true" });
        fake.host.registerTools("late", [{ name: "any", inputSchema: { type: "object" } }]);
        return "once" as const;
      },
    };
    const session = fake.host.session({ level: "trusted", human });
    const outcome = await session.call(origin, {});
    expect(outcome).toMatchObject({ ok: true, text: "fake any", serverName: "fake" });
    expect(outcome.publicName).toMatch(/^my_any_[0-9a-f]{8}$/);
    expect(session.find(outcome.publicName)?.serverName).toBe("fake");
  });

  it("is judged like every call: rights, filters, and nothing started for what is refused", async () => {
    await using fake = await manyServers({ fake: ["any"] });
    const { host } = fake;
    expect(await host.session().call(origin)).toMatchObject({ error: { code: "denied" } });
    expect(await host.session({ level: "sandboxed" }).call("fake.any")).toMatchObject({
      error: { code: "denied" },
    });
    expect(host.session().find(origin)).toBeUndefined();
    expect(fake.started).toEqual([]);
    expect(fake.calls).toEqual([]);
  });

  it("ends with the reason of a server that cannot be started", async () => {
    await using host = await createHost({
      config: false,
      reconnect: false,
      servers: { broken: { command: "no-such-program-anywhere" } },
    });
    const outcome = await yolo(host).call({ server: "broken", tool: "any" });
    expect(outcome).toMatchObject({
      serverName: "broken",
      error: { code: "command_not_found" },
    });
  });
});

describe("an unknown tool", () => {
  it("suggests in the spelling that was used", async () => {
    await using fake = await manyServers({ fake: ["create_issue"], other: ["add"] });
    const session = yolo(fake.host);
    await session.ready();
    const details = async (name: Parameters<Session["call"]>[0]) => {
      const outcome = await session.call(name);
      return outcome.ok ? undefined : [outcome.error.code, outcome.error.details["suggestions"]];
    };
    const byOrigin = { server: "fake", tool: "create_isue" };
    expect(await details(byOrigin)).toEqual(["tool_unknown", ["create_issue"]]);
    expect(await details("fake.create_isue")).toEqual(["tool_unknown", ["fake.create_issue"]]);
    expect(await details("fkae.create_issue")).toEqual(["tool_unknown", ["fake.create_issue"]]);
    expect(await details("mcp__fake__create_isue")).toEqual([
      "tool_unknown",
      ["mcp__fake__create_issue"],
    ]);
    expect(await details({ server: "fkae", tool: "create_issue" })).toEqual([
      "server_unknown",
      ["fake"],
    ]);
    expect(session.why("fake.create_isue")).toMatchObject({
      verdict: "unknown",
      suggestions: ["fake.create_issue"],
    });
    expect(session.why(byOrigin).suggestions).toEqual(["create_issue"]);
    expect(fake.calls).toEqual([]);
  });

  it("PRM-06: a server of another agent is as unknown as one that does not exist, in words and in suggestions", async () => {
    await using fake = await manyServers({ payroll: ["send_money"], fake: ["any"] });
    const { host } = fake;
    await host.connect("payroll", { owner: "boss" });
    const stranger = host.session({ agent: "stranger", level: "yolo" });
    await stranger.ready();
    const told = async (server: string) => {
      const answers = [
        await stranger.call({ server, tool: "send_money" }),
        await stranger.call({ server, tool: "send_mony" }),
        await stranger.call(`${server}.send_money`),
        await stranger.call(`${server}.send_mony`),
      ];
      return answers.map((outcome) =>
        JSON.stringify(outcome.ok ? outcome.text : outcome.error).replaceAll(server, "<server>"),
      );
    };
    expect(await told("payroll")).toEqual(await told("nothing"));
    expect(stranger.find({ server: "payroll", tool: "send_money" })).toBeUndefined();
    expect(stranger.why("payroll.send_mony").suggestions ?? []).toEqual([]);
    const boss = host.session({ agent: "boss", level: "yolo" });
    expect(await boss.call({ server: "payroll", tool: "send_money" })).toMatchObject({ ok: true });
  });
});

describe("toolName", () => {
  it("C-45: is the tool's own name in events, outcomes, errors, history and the audit trail", async () => {
    await using fake = await recordedHost({
      tools: [anyTool, { ...anyTool, name: "broken" }],
      answers: ({ name }) => ({ content: [], isError: name === "broken" }),
      host: { store: ":memory:" },
    });
    const events: HostEvent[] = [];
    const session = fake.host.session({ level: "yolo", history: true });
    session.on("*", (event) => events.push(event));
    const names = { toolName: "any", publicName: "mcp__fake__any" };
    for (const name of ["mcp__fake__any", "fake.any", origin])
      expect(await session.call(name)).toMatchObject(names);
    const ofCalls = events.filter(({ type }) => /^call-(start|end)$|^tool-invoked$/.test(type));
    expect(ofCalls).toHaveLength(9);
    for (const event of ofCalls) expect(event).toMatchObject(names);
    expect(session.history()).toMatchObject([names, names, names]);
    expect(await session.call("fake.broken")).toMatchObject({
      toolName: "broken",
      error: { code: "tool_error", details: { toolName: "broken" } },
    });
    const rows = await fake.host.audit.query({ type: "call" });
    expect(rows.map(({ tool }) => tool)).toEqual(["broken", "any", "any", "any"]);
  });

  it("is there for no tool that does not exist; publicName is the name that was called", async () => {
    await using fake = await recordedHost({ tools: [anyTool], host: { store: ":memory:" } });
    const ended: unknown[] = [];
    const session = yolo(fake.host);
    session.on("call-end", ({ toolName, publicName }) => ended.push([toolName, publicName]));
    session.on("tool-invoked", ({ toolName, publicName }) => ended.push([toolName, publicName]));
    const unknown = await session.call("mcp__fake__nothing");
    expect(unknown.toolName).toBeUndefined();
    expect(unknown).toMatchObject({
      publicName: "mcp__fake__nothing",
      error: { code: "tool_unknown", details: { publicName: "mcp__fake__nothing" } },
    });
    expect(await session.call({ server: "fake", tool: "nothing" })).toMatchObject({
      publicName: "fake.nothing",
      serverName: "fake",
      error: { code: "tool_unknown", details: { toolName: "nothing" } },
    });
    expect(ended).toEqual([
      [null, "mcp__fake__nothing"],
      [null, "mcp__fake__nothing"],
      [null, "fake.nothing"],
      [null, "fake.nothing"],
    ]);
    const rows = await fake.host.audit.query({ type: "call" });
    expect(rows.map(({ tool, detail }) => [tool, detail?.["publicName"]])).toEqual([
      [undefined, "fake.nothing"],
      [undefined, "mcp__fake__nothing"],
    ]);
  });
});
