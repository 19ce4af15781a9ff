import { once } from "node:events";
import { EventEmitter } from "node:events";

import { type McpServerFactory, Server } from "@modelcontextprotocol/server";
import { describe, expect, it } from "vitest";

import { createHost, type McpHost } from "../../src/index.ts";
import { createMemoryServer } from "../../src/testing/index.ts";

/** A server whose list a test changes while it runs. */
class ChangingServer {
  tools = ["one", "two"];
  isBroken = false;
  lists = 0;
  readonly #servers = new Set<Server>();

  readonly factory: McpServerFactory = () => {
    const server = new Server(
      { name: "changing", version: "1" },
      { capabilities: { tools: { listChanged: true } } },
    );
    server.setRequestHandler("tools/list", () => {
      this.lists += 1;
      if (this.isBroken) throw new Error("the list is broken");
      return { tools: this.tools.map((name) => ({ name, inputSchema: { type: "object" } })) };
    });
    this.#servers.add(server);
    return server;
  };

  async announce(): Promise<void> {
    for (const server of this.#servers) await server.sendToolListChanged();
  }
}

/** The next event of its kind, as a promise that is armed at once. */
function next(host: McpHost, type: "tools-changed" | "warning"): Promise<unknown> {
  const heard = new EventEmitter();
  const off = host.on(type, (event) => heard.emit("event", event));
  return once(heard, "event").then(([event]: unknown[]) => {
    off();
    return event;
  });
}

describe.each(["legacy", "modern"] as const)("a list that changes, %s era", (era) => {
  it("LIM-05 DSC-07: is fetched again, and the difference is an event", async () => {
    const changing = new ChangingServer();
    const { transport } = createMemoryServer(changing.factory, { era });
    await using host = await createHost({ config: false, servers: { c: transport } });
    const session = host.session({ level: "yolo" });
    const first = next(host, "tools-changed");
    await session.ready();
    expect(await first).toMatchObject({ added: ["one", "two"], removed: [], changed: [] });
    const change = next(host, "tools-changed");
    changing.tools = ["two", "three"];
    await changing.announce();
    expect(await change).toMatchObject({
      serverName: "c",
      toolCount: 2,
      added: ["three"],
      removed: ["one"],
      changed: [],
    });
    expect(session.tools().map(({ originalName }) => originalName)).toEqual(["two", "three"]);
  });

  it("DSC-19: a list that cannot be fetched again leaves the known one and a warning", async () => {
    const changing = new ChangingServer();
    const { transport } = createMemoryServer(changing.factory, { era });
    await using host = await createHost({ config: false, servers: { c: transport } });
    const session = host.session({ level: "yolo" });
    await session.ready();
    const warning = next(host, "warning");
    changing.isBroken = true;
    await changing.announce();
    expect(await warning).toMatchObject({ serverName: "c" });
    expect(session.tools()).toHaveLength(2);
  });
});
