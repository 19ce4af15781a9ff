import { Server } from "@modelcontextprotocol/server";
import { describe, expect, it } from "vitest";

import { createHost } from "../../src/index.ts";
import { createMemoryServer } from "../../src/testing/index.ts";

describe("the contents of resources", () => {
  it("LIM-20 DSC-04: are fetched by whoever asks for exactly that, and by nothing else", async () => {
    const read: string[] = [];
    const factory = () => {
      const server = new Server(
        { name: "library", version: "1" },
        { capabilities: { resources: {}, tools: {} } },
      );
      const resources = [{ uri: "doc://1", name: "one", description: "first" }];
      server.setRequestHandler("resources/list", () => ({ resources }));
      server.setRequestHandler("tools/list", () => ({ tools: [] }));
      server.setRequestHandler("resources/read", ({ params: { uri } }) => {
        read.push(uri);
        return { contents: [{ uri, text: "the text" }] };
      });
      return server;
    };
    const library = () => createMemoryServer(factory).transport;
    await using host = await createHost({ config: false, servers: { library } });
    const session = host.session({ level: "yolo" });
    await session.ready();
    await using section = await session.section().open();
    section.render();
    const listed = await session.content.resources();
    expect(listed.map(({ uri, description }) => [uri, description])).toEqual([
      ["doc://1", "first"],
    ]);
    // A model has no way to read them unless the program gives it one.
    expect(session.tools()).toEqual([]);
    expect(read).toEqual([]);
    const [contents] = await session.content.readResource("library", "doc://1");
    expect([contents?.text, read]).toEqual(["the text", ["doc://1"]]);
  });
});
