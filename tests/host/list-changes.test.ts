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

it("DSC-07: one change is one event, on however many connections and however often it is announced", async () => {
  const changing = new ChangingServer();
  const c = () => createMemoryServer(changing.factory).transport;
  await using host = await createHost({ config: false, servers: { c } });
  const heard: string[] = [];
  host.on("tools-changed", ({ added, removed }) =>
    heard.push(`+${added.join()} -${removed.join()}`),
  );
  await host.connect("c");
  await host.connect("c", { owner: "boss" });
  expect(heard).toEqual(["+one,two -"]);
  changing.tools = ["two"];
  for (let round = 0; round < 2; round += 1) {
    const { lists } = changing;
    await changing.announce();
    await expect.poll(() => changing.lists).toBeGreaterThanOrEqual(lists + 2);
  }
  // Whoever connects has waited for the list.
  await host.disconnectAll();
  await host.connect("c");
  expect(heard).toEqual(["+one,two -", "+ -one"]);
});

describe("public names that clash", () => {
  /** Every warning there is, with the server it is about. */
  function hear(host: McpHost): string[] {
    const heard: string[] = [];
    host.on("warning", ({ serverName, text }) => heard.push(`${serverName ?? "-"}: ${text}`));
    return heard;
  }

  async function announce(host: McpHost, changing: ChangingServer): Promise<void> {
    const change = next(host, "tools-changed");
    await changing.announce();
    await change;
  }

  const clash = (one: string, other: string, name: string): string =>
    `c: "${one}" of "c", "${other}" of "c" would all be called ${name}; a hash was added to each name`;

  it("NAM-13: are told once: not with every list, and not to every session", async () => {
    const changing = new ChangingServer();
    changing.tools = ["a.b", "a_b"];
    const { transport } = createMemoryServer(changing.factory);
    await using host = await createHost({ config: false, servers: { c: transport } });
    const heard = hear(host);
    const session = host.session({ level: "yolo" });
    await session.ready();
    const first = clash("a.b", "a_b", "mcp__c__a_b");
    session.tools();
    expect(heard).toEqual([first]);
    session.tools();
    session.child().tools();
    host.session({ level: "yolo", resourceTools: true }).tools();
    const { lists } = changing;
    await changing.announce();
    await expect.poll(() => changing.lists).toBe(lists + 1);
    session.tools();
    expect(heard).toEqual([first]);
    changing.tools = ["a.b", "a_b", "x y", "x.y"];
    await announce(host, changing);
    session.find("mcp__c__x_y");
    expect(heard).toEqual([first, clash("x y", "x.y", "mcp__c__x_y")]);
  });

  it("NAM-13: are told across servers, and where only upper and lower case tell them apart", async () => {
    const server = (...tools: readonly string[]) => {
      const changing = new ChangingServer();
      changing.tools = [...tools];
      return createMemoryServer(changing.factory).transport;
    };
    await using host = await createHost({
      config: false,
      servers: { one: server("run", "A.b"), two: server("run", "a_b") },
      naming: (_, tool) => tool,
    });
    const heard = hear(host);
    const session = host.session({ level: "yolo" });
    await session.ready();
    session.tools();
    expect(heard).toEqual([
      '-: "run" of "one", "run" of "two" would all be called run; a hash was added to each name',
      "-: A_b, a_b differ only in upper and lower case",
    ]);
  });

  it("NAM-13: are told when a server lists a tool of a native one's name", async () => {
    const changing = new ChangingServer();
    changing.tools = ["search", "Find"];
    const { transport } = createMemoryServer(changing.factory);
    await using host = await createHost({
      config: false,
      servers: { c: transport },
      naming: (_, tool) => tool,
    });
    const heard = hear(host);
    const session = host.session({ level: "yolo" });
    for (const name of ["search", "find"])
      session.defineTool({
        name,
        description: "The program's own",
        inputSchema: { type: "object" },
        handler: () => "found",
      });
    await session.ready();
    expect(await session.call("search")).toMatchObject({ text: "found" });
    expect(heard).toEqual([
      'c: "search" of "c" would hide the native tool search; a hash was added to the name',
      "c: find, Find differ only in upper and lower case",
    ]);
  });

  it("NAM-13: what is told of the tools themselves is not told again of their names", async () => {
    const changing = new ChangingServer();
    changing.tools = ["Query", "query"];
    const { transport } = createMemoryServer(changing.factory);
    await using host = await createHost({ config: false, servers: { c: transport } });
    const heard = hear(host);
    const session = host.session({ level: "yolo" });
    await session.ready();
    expect(session.tools()).toHaveLength(2);
    expect(heard).toEqual([
      'c: tool "Query": its name "Query" differs only in upper and lower case from "query"',
      'c: tool "query": its name "query" differs only in upper and lower case from "Query"',
    ]);
  });

  it("NAM-13: a list that clashes throughout is not told to its end", async () => {
    const changing = new ChangingServer();
    changing.tools = Array.from({ length: 60 }, (_, index) => [`n.${index}`, `n_${index}`]).flat();
    const { transport } = createMemoryServer(changing.factory);
    await using host = await createHost({ config: false, servers: { c: transport } });
    const session = host.session({ level: "yolo" });
    await session.ready();
    const heard = hear(host);
    expect(session.tools()).toHaveLength(120);
    expect(heard).toHaveLength(21);
    expect(heard.at(-1)).toBe(
      "-: 40 more names of tools were changed or could be mistaken for others",
    );
  });
});
