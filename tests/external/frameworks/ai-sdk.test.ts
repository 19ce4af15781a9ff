import { MockLanguageModelV3 } from "ai/test";
import { describe, expect, it } from "vitest";

import { pixel } from "../../fixtures/agent/agent-tools.ts";
import { agentSession } from "./agent-session.ts";
import { ask } from "./agents/ai-sdk.ts";

type Turn = Awaited<ReturnType<MockLanguageModelV3["doGenerate"]>>;

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

/** A turn in which the model calls tools, with ids `call_<tool>`. */
function calls(...tools: readonly (readonly [tool: string, input: unknown])[]): Turn {
  return {
    content: tools.map(([tool, input]) => ({
      type: "tool-call",
      toolCallId: `call_${tool}`,
      toolName: `mcp__fake__${tool}`,
      input: JSON.stringify(input),
    })),
    finishReason: { unified: "tool-calls", raw: undefined },
    usage,
    warnings: [],
  };
}

function says(text: string): Turn {
  return {
    content: [{ type: "text", text }],
    finishReason: { unified: "stop", raw: undefined },
    usage,
    warnings: [],
  };
}

/** What the model read of each call, in the last turn it was asked for. */
function readByModel(model: MockLanguageModelV3): Readonly<Record<string, unknown>> {
  const messages = model.doGenerateCalls.at(-1)?.prompt ?? [];
  return Object.fromEntries(
    messages
      .flatMap((message) => (message.role === "tool" ? message.content : []))
      .flatMap((part) => (part.type === "tool-result" ? [[part.toolCallId, part.output]] : [])),
  );
}

const unaborted = new AbortController().signal;

describe("the AI SDK", () => {
  it("runs the tools that the model calls, and hands it what became of each", async () => {
    await using agent = await agentSession();
    const model = new MockLanguageModelV3({
      doGenerate: [
        calls(["echo", { message: "hi" }], ["fail", {}]),
        calls(["picture", {}], ["wipe", {}]),
        says("done"),
      ],
    });
    await expect(ask(agent.session, model, unaborted)).resolves.toBe("done");
    expect(readByModel(model)).toEqual({
      call_echo: { type: "text", value: "hi" },
      call_fail: { type: "error-text", value: "the disk is full" },
      call_picture: {
        type: "content",
        value: [
          { type: "text", text: expect.stringContaining("[audio: audio/wav") },
          // Version 7 hands a model of version 6 all data in one way.
          {
            type: expect.stringMatching(/^(image|file)-data$/),
            data: pixel,
            mediaType: "image/png",
          },
        ],
      },
      call_wipe: { type: "error-text", value: expect.stringContaining("wipe was not allowed") },
    });
    expect(Object.fromEntries(agent.ended.map(({ callId, ok }) => [callId, ok]))).toEqual({
      call_echo: true,
      call_fail: false,
      call_picture: true,
      call_wipe: false,
    });
  });

  it("BRG-16: shows the model names and schemas as they are", async () => {
    await using agent = await agentSession();
    const model = new MockLanguageModelV3({ doGenerate: says("done") });
    await ask(agent.session, model, unaborted);
    const [echo, , picture] = model.doGenerateCalls[0]?.tools ?? [];
    expect(echo).toMatchObject({
      type: "function",
      name: "mcp__fake__echo",
      description: "Returns the message it was given.",
      inputSchema: agent.session.find("mcp__fake__echo")?.inputSchema,
    });
    expect(picture).toMatchObject({ inputSchema: { type: "object", properties: {} } });
  });

  it("answers wrong arguments with what is wrong about them", async () => {
    await using agent = await agentSession();
    const model = new MockLanguageModelV3({
      doGenerate: [calls(["echo", { message: 1 }]), says("done")],
    });
    await ask(agent.session, model, unaborted);
    expect(readByModel(model)).toEqual({
      call_echo: { type: "error-text", value: 'echo: "message" must be a string' },
    });
  });

  it("stops a tool when the run is aborted", async () => {
    await using agent = await agentSession();
    const controller = new AbortController();
    const model = new MockLanguageModelV3({
      doGenerate: async ({ abortSignal }) => {
        abortSignal?.throwIfAborted();
        return calls(["wait", {}]);
      },
    });
    const run = ask(agent.session, model, controller.signal);
    void agent.waiting.then(() => controller.abort());
    await expect(run).rejects.toMatchObject({ name: "AbortError" });
    expect(agent.ended).toMatchObject([{ callId: "call_wait", code: "cancelled" }]);
  });
});
