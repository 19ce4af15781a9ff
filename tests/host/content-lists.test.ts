import { type McpServerFactory, ProtocolError, Server } from "@modelcontextprotocol/server";
import { describe, expect, it } from "vitest";

import { createHost, type Session } from "../../src/index.ts";
import { createMemoryServer } from "../../src/testing/index.ts";
import { ManualClock, settled } from "../fixtures/protocol/manual-clock.ts";

type Answer = () => object | Promise<object>;

/** Has one resource, one prompt and no tools; single methods may answer otherwise. */
function contentServer(name: string, answers: Readonly<Record<string, Answer>> = {}) {
  const factory: McpServerFactory = () => {
    const capabilities = { resources: {}, prompts: {}, tools: {} };
    const server = new Server({ name, version: "1" }, { capabilities });
    const usual: Readonly<Record<string, Answer>> = {
      "tools/list": () => ({ tools: [] }),
      "resources/list": () => ({ resources: [{ uri: `doc://${name}`, name }] }),
      "resources/templates/list": () => ({ resourceTemplates: [] }),
      "prompts/list": () => ({ prompts: [{ name: `greet-${name}` }] }),
    };
    for (const [method, answer] of Object.entries({ ...usual, ...answers }))
      server.setRequestHandler(method as "tools/list", answer as never);
    return server;
  };
  return createMemoryServer(factory).transport;
}

const never: Answer = () => new Promise<object>(() => {});
const unknownMethod: Answer = () => {
  throw new ProtocolError(-32_601, "Method not found");
};

const lists: Readonly<Record<string, (session: Session) => Promise<readonly unknown[]>>> = {
  resources: ({ content }) => content.resources(),
  resourceTemplates: ({ content }) => content.resourceTemplates(),
  prompts: ({ content }) => content.prompts(),
};

describe("lists of resources and prompts of several servers", () => {
  it.each(Object.keys(lists))(
    "LIM-03: %s of all servers wait five seconds for one that hangs, and name it",
    async (kind) => {
      const clock = new ManualClock();
      const hanging = contentServer("hanging", {
        "resources/list": never,
        "resources/templates/list": never,
        "prompts/list": never,
      });
      const servers = { one: contentServer("one"), hanging, two: contentServer("two") };
      await using host = await createHost({ config: false, clock, servers });
      const session = host.session({ level: "yolo" });
      await session.ready();
      const listing = lists[kind]?.(session);
      await clock.advance(5_000);
      const list = await listing;
      expect(list).toHaveLength(kind === "resourceTemplates" ? 0 : 2);
      expect(list).toMatchObject({
        missing: [{ serverName: "hanging", error: { code: "timeout", serverName: "hanging" } }],
      });
    },
  );

  it("LIM-03: a server that does not get to the end of its start holds up no other", async () => {
    const clock = new ManualClock();
    const servers = {
      one: contentServer("one"),
      silent: { command: process.execPath, args: ["-e", "process.stdin.resume()"] },
    };
    await using host = await createHost({ config: false, clock, servers });
    const session = host.session({ level: "yolo" });
    const early: string[] = [];
    const listing = session.content.prompts({
      timeoutMs: 700,
      onList: ({ serverName, items, error }) =>
        early.push(`${serverName}: ${error?.code ?? items.map((item) => item.name).join()}`),
    });
    while (early.length === 0) await settled();
    expect(early).toEqual(["one: greet-one"]);
    await clock.advance(700);
    const list = await listing;
    expect(list.map(({ name }) => name)).toEqual(["greet-one"]);
    expect(list.missing.map(({ error }) => error.message)).toEqual([
      "no list of its prompts within 700 ms: the server is still starting",
    ]);
    expect(early).toEqual(["one: greet-one", "silent: timeout"]);
  });

  it("names each server whose list failed or may not be asked for, with the reason", async () => {
    const servers = {
      one: contentServer("one"),
      broken: contentServer("broken", {
        "resources/list": () => {
          throw new ProtocolError(-32_000, "no database");
        },
      }),
      absent: { command: "plugboard-no-such-command" },
      off: { command: "nothing", enabled: false },
    };
    await using host = await createHost({ config: false, servers });
    const list = await host.session({ level: "yolo" }).content.resources();
    expect(list.map(({ uri }) => uri)).toEqual(["doc://one"]);
    expect(list.missing.map(({ serverName, error }) => [serverName, error.code])).toEqual([
      ["broken", "rpc_error"],
      ["absent", "command_not_found"],
      ["off", "server_disabled"],
    ]);
    expect(list.missing[0]?.error.message).toContain("no database");
    const denied = await host.session({ agent: "other" }).content.resources();
    expect(denied.missing.map(({ error }) => error.code)).toEqual([
      "denied",
      "denied",
      "denied",
      "server_disabled",
    ]);
  });

  it.each(Object.keys(lists))("LIM-03: method not found is an empty list of %s", async (kind) => {
    const server = contentServer("s", {
      "resources/list": unknownMethod,
      "resources/templates/list": unknownMethod,
      "prompts/list": unknownMethod,
    });
    await using host = await createHost({ config: false, servers: { s: server } });
    const session = host.session({ level: "yolo" });
    const list = await lists[kind]?.(session);
    expect([...(list ?? ["none"])]).toEqual([]);
    expect(list).toMatchObject({ missing: [] });
    const warnings: unknown[] = [];
    host.on("warning", (event) => warnings.push(event));
    await host.connect("s");
    expect(warnings).toEqual([]);
    expect(host.server("s")).toMatchObject({ resources: [], prompts: [] });
  });

  it("a caller that gives up hears so, and not of an empty list", async () => {
    const abort = new AbortController();
    const servers = { s: contentServer("s", { "prompts/list": never }) };
    await using host = await createHost({ config: false, servers });
    const session = host.session({ level: "yolo" });
    await session.ready();
    const listing = session.content.prompts({ signal: abort.signal });
    abort.abort();
    await expect(listing).rejects.toMatchObject({ code: "cancelled" });
  });
});
