import { BaseChatModel, type BindToolsInput } from "@langchain/core/language_models/chat_models";
import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import type { ChatResult } from "@langchain/core/outputs";
import type { StructuredToolInterface } from "@langchain/core/tools";
import { convertToOpenAITool } from "@langchain/core/utils/function_calling";
import { tool, ToolMessage } from "langchain";
import { langChainTools } from "plugboard/adapters";
import { describe, expect, it } from "vitest";

import { pixel } from "../../fixtures/agent/agent-tools.ts";
import { agentSession } from "./agent-session.ts";
import { ask } from "./agents/langchain.ts";

/** A model that answers one message after the other, and remembers the tools it was given. */
class ScriptedModel extends BaseChatModel {
  readonly #script: readonly AIMessage[];
  #turn = 0;
  bound: readonly unknown[] = [];

  constructor(script: readonly AIMessage[]) {
    super({});
    this.#script = script;
  }

  override _llmType(): string {
    return "scripted";
  }

  override bindTools(tools: BindToolsInput[]): this {
    this.bound = tools.map((bound) => convertToOpenAITool(bound));
    return this;
  }

  override async _generate(): Promise<ChatResult> {
    const message = this.#script[this.#turn] ?? new AIMessage("done");
    this.#turn += 1;
    return { generations: [{ text: message.text, message }] };
  }
}

function calls(...tools: readonly (readonly [tool: string, args: Record<string, unknown>])[]) {
  return new AIMessage({
    content: "",
    tool_calls: tools.map(([tool, args]) => ({
      type: "tool_call",
      id: `call_${tool}`,
      name: `mcp__fake__${tool}`,
      args,
    })),
  });
}

function toolMessages(messages: readonly BaseMessage[]): unknown[] {
  return messages
    .filter((message) => ToolMessage.isInstance(message))
    .map(({ tool_call_id: id, status, content }) => ({ id, status, content }));
}

const unaborted = new AbortController().signal;

describe("LangChain", () => {
  it("runs the tools that the model calls, and hands it what became of each", async () => {
    await using agent = await agentSession();
    const model = new ScriptedModel([
      calls(["echo", { message: "hi" }], ["fail", {}]),
      calls(["picture", {}], ["wipe", {}]),
      new AIMessage("done"),
    ]);
    const messages = await ask(agent.session, model, unaborted);
    expect(messages.at(-1)?.text).toBe("done");
    expect(toolMessages(messages)).toEqual([
      { id: "call_echo", status: "success", content: "hi" },
      { id: "call_fail", status: "error", content: "the disk is full" },
      {
        id: "call_picture",
        status: "success",
        content: [
          { type: "text", text: expect.stringContaining("[audio: audio/wav") },
          { type: "image_url", image_url: { url: `data:image/png;base64,${pixel}` } },
        ],
      },
      {
        id: "call_wipe",
        status: "error",
        content: expect.stringContaining("wipe was not allowed"),
      },
    ]);
    expect(new Set(agent.ended.map(({ callId }) => callId))).toEqual(
      new Set(["call_echo", "call_fail", "call_picture", "call_wipe"]),
    );
  });

  it("BRG-16: shows the model names and schemas as they are", async () => {
    await using agent = await agentSession();
    const model = new ScriptedModel([]);
    await ask(agent.session, model, unaborted);
    expect(model.bound[0]).toMatchObject({
      type: "function",
      function: {
        name: "mcp__fake__echo",
        description: "Returns the message it was given.",
        parameters: agent.session.find("mcp__fake__echo")?.inputSchema,
      },
    });
    expect(model.bound[2]).toMatchObject({
      function: { parameters: { type: "object", properties: {} } },
    });
  });

  it("leaves the check of arguments to the call path, which says what is wrong", async () => {
    await using agent = await agentSession();
    const model = new ScriptedModel([calls(["echo", { message: 1 }])]);
    const messages = await ask(agent.session, model, unaborted);
    expect(toolMessages(messages)).toEqual([
      { id: "call_echo", status: "error", content: 'echo: "message" must be a string' },
    ]);
  });

  it("traces a tool that is called by hand like any other", async () => {
    await using agent = await agentSession();
    const started: unknown[] = [];
    const callbacks = [
      { handleToolStart: (_tool: unknown, input: string) => void started.push(input) },
    ];
    const [echo] = (await langChainTools(agent.session, {
      tool,
      ToolMessage,
    })) as StructuredToolInterface[];
    await expect(echo?.invoke({ message: "hi" }, { callbacks })).resolves.toBe("hi");
    expect(started).toEqual(['{"message":"hi"}']);
  });

  it("stops a tool when the run is aborted", async () => {
    await using agent = await agentSession();
    const controller = new AbortController();
    const ended = new Promise((resolve) => {
      agent.session.on("call-end", resolve);
    });
    const model = new ScriptedModel([calls(["wait", {}])]);
    const run = ask(agent.session, model, controller.signal);
    void agent.waiting.then(() => controller.abort());
    await expect(run).rejects.toThrow(/abort/i);
    await expect(ended).resolves.toMatchObject({ callId: "call_wait", code: "cancelled" });
  });
});
