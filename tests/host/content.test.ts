import { type McpServerFactory, Server } from "@modelcontextprotocol/server";
import { describe, expect, it } from "vitest";

import { resourceContext } from "../../src/entries/content.ts";
import { createHost, type McpHost, type Session } from "../../src/index.ts";
import { createMemoryServer, createTestServer, serveHttp } from "../../src/testing/index.ts";

/** A small library: two documents, a family of notes, a prompt with an argument. */
class Library {
  readonly #servers = new Set<Server>();
  readonly watched = new Set<string>();

  readonly factory: McpServerFactory = () => {
    const server = new Server(
      { name: "library", version: "1" },
      {
        capabilities: {
          resources: { subscribe: true, listChanged: true },
          prompts: {},
          completions: {},
          tools: {},
          logging: {},
        },
      },
    );
    server.setRequestHandler("resources/list", ({ params }) =>
      params?.cursor === undefined
        ? { resources: [{ uri: "doc://1", name: "one", description: "first" }], nextCursor: "2" }
        : { resources: [{ uri: "doc://2", name: "two", mimeType: "text/markdown" }] },
    );
    server.setRequestHandler("resources/templates/list", () => ({
      resourceTemplates: [{ uriTemplate: "note://{id}", name: "notes" }],
    }));
    server.setRequestHandler("resources/read", ({ params }) => ({
      contents: [{ uri: params.uri, mimeType: "text/plain", text: `text of ${params.uri}` }],
    }));
    server.setRequestHandler("prompts/list", () => ({
      prompts: [{ name: "greet", arguments: [{ name: "who", required: true }] }],
    }));
    server.setRequestHandler("prompts/get", ({ params }) => ({
      messages: [
        { role: "user", content: { type: "text", text: `Greet ${params.arguments?.["who"]}` } },
      ],
    }));
    server.setRequestHandler("completion/complete", ({ params }) => ({
      completion: { values: [`${params.argument.value}nna`], total: 1, hasMore: false },
    }));
    server.setRequestHandler("tools/list", () => ({ tools: [] }));
    this.#servers.add(server);
    return server;
  };

  async touch(uri: string): Promise<void> {
    for (const server of this.#servers) await server.sendResourceUpdated({ uri });
  }
}

interface Scene extends AsyncDisposable {
  readonly library: Library;
  readonly host: McpHost;
  readonly session: Session;
}

type Era = "legacy" | "modern";

async function overMemory(era: Era): Promise<Scene> {
  const library = new Library();
  const { transport } = createMemoryServer(library.factory, { era });
  return await enter(library, transport, () => Promise.resolve());
}

async function overHttp(era: Era): Promise<Scene> {
  const library = new Library();
  const server = await serveHttp(library.factory, { era, sessions: true });
  const entry = { url: server.url, transport: "streamable-http" as const };
  return await enter(library, entry, () => server.close());
}

async function enter(library: Library, server: object, close: () => Promise<void>): Promise<Scene> {
  const host = await createHost({ config: false, servers: { library: server } });
  return {
    library,
    host,
    session: host.session({ level: "yolo" }),
    async [Symbol.asyncDispose]() {
      await host.close();
      await close();
    },
  };
}

describe.each([
  ["memory", "legacy", overMemory],
  ["memory", "modern", overMemory],
  ["HTTP", "legacy", overHttp],
  ["HTTP", "modern", overHttp],
] as const)("resources and prompts over %s, %s era", (_, era, open) => {
  it("LIM-03 DSC-03 DSC-04: lists all pages without reading anything", async () => {
    await using scene = await open(era);
    const { content } = scene.session;
    expect(await content.resources()).toMatchObject([
      { serverName: "library", uri: "doc://1", name: "one", description: "first" },
      { serverName: "library", uri: "doc://2", name: "two", mimeType: "text/markdown" },
    ]);
    expect(await content.resourceTemplates({ server: "library" })).toMatchObject([
      { uriTemplate: "note://{id}", name: "notes" },
    ]);
    expect(await content.prompts()).toMatchObject([
      { name: "greet", arguments: [{ name: "who", isRequired: true }] },
    ]);
  });

  it("LIM-03 LIM-07: reads a resource and makes a context block of it", async () => {
    await using scene = await open(era);
    const { content } = scene.session;
    const [first] = await content.resources();
    const contents = await content.readResource("library", "doc://1");
    expect(contents).toEqual([{ uri: "doc://1", mimeType: "text/plain", text: "text of doc://1" }]);
    expect(resourceContext(first as never, contents)).toContain("text of doc://1");
  });

  it("LIM-03: gets a prompt and completes its argument", async () => {
    await using scene = await open(era);
    const { content } = scene.session;
    expect(await content.prompt("library", "greet", { who: "Anna" })).toMatchObject({
      messages: [{ role: "user", content: { type: "text", text: "Greet Anna" } }],
    });
    expect(
      await content.complete("library", { of: { prompt: "greet" }, argument: "who", value: "A" }),
    ).toEqual({ values: ["Anna"], total: 1, hasMore: false });
  });
});

describe("resources and prompts", () => {
  it("LIM-10: a watched resource is reported until nobody watches it", async () => {
    await using scene = await overMemory("modern");
    const { content } = scene.session;
    let heard = 0;
    let tell: (() => void) | undefined;
    const stop = await content.watchResource("library", "doc://1", () => {
      heard += 1;
      tell?.();
    });
    const first = new Promise<void>((resolve) => {
      tell = resolve;
    });
    await scene.library.touch("doc://1");
    await first;
    await stop();
    await scene.library.touch("doc://1");
    await content.readResource("library", "doc://1");
    expect(heard).toBe(1);
  });

  it("an agent without rights gets none, and nothing is started for it", async () => {
    await using host = await createHost({ config: false, servers: { x: { command: "nothing" } } });
    const { content } = host.session({ level: "sandboxed" });
    const list = await content.resources();
    expect([list.length, list.missing]).toMatchObject([
      0,
      [{ serverName: "x", error: { code: "denied" } }],
    ]);
    await expect(content.readResource("x", "doc://1")).rejects.toMatchObject({ code: "denied" });
    await expect(content.prompts({ server: "y" })).rejects.toMatchObject({
      code: "server_unknown",
    });
  });

  it("a server that has none of them is not asked", async () => {
    const { transport } = createMemoryServer(createTestServer());
    await using host = await createHost({ config: false, servers: { plain: transport } });
    const { content } = host.session({ level: "yolo" });
    expect(await content.resources({ server: "plain" })).toEqual([]);
    expect(await content.prompts({ server: "plain" })).toEqual([]);
  });
});
