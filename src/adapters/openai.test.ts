import { describe, expect, it } from "vitest";

import { agentHost } from "../../tests/fixtures/agent/agent-host.ts";
import { pixel } from "../../tests/fixtures/agent/agent-tools.ts";
import { openAiResponsesTools, openAiTools, runOpenAiCalls } from "./openai.ts";

const chatCall = (id: string, tool: string, json: string) => ({
  type: "function" as const,
  id,
  function: { name: `mcp__fake__${tool}`, arguments: json },
});

const responsesCall = (callId: string, tool: string, json: string) => ({
  type: "function_call" as const,
  call_id: callId,
  name: `mcp__fake__${tool}`,
  arguments: json,
});

describe("tools for OpenAI", () => {
  it("BRG-17: have the shape of Chat Completions, or that of Responses", async () => {
    await using agent = await agentHost();
    const description = "Returns the message it was given.";
    const parameters = agent.session.find("mcp__fake__echo")?.inputSchema;
    const name = "mcp__fake__echo";
    expect((await openAiTools(agent.session))[0]).toEqual({
      type: "function",
      function: { name, description, parameters },
    });
    expect((await openAiResponsesTools(agent.session))[0]).toEqual({
      type: "function",
      name,
      description,
      parameters,
      strict: false,
    });
  });

  it("answer the calls of a chat message in their order", async () => {
    await using agent = await agentHost();
    const answers = await runOpenAiCalls(agent.session, [
      chatCall("call_1", "picture", ""),
      chatCall("call_2", "fail", "{}"),
      chatCall("call_3", "echo", '{"message": "hi"}'),
      chatCall("call_4", "echo", '{"message": '),
      chatCall("call_5", "wipe", "{}"),
    ]);
    const contents = [
      "a pixel\n[image: image/png, 72 B]\n[audio: audio/wav, 72 B]",
      "Error: the disk is full",
      "hi",
      "Error: mcp__fake__echo: the arguments are not valid JSON",
      "Error: wipe was not allowed",
    ];
    expect(answers).toEqual(
      contents.map((content, index) => ({
        role: "tool",
        tool_call_id: `call_${index + 1}`,
        content,
      })),
    );
    expect(new Set(agent.ended.map(({ callId }) => callId))).toEqual(
      new Set(["call_1", "call_2", "call_3", "call_5"]),
    );
  });

  it("answer the calls of a response with images, and pass over its other items", async () => {
    await using agent = await agentHost();
    const answers = await runOpenAiCalls(agent.session, [
      { type: "reasoning" as const, id: "rs_1" },
      responsesCall("call_1", "picture", "{}"),
      responsesCall("call_2", "fail", "{}"),
    ]);
    expect(answers).toEqual([
      {
        type: "function_call_output",
        call_id: "call_1",
        output: [
          {
            type: "input_text",
            text: "a pixel\n[image: image/png, 72 B]\n[audio: audio/wav, 72 B]",
          },
          {
            type: "input_image",
            image_url: `data:image/png;base64,${pixel}`,
            detail: "auto",
          },
        ],
      },
      { type: "function_call_output", call_id: "call_2", output: "Error: the disk is full" },
    ]);
  });

  it("run at the same time, and stop together", async () => {
    await using agent = await agentHost();
    const controller = new AbortController();
    const calls = [chatCall("call_1", "wait", ""), chatCall("call_2", "echo", '{"message":"hi"}')];
    const running = runOpenAiCalls(agent.session, calls, { signal: controller.signal });
    agent.session.on("call-end", ({ callId }) => {
      // The second ends while the first is under way.
      if (callId === "call_2") void agent.waiting.then(() => controller.abort());
    });
    expect((await running).map(({ content }) => content)).toEqual([
      expect.stringMatching(/^Error: .*cancelled/),
      "hi",
    ]);
  });

  it.each([[undefined], [null], [[]]])(
    "answer nothing when nothing is called: %j",
    async (calls) => {
      await using agent = await agentHost();
      await expect(runOpenAiCalls(agent.session, calls)).resolves.toEqual([]);
    },
  );
});
