import Anthropic from "@anthropic-ai/sdk";
import { describe, expect, it } from "vitest";

import { pixel } from "../../fixtures/agent/agent-tools.ts";
import { agentSession } from "./agent-session.ts";
import { ask } from "./agents/anthropic.ts";
import { type ScriptedFetch, scriptedFetch } from "./scripted-fetch.ts";

function createClient({ fetch }: ScriptedFetch): Anthropic {
  return new Anthropic({ apiKey: "none", fetch, maxRetries: 0 });
}

function turn(stopReason: "tool_use" | "end_turn", content: readonly object[]): unknown {
  return { id: "msg_1", type: "message", role: "assistant", content, stop_reason: stopReason };
}

const toolUse = (tool: string, input: object = {}) => ({
  type: "tool_use",
  id: `toolu_${tool}`,
  name: `mcp__fake__${tool}`,
  input,
});

const unaborted = new AbortController().signal;

describe("the Anthropic client", () => {
  it("runs the tools that the model uses, and hands it what became of each", async () => {
    await using agent = await agentSession();
    const script = scriptedFetch([
      turn("tool_use", [
        { type: "text", text: "I will try." },
        toolUse("echo", { message: "hi" }),
        toolUse("fail"),
        toolUse("picture"),
        toolUse("wipe"),
      ]),
      turn("end_turn", [{ type: "text", text: "done" }]),
    ]);
    const content = await ask(agent.session, createClient(script), unaborted);
    expect(content).toEqual([{ type: "text", text: "done" }]);
    const messages = script.requests[1]?.["messages"] as
      | { readonly content: unknown }[]
      | undefined;
    const result = (tool: string, content: unknown, isError: boolean) => ({
      type: "tool_result",
      tool_use_id: `toolu_${tool}`,
      content,
      is_error: isError,
    });
    expect(messages?.at(-1)?.content).toEqual([
      result("echo", "hi", false),
      result("fail", "the disk is full", true),
      result(
        "picture",
        [
          { type: "text", text: expect.stringContaining("[audio: audio/wav") },
          { type: "image", source: { type: "base64", media_type: "image/png", data: pixel } },
        ],
        false,
      ),
      result("wipe", expect.stringContaining("wipe was not allowed"), true),
    ]);
    expect(script.requests[0]?.["tools"]).toHaveLength(5);
    expect(script.requests[0]?.["tools"]).toMatchObject([
      {
        name: "mcp__fake__echo",
        input_schema: agent.session.find("mcp__fake__echo")?.inputSchema,
      },
      {},
      { input_schema: { type: "object", properties: {} } },
      {},
      {},
    ]);
    expect(new Set(agent.ended.map(({ callId }) => callId))).toEqual(
      new Set(["toolu_echo", "toolu_fail", "toolu_picture", "toolu_wipe"]),
    );
  });

  it("stops a tool when the run is aborted", async () => {
    await using agent = await agentSession();
    const controller = new AbortController();
    const script = scriptedFetch([turn("tool_use", [toolUse("wait")])]);
    const run = ask(agent.session, createClient(script), controller.signal);
    void agent.waiting.then(() => controller.abort());
    await expect(run).rejects.toBeInstanceOf(Anthropic.APIUserAbortError);
    expect(agent.ended).toMatchObject([{ callId: "toolu_wait", code: "cancelled" }]);
  });
});
