import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { Server } from "@modelcontextprotocol/server";
import { describe, expect, it } from "vitest";

import {
  CapabilitySet,
  type ConfirmAnswer,
  type ConfirmQuestion,
  createHost,
  type HostOptions,
  type Human,
  McpConnectionPool,
  McpError,
  type McpHost,
  type Session,
} from "../../src/index.ts";
import { createMemoryServer } from "../../src/testing/index.ts";
import { scriptedHuman } from "../fixtures/agent/scripted-human.ts";

interface Scene extends AsyncDisposable {
  readonly host: McpHost;
  /** Methods that reached the server. */
  readonly reached: string[];
}

/** A server with a tool, a resource and a prompt that notes what is asked of it. */
async function openLibrary(options: HostOptions = {}): Promise<Scene> {
  const reached: string[] = [];
  const factory = () => {
    const server = new Server(
      { name: "library", version: "1" },
      { capabilities: { resources: { subscribe: true }, prompts: {}, completions: {}, tools: {} } },
    );
    server.setRequestHandler("tools/list", () => ({
      tools: [{ name: "find", inputSchema: { type: "object" as const } }],
    }));
    server.setRequestHandler("tools/call", () => ({ content: [{ type: "text", text: "found" }] }));
    server.setRequestHandler("resources/list", () => ({ resources: [] }));
    server.setRequestHandler("prompts/list", () => ({ prompts: [{ name: "greet" }] }));
    server.setRequestHandler("resources/read", ({ params: { uri } }) => {
      reached.push("resources/read");
      return { contents: [{ uri, text: "the text" }] };
    });
    server.setRequestHandler("resources/subscribe", () => {
      reached.push("resources/subscribe");
      return {};
    });
    server.setRequestHandler("prompts/get", () => {
      reached.push("prompts/get");
      return { messages: [{ role: "user", content: { type: "text", text: "Hello" } }] };
    });
    server.setRequestHandler("completion/complete", () => {
      reached.push("completion/complete");
      return { completion: { values: ["a"] } };
    });
    return server;
  };
  const host = await createHost({
    config: false,
    servers: { library: () => createMemoryServer(factory, { era: "legacy" }).transport },
    ...options,
  });
  return { host, reached, [Symbol.asyncDispose]: () => host.close() };
}

/** Each has a name of its own, because a session keeps what it defines. */
let definedTools = 0;

/** Every way to what the server offers beside tools. */
const ways: Readonly<Record<string, (session: Session) => Promise<unknown>>> = {
  readResource: ({ content }) => content.readResource("library", "doc://1"),
  watchResource: ({ content }) => content.watchResource("library", "doc://1", () => undefined),
  prompt: ({ content }) => content.prompt("library", "greet"),
  complete: ({ content }) =>
    content.complete("library", { of: { prompt: "greet" }, argument: "who", value: "A" }),
  template: async (session) => (await session.promptTemplate("library", "greet")).render(),
  pool: async (session) => {
    let reading: Promise<unknown> | undefined;
    definedTools += 1;
    const tool = session.defineTool({
      name: `reader_${definedTools}`,
      description: "Reads a resource",
      inputSchema: { type: "object" },
      handler: async (_, { context }) => {
        reading = context.resources.get(McpConnectionPool)?.get("library")?.readResource("doc://1");
        await reading;
        return "done";
      },
    });
    await tool.execute({});
    await reading;
  },
  tool: async (session) => {
    await session.ready();
    await session.execute("mcp__library__read_resource", { uri: "doc://1" });
  },
};

async function codeOf(work: Promise<unknown>): Promise<string> {
  return await work.then(
    () => "ok",
    (error: unknown) => (McpError.is(error) ? error.code : String(error)),
  );
}

describe("consent to what a server offers beside tools", () => {
  it.each(Object.entries(ways))("L5, PRM-17: %s needs it", async (_, use) => {
    await using scene = await openLibrary();
    const { human, questions } = scriptedHuman("no", "once");
    const options = { level: "trusted", resourceTools: true } as const;
    expect(await codeOf(use(scene.host.session(options)))).toBe("consent_denied");
    const asking = scene.host.session({ ...options, human });
    expect(await codeOf(use(asking))).toBe("consent_denied");
    expect(scene.reached).toEqual([]);
    expect(await codeOf(use(asking))).toBe("ok");
    expect(scene.reached).toHaveLength(1);
    expect(questions).toHaveLength(2);
    expect(questions[0]).toMatchObject({ kind: "content", serverName: "library", agent: "main" });
  });

  it.each(Object.entries(ways))(
    "L5: %s passes without a question where none is due",
    async (_, use) => {
      await using scene = await openLibrary();
      const { host } = scene;
      const codes = [await codeOf(use(host.session({ level: "yolo", resourceTools: true })))];
      const capabilities = new CapabilitySet().grant("mcp:library:*");
      codes.push(
        await codeOf(use(host.session({ agent: "b", capabilities, resourceTools: true }))),
      );
      await host.grants.allow({ agent: "c", server: "library" });
      const granted = { agent: "c", level: "trusted", resourceTools: true } as const;
      codes.push(await codeOf(use(host.session(granted))));
      await host.connect("library", { owner: "d", shared: true, mode: "allow-all" });
      codes.push(await codeOf(use(host.session({ ...granted, agent: "d" }))));
      expect(codes).toEqual(["ok", "ok", "ok", "ok"]);
    },
  );

  it("L5: a question shows what is asked for, and one answer for the server covers tools and content", async () => {
    await using scene = await openLibrary();
    const { human, questions } = scriptedHuman("server-session");
    const session = scene.host.session({ level: "trusted", human, resourceTools: true });
    await session.ready();
    for (const use of Object.values(ways)) expect(await codeOf(use(session))).toBe("ok");
    expect(await session.execute("mcp__library__find")).toBe("found");
    expect(questions).toHaveLength(1);
    expect(questions[0]).toMatchObject({
      toolName: "read_resource",
      arguments: { uri: "doc://1" },
      argumentsText: { text: '{"uri":"doc://1"}' },
    });
  });

  it("L5: asked per tool, content is one question of its own for the session", async () => {
    await using scene = await openLibrary();
    await scene.host.connect("library", { mode: "ask-per-tool" });
    const { human, questions } = scriptedHuman("server-session", "tool-session");
    const session = scene.host.session({ level: "trusted", human, resourceTools: true });
    await session.ready();
    await session.execute("mcp__library__find");
    for (const use of Object.values(ways)) expect(await codeOf(use(session))).toBe("ok");
    expect(questions.map(({ kind }) => kind)).toEqual(["tool-call", "content"]);
    await scene.host.disconnect("library");
    expect(await codeOf(ways["prompt"]!(session))).toBe("consent_denied");
  });

  it("L5: what is always allowed is kept for the agent, and only for content", async () => {
    await using scene = await openLibrary();
    const { human } = scriptedHuman("tool-always");
    const session = scene.host.session({ agent: "a", level: "trusted", human });
    expect(await codeOf(ways["prompt"]!(session))).toBe("ok");
    expect(scene.host.grants.list().map(({ tool }) => tool)).toEqual(["(content)"]);
    const later = scene.host.session({ agent: "a", level: "trusted" });
    expect(await codeOf(ways["readResource"]!(later))).toBe("ok");
    expect(await codeOf(later.execute("mcp__library__find"))).toBe("consent_denied");
    await scene.host.grants.revoke({ agent: "a", server: "library", tool: "(content)" });
    expect(await codeOf(ways["readResource"]!(later))).toBe("consent_denied");
  });

  it("L5, C-22: a child has none that its parent lacks", async () => {
    await using scene = await openLibrary();
    await scene.host.grants.allow({ agent: "admin", server: "library" });
    const child = scene.host.session({ level: "trusted" }).child({ agent: "admin" });
    for (const name of ["readResource", "watchResource", "prompt", "complete", "template"])
      expect(await codeOf(ways[name]!(child)), name).toBe("consent_denied");
    expect(scene.reached).toEqual([]);
  });

  it("I5: what is sent is what was asked about", async () => {
    await using scene = await openLibrary();
    const args = { who: "Ada" };
    const asked: ConfirmQuestion[] = [];
    const human: Human = {
      confirm: async (question): Promise<ConfirmAnswer> => {
        args.who = "Eve";
        asked.push(question);
        return "once";
      },
    };
    const session = scene.host.session({ level: "trusted", human });
    await session.content.prompt("library", "greet", args);
    expect(asked[0]?.arguments).toEqual({ name: "greet", arguments: { who: "Ada" } });
  });

  it("L5: every use and every refusal is in the audit trail, without what was read", async () => {
    const root = await mkdtemp(path.join(tmpdir(), "content-"));
    const store = path.join(root, "store.db");
    await using scene = await openLibrary({ store, home: root });
    const { human } = scriptedHuman("no", "server-session");
    const session = scene.host.session({ agent: "a", level: "trusted", human });
    await codeOf(ways["readResource"]!(session));
    for (const name of ["readResource", "prompt", "complete", "watchResource"])
      await codeOf(ways[name]!(session));
    await codeOf(
      scene.host.session({ agent: "b", level: "sandboxed" }).content.prompt("library", "greet"),
    );
    const rows = await scene.host.audit.query({ type: "content" });
    expect(
      rows
        .map(({ agent, server, tool, code, detail }) => [
          agent,
          server,
          tool,
          code,
          detail?.["consent"] ?? detail?.["rule"],
        ])
        .toReversed(),
    ).toEqual([
      ["a", "library", "read_resource", "consent_denied", "consent"],
      ["a", "library", "read_resource", "ok", "ask"],
      ["a", "library", "get_prompt", "ok", "server-allowed"],
      ["a", "library", "complete", "ok", "server-allowed"],
      ["a", "library", "watch_resource", "ok", "server-allowed"],
      ["b", "library", "get_prompt", "denied", "level"],
    ]);
    expect(JSON.stringify(rows)).not.toMatch(/doc:|the text/);
    await scene.host.close();
    await rm(root, { recursive: true });
  });
});
