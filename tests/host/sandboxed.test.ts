import { describe, expect, it } from "vitest";

import {
  aiSdkTools,
  anthropicTools,
  claudeAgentServers,
  langChainTools,
  openAiAgentsTools,
  openAiResponsesTools,
  openAiTools,
  runAnthropicCalls,
  runOpenAiCalls,
} from "../../src/adapters/index.ts";
import { PromptTemplate } from "../../src/entries/prompts.ts";
import {
  CapabilitySet,
  type McpHost,
  McpConnectionPool,
  type Session,
  createHost,
  createToolClient,
} from "../../src/index.ts";
import { createDemoServer, demoServerEntry, serveHttp } from "../../src/testing/index.ts";
import { watchTraffic } from "../abuse/project.ts";
import { scriptedHuman } from "../fixtures/agent/scripted-human.ts";
import { recordRequests } from "../fixtures/http/recording-proxy.ts";

const names = ["pipe", "web"];
const agent = "boxed";

type Attempt = (session: Session, server: string) => readonly (() => unknown)[];

/** Everything a session offers, so that nothing can be added to it without being tried here. */
const attempts: Readonly<Record<keyof Session, Attempt>> = {
  agent: () => [],
  state: (session) => [() => session.state.set("key", 1)],
  tools: (session) => [() => session.tools()],
  loadTools: (session) => [() => session.loadTools()],
  servers: (session) => [() => session.servers()],
  history: (session) => [() => session.history()],
  find: (session, server) => [
    () => session.find(`mcp__${server}__echo`)?.execute({}),
    () => session.find({ server, tool: "echo" })?.execute({}),
  ],
  why: (session, server) => [
    () => session.why(`mcp__${server}__echo`).verdict,
    () => session.why({ server, tool: "echo" }).verdict,
  ],
  ready: (session, server) => [() => session.ready(), () => session.ready({ servers: [server] })],
  call: (session, server) => [
    () => session.call(`mcp__${server}__echo`, { message: "hello" }),
    () => session.call(`mcp__${server}__read_resource`, { uri: "file:///readme.txt" }),
    () => session.call(`mcp__${server}__nothing`),
    () => session.call({ server, tool: "echo" }, { message: "hello" }),
    () => session.call({ server, tool: "nothing" }),
    () => session.call(`${server}.echo`, { message: "hello" }),
  ],
  execute: (session, server) => [
    () => session.execute(`mcp__${server}__echo`, { message: "hello" }),
  ],
  dispatch: (session, server) => [
    () => session.dispatch({ name: `mcp__${server}__echo`, input: { message: "hello" } }),
  ],
  stream: (session, server) => [
    async () => {
      const items = [];
      for await (const item of session.stream(`mcp__${server}__echo`, { message: "hello" }))
        items.push(item);
      return items;
    },
  ],
  transaction: (session, server) => [
    () => session.transaction((it) => it.call(`mcp__${server}__echo`, { message: "hello" })),
  ],
  content: ({ content }, server) => [
    () => content.resources(),
    () => content.resources({ server }),
    () => content.resourceTemplates(),
    () => content.resourceTemplates({ server }),
    () => content.prompts(),
    () => content.prompts({ server }),
    () => content.readResource(server, "file:///readme.txt"),
    () => content.watchResource(server, "file:///readme.txt", () => {}),
    () => content.prompt(server, "greeting", { name: "Ada" }),
    () =>
      content.complete(server, {
        of: { prompt: "greeting" },
        argument: "name",
        value: "A",
      }),
  ],
  promptTemplate: (session, server) => [
    async () => (await session.promptTemplate(server, "greeting")).render({ name: "Ada" }),
  ],
  section: (session, server) => [
    async () => {
      await using section = await session.section().open();
      return [section.tools(), section.render()];
    },
    () => session.section({ servers: [server], connectOnInit: true }).ready,
    () => session.section({ servers: [server] }).open(),
    () =>
      session
        .section({ servers: [server] })
        .clone(session)
        .connect(),
    () => {
      const section = session.section({ servers: [server] });
      return new PromptTemplate({ ns: "t", key: "p", sections: [section] }).render();
    },
    () => session.section({ servers: [{ name: `${server}-own`, ...demoServerEntry() }] }).connect(),
  ],
  defineTool: (session, server) => [
    async () => {
      session.defineTool({
        name: `use_${server}`,
        description: "Tries to use what its session may not",
        inputSchema: { type: "object" },
        async handler(_params, { context }) {
          const pool = context.resources.get(McpConnectionPool);
          const found = pool?.get(server);
          return {
            names: pool?.names(),
            called: await context.call(`mcp__${server}__echo`, { message: "hello" }),
            pooled: await found?.callTool("echo", { message: "hello" }),
            resources: await found?.resources(),
          };
        },
      });
      return await session.call(`use_${server}`);
    },
  ],
  child: (session, server) => [
    () => session.child({ level: "yolo", attenuate: ["mcp:*:*"] }).tools(),
    () => session.child({ level: "yolo", agent: "other" }).call(`mcp__${server}__echo`),
    () => session.child({ level: "trusted" }).content.resources({ server }),
    () =>
      session
        .child({ level: "yolo" })
        .section({ servers: [server] })
        .connect(),
  ],
  on: (session) => [
    () => {
      session.on("*", () => {})();
    },
  ],
};

/** What is built on a session. */
const surfaces: Attempt = (session, server) => {
  const name = `mcp__${server}__echo`;
  const json = '{"message":"hello"}';
  const parts = { tool: () => ({}), ToolMessage: Object };
  return [
    () => aiSdkTools(session),
    () => anthropicTools(session),
    () => openAiTools(session),
    () => openAiResponsesTools(session),
    () => openAiAgentsTools(session),
    () => langChainTools(session, parts as never),
    () => claudeAgentServers(session),
    () =>
      runAnthropicCalls(session, [
        { type: "tool_use", id: "1", name, input: { message: "hello" } },
      ] as never),
    () =>
      runOpenAiCalls(session, [
        { type: "function", id: "1", function: { name, arguments: json } },
      ] as never),
    () =>
      createToolClient<{ echo: { params: { message: string }; result: unknown } }>(
        session,
        server,
        ["echo"],
      ).echo({ message: "hello" }),
  ];
};

/** Tries everything, and tells what it came to. */
async function tryAll(session: Session): Promise<readonly unknown[]> {
  const results: unknown[] = [];
  for (const server of names)
    for (const attempt of [...Object.values(attempts), surfaces])
      for (const run of attempt(session, server))
        try {
          results.push(await run());
        } catch (error) {
          results.push(error);
        }
  return results;
}

/** Sessions of an agent that may not use MCP, however much else they are given. */
function boxedSessions(host: McpHost): readonly Session[] {
  const { human } = scriptedHuman();
  const capabilities = new CapabilitySet([{ resource: "mcp:*:*", action: "*" }]);
  const options = { agent, human, resourceTools: true, history: true };
  return [
    host.session({ ...options, level: "sandboxed" }),
    host.session({ ...options, level: "sandboxed", capabilities }),
    host.session(options),
    host.session({ ...options, level: "yolo" }).child({ level: "sandboxed" }),
  ];
}

describe("an agent that may not use MCP", () => {
  it("PRM-12 PRM-07: starts nothing and contacts nobody, whatever it tries", async () => {
    await using served = await serveHttp(createDemoServer()).then(closing);
    await using web = await recordRequests(served.url);
    await using host = await createHost({
      config: false,
      servers: { pipe: demoServerEntry(), web: { url: web.url } },
    });
    const traffic = await watchTraffic(async () => {
      for (const session of boxedSessions(host)) await tryAll(session);
    });
    expect(traffic).toEqual({ processes: 0, lookups: 0, connections: 0 });
    expect(web.requests).toEqual([]);
    const states = names.map((name) => host.server(name).state);
    expect(states).toEqual(["idle", "idle"]);
  });

  it("PRM-12 REG-11: gets nothing out of servers that run for others, nor of those connected for it", async () => {
    await using served = await serveHttp(createDemoServer()).then(closing);
    await using web = await recordRequests(served.url);
    await using host = await createHost({
      config: false,
      servers: { pipe: demoServerEntry(), web: { url: web.url } },
    });
    const free = host.session({ agent: "free", level: "yolo" });
    await free.ready();
    for (const name of names) await host.connect(name, { owner: agent, shared: true });
    for (const name of names) await host.connect(name, { owner: agent, mode: "allow-all" });
    const descriptions = host
      .session({ agent, level: "yolo" })
      .tools()
      .map(({ description }) => description);
    const before = web.requests.length;
    expect(descriptions.length).toBeGreaterThan(2);
    const said: string[] = [];
    const { processes } = await watchTraffic(async () => {
      for (const session of boxedSessions(host))
        said.push(JSON.stringify(await tryAll(session)) ?? "");
    });
    expect(processes).toBe(0);
    expect(web.requests.slice(before).map(({ body }) => body)).toEqual([]);
    const leaked = descriptions.filter((text) => said.some((it) => it.includes(text)));
    expect(leaked).toEqual([]);
  });

  it("PRM-12: the same attempts reach both servers where the agent may use them", async () => {
    await using served = await serveHttp(createDemoServer()).then(closing);
    await using web = await recordRequests(served.url);
    await using host = await createHost({
      config: false,
      servers: { pipe: demoServerEntry(), web: { url: web.url } },
    });
    const session = host.session({ agent, level: "yolo", resourceTools: true });
    const { processes } = await watchTraffic(async () => {
      await tryAll(session);
    });
    expect(processes).toBeGreaterThan(0);
    const methods = new Set(web.requests.map(({ message }) => message.method));
    for (const method of ["tools/list", "tools/call", "resources/read", "prompts/get"])
      expect(methods).toContain(method);
  });
});

function closing<T extends { close(): Promise<void> }>(server: T): T & AsyncDisposable {
  return Object.assign(server, { [Symbol.asyncDispose]: () => server.close() });
}
