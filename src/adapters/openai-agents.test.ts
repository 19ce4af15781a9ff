import { describe, expect, it } from "vitest";

import { agentHost } from "../../tests/fixtures/agent/agent-host.ts";
import { pixel } from "../../tests/fixtures/agent/agent-tools.ts";
import { openAiAgentsTools } from "./openai-agents.ts";

describe("tools for the OpenAI Agents SDK", () => {
  it("BRG-17: are function tools that ask nobody a second time", async () => {
    await using agent = await agentHost();
    const [echo, , picture] = await openAiAgentsTools(agent.session);
    expect(echo).toMatchObject({
      type: "function",
      name: "mcp__fake__echo",
      description: "Returns the message it was given.",
      parameters: agent.session.find("mcp__fake__echo")?.inputSchema,
      strict: false,
    });
    expect(picture?.parameters).toEqual({ type: "object", properties: {} });
    await expect(echo?.needsApproval()).resolves.toBe(false);
    await expect(echo?.isEnabled()).resolves.toBe(true);
  });

  it("answer with text, images and errors", async () => {
    await using agent = await agentHost();
    const run = async (name: string, json: string) =>
      (await openAiAgentsTools(agent.session))
        .find((tool) => tool.name === `mcp__fake__${name}`)
        ?.invoke(undefined, json, { toolCall: { callId: `call_${name}` } });
    await expect(run("echo", '{"message":"hi"}')).resolves.toBe("hi");
    await expect(run("fail", "")).resolves.toBe("Error: the disk is full");
    await expect(run("wait", "{")).resolves.toContain("not valid JSON");
    await expect(run("picture", "{}")).resolves.toEqual([
      { type: "text", text: "a pixel\n[image: image/png, 72 B]\n[audio: audio/wav, 72 B]" },
      { type: "image", image: { data: pixel, mediaType: "image/png" } },
    ]);
    expect(agent.ended.map(({ callId }) => callId)).toEqual([
      "call_echo",
      "call_fail",
      "call_picture",
    ]);
  });

  it("stop when the run is aborted", async () => {
    await using agent = await agentHost();
    const controller = new AbortController();
    const wait = (await openAiAgentsTools(agent.session)).find(
      ({ name }) => name === "mcp__fake__wait",
    );
    const running = wait?.invoke(undefined, "{}", { signal: controller.signal });
    await agent.waiting;
    controller.abort();
    await expect(running).resolves.toMatch(/^Error: .*cancelled/);
  });
});
