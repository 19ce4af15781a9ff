import { describe, expect, it } from "vitest";

import { agentHost } from "../../tests/fixtures/agent/agent-host.ts";
import { pixel } from "../../tests/fixtures/agent/agent-tools.ts";
import { aiSdkTools } from "./ai-sdk.ts";

describe("tools for the AI SDK", () => {
  it("are found by their public names, and by nothing else", async () => {
    await using agent = await agentHost();
    const tools = await aiSdkTools(agent.session);
    expect(Object.keys(tools)).toContain("mcp__fake__echo");
    expect(tools["constructor"]).toBeUndefined();
    expect(tools["mcp__fake__echo"]).toMatchObject({
      type: "dynamic",
      description: "Returns the message it was given.",
      inputSchema: { jsonSchema: agent.session.find("mcp__fake__echo")?.inputSchema },
    });
  });

  it("give text, images and errors to the model, and plain JSON to the program", async () => {
    await using agent = await agentHost();
    const tools = await aiSdkTools(agent.session);
    const run = async (name: string, input: unknown = {}) => {
      const tool = tools[`mcp__fake__${name}`];
      const output = await tool?.execute(input, { toolCallId: `call_${name}` });
      expect(JSON.parse(JSON.stringify(output))).toEqual(output);
      return { output, shown: tool?.toModelOutput({ output }) };
    };
    expect(await run("echo", { message: "hi" })).toEqual({
      output: { text: "hi", isError: false },
      shown: { type: "text", value: "hi" },
    });
    expect(await run("fail")).toEqual({
      output: { text: "the disk is full", isError: true, code: "tool_error" },
      shown: { type: "error-text", value: "the disk is full" },
    });
    const text = "a pixel\n[image: image/png, 72 B]\n[audio: audio/wav, 72 B]";
    expect((await run("picture")).shown).toEqual({
      type: "content",
      value: [
        { type: "text", text },
        { type: "image-data", data: pixel, mediaType: "image/png" },
      ],
    });
    expect(agent.ended.map(({ callId }) => callId)).toEqual([
      "call_echo",
      "call_fail",
      "call_picture",
    ]);
  });

  it("show a model whatever a framework or a message store hands over as the output", async () => {
    await using agent = await agentHost();
    const { mcp__fake__echo: echo } = await aiSdkTools(agent.session);
    const shown = (result: unknown) => echo?.toModelOutput(result as { output: unknown });
    const output = { text: "hi", isError: false };
    // As Mastra does it.
    expect(shown(output)).toEqual({ type: "text", value: "hi" });
    expect(shown({ output: { ...output, images: "none" } })).toEqual({ type: "text", value: "hi" });
    expect(shown({ output: "old" })).toEqual({ type: "text", value: '"old"' });
    expect(shown({ output: undefined })).toEqual({ type: "text", value: "" });
    expect(shown(undefined)).toEqual({ type: "text", value: "" });
  });

  it("stop when the run is aborted", async () => {
    await using agent = await agentHost();
    const controller = new AbortController();
    const { mcp__fake__wait: wait } = await aiSdkTools(agent.session);
    const options = { toolCallId: "call_1", abortSignal: controller.signal };
    const running = wait?.execute({}, options);
    await agent.waiting;
    controller.abort();
    await expect(running).resolves.toMatchObject({ isError: true, code: "cancelled" });
  });

  it("keep to the deadline they are given", async () => {
    await using agent = await agentHost();
    const { mcp__fake__wait: wait } = await aiSdkTools(agent.session, { timeoutMs: 1 });
    const output = wait?.execute({}, { toolCallId: "call_1" });
    await expect(output).resolves.toMatchObject({ isError: true, code: "timeout" });
  });
});
