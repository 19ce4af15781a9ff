import { describe, expect, it } from "vitest";

import { agentHost } from "../../tests/fixtures/agent/agent-host.ts";
import { createHost } from "../index.ts";
import { PromptTemplate } from "../session/prompt/prompt-template.ts";
import { createMemoryServer, createRecordedServer, testServerEntry } from "../testing/index.ts";
import { loadOfferedTools } from "./offered-tools.ts";
import { runModelCall } from "./run-model-call.ts";

const namesOf = (tools: readonly { readonly name: string }[]) => tools.map(({ name }) => name);

describe("the tools a model is offered", () => {
  it("BRG-17: are the session's, without those that cannot be used", async () => {
    await using agent = await agentHost();
    const names = namesOf(await loadOfferedTools(agent.session, {}));
    expect(namesOf(agent.session.tools())).toContain("mcp__fake__broken");
    expect(names).toEqual(
      ["echo", "fail", "picture", "wait", "wipe"].map((name) => `mcp__fake__${name}`),
    );
    for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
  });

  it("BRG-16, BRG-19: show the whole schema, completed where providers insist", async () => {
    await using agent = await agentHost();
    const [echo, , picture] = await loadOfferedTools(agent.session, {});
    expect(echo?.schema).toEqual(agent.session.find("mcp__fake__echo")?.inputSchema);
    expect(picture?.schema).toEqual({ type: "object", properties: {} });
  });

  it("can be fewer", async () => {
    await using agent = await agentHost();
    const include = ({ originalName }: { readonly originalName: string }) =>
      originalName === "echo";
    expect(namesOf(await loadOfferedTools(agent.session, { include }))).toEqual([
      "mcp__fake__echo",
    ]);
  });

  it("BRG-17: are waited for, so that nobody can forget to, and read again each time", async () => {
    const server = (name: string) => () =>
      createMemoryServer(createRecordedServer({ tools: [{ name, inputSchema: {} }] })).transport;
    await using host = await createHost({
      config: false,
      servers: { one: server("a"), two: server("b") },
    });
    const session = host.session({ level: "yolo" });
    expect(namesOf(await loadOfferedTools(session, {}))).toEqual(["mcp__one__a", "mcp__two__b"]);
    await host.connect({ name: "three", ...testServerEntry() });
    expect(namesOf(await loadOfferedTools(session, {}))).toContain("mcp__three__add");
  });

  it("BRG-17: are those of a prompt, which calls run by its tools and by no others", async () => {
    await using agent = await agentHost();
    const { session } = agent;
    session.defineTool({
      name: "own",
      description: "d",
      inputSchema: { type: "object" },
      handler: () => "mine",
    });
    const section = session.section({ servers: ["fake"], connectOnInit: true });
    const prompt = new PromptTemplate({ ns: "test", key: "prompt", sections: [section] });
    const names = namesOf(await loadOfferedTools(prompt, {}));
    expect(names).toEqual(namesOf(await loadOfferedTools(session, {})).slice(1));
    const run = (name: string) => runModelCall(prompt, { name, input: { message: "hi" } }, {});
    expect(await run("mcp__fake__echo")).toMatchObject({ text: "hi", isError: false });
    expect(await run("own")).toMatchObject({ text: 'no tool "own"', isError: true });
    await section.disconnect();
    expect(await run("mcp__fake__echo")).toMatchObject({ isError: true, outcome: undefined });
  });

  it("are refused for a prompt whose sections nobody has connected", async () => {
    await using agent = await agentHost();
    const section = agent.session.section({ servers: ["fake"] });
    const prompt = new PromptTemplate({ ns: "test", key: "prompt", sections: [section] });
    await expect(loadOfferedTools(prompt, {})).rejects.toMatchObject({
      code: "unreachable",
      hint: expect.stringContaining("connect()"),
    });
  });
});
