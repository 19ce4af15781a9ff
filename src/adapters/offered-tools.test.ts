import { describe, expect, it } from "vitest";

import { agentHost } from "../../tests/fixtures/agent/agent-host.ts";
import { createHost } from "../index.ts";
import { createMemoryServer, createRecordedServer } from "../testing/index.ts";
import { offeredTools } from "./offered-tools.ts";

const namesOf = (tools: readonly { readonly name: string }[]) => tools.map(({ name }) => name);

describe("the tools a model is offered", () => {
  it("BRG-17: are the session's, without those that cannot be used", async () => {
    await using agent = await agentHost();
    const names = namesOf(offeredTools(agent.session, {}));
    expect(namesOf(agent.session.tools())).toContain("mcp__fake__broken");
    expect(names).toEqual(
      ["echo", "fail", "picture", "wait", "wipe"].map((name) => `mcp__fake__${name}`),
    );
    for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
  });

  it("BRG-16, BRG-19: show the whole schema, completed where providers insist", async () => {
    await using agent = await agentHost();
    const [echo, , picture] = offeredTools(agent.session, {});
    expect(echo?.schema).toEqual(agent.session.find("mcp__fake__echo")?.inputSchema);
    expect(picture?.schema).toEqual({ type: "object", properties: {} });
  });

  it("can be fewer", async () => {
    await using agent = await agentHost();
    const include = ({ originalName }: { readonly originalName: string }) =>
      originalName === "echo";
    expect(namesOf(offeredTools(agent.session, { include }))).toEqual(["mcp__fake__echo"]);
  });

  it("are read again each time", async () => {
    const server = (name: string) => () =>
      createMemoryServer(createRecordedServer({ tools: [{ name, inputSchema: {} }] })).transport;
    await using host = await createHost({
      config: false,
      servers: { one: server("a"), two: server("b") },
    });
    const session = host.session({ level: "yolo" });
    expect(offeredTools(session, {})).toEqual([]);
    await session.ready({ servers: ["one"] });
    expect(namesOf(offeredTools(session, {}))).toEqual(["mcp__one__a"]);
    await session.ready();
    expect(namesOf(offeredTools(session, {}))).toEqual(["mcp__one__a", "mcp__two__b"]);
  });
});
