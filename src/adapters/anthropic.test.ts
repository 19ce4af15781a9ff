import { describe, expect, it } from "vitest";

import { agentHost } from "../../tests/fixtures/agent/agent-host.ts";
import { pixel } from "../../tests/fixtures/agent/agent-tools.ts";
import { anthropicTools, runAnthropicCalls } from "./anthropic.ts";

const toolUse = (id: string, tool: string, input: unknown = {}) => ({
  type: "tool_use" as const,
  id,
  name: `mcp__fake__${tool}`,
  input,
});

describe("tools for Anthropic", () => {
  it("BRG-17: have the shape of the Messages API", async () => {
    await using agent = await agentHost();
    const [echo, , picture] = await anthropicTools(agent.session);
    expect(echo).toEqual({
      name: "mcp__fake__echo",
      description: "Returns the message it was given.",
      input_schema: agent.session.find("mcp__fake__echo")?.inputSchema,
    });
    expect(picture?.input_schema).toEqual({ type: "object", properties: {} });
  });

  it("answer the calls of a message in their order, and pass over its other blocks", async () => {
    await using agent = await agentHost();
    const results = await runAnthropicCalls(agent.session, [
      { type: "text" },
      toolUse("toolu_1", "picture"),
      toolUse("toolu_2", "fail"),
      toolUse("toolu_3", "wipe"),
    ]);
    const text = "a pixel\n[image: image/png, 72 B]\n[audio: audio/wav, 72 B]";
    const source = { type: "base64", media_type: "image/png", data: pixel };
    expect(results).toEqual([
      {
        type: "tool_result",
        tool_use_id: "toolu_1",
        content: [
          { type: "text", text },
          { type: "image", source },
        ],
        is_error: false,
      },
      {
        type: "tool_result",
        tool_use_id: "toolu_2",
        content: "the disk is full",
        is_error: true,
      },
      {
        type: "tool_result",
        tool_use_id: "toolu_3",
        content: "wipe was not allowed",
        is_error: true,
      },
    ]);
    expect(new Set(agent.ended.map(({ callId }) => callId))).toEqual(
      new Set(["toolu_1", "toolu_2", "toolu_3"]),
    );
  });

  it("stop when the run is aborted", async () => {
    await using agent = await agentHost();
    const controller = new AbortController();
    const { signal } = controller;
    const running = runAnthropicCalls(agent.session, [toolUse("toolu_1", "wait")], { signal });
    await agent.waiting;
    controller.abort();
    await expect(running).resolves.toMatchObject([{ is_error: true }]);
  });
});
