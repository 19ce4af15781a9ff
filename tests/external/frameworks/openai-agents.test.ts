import { type AgentOutputItem, type Model, type ModelRequest, Usage } from "@openai/agents-core";
import { describe, expect, it } from "vitest";

import { pixel } from "../../fixtures/agent/agent-tools.ts";
import { agentSession } from "./agent-session.ts";
import { ask } from "./agents/openai-agents.ts";

const call = (tool: string, json: string): AgentOutputItem => ({
  type: "function_call",
  callId: `call_${tool}`,
  name: `mcp__fake__${tool}`,
  arguments: json,
  status: "completed",
});

const says = (text: string): AgentOutputItem => ({
  type: "message",
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text }],
});

/** A model that answers one list of items after the other, and remembers what it was asked. */
class ScriptedModel implements Model {
  readonly requests: ModelRequest[] = [];
  readonly #script: readonly AgentOutputItem[][];

  constructor(script: readonly AgentOutputItem[][]) {
    this.#script = script;
  }

  async getResponse(request: ModelRequest) {
    request.signal?.throwIfAborted();
    const output = this.#script[this.requests.length] ?? [];
    this.requests.push(request);
    return { usage: new Usage(), output };
  }

  getStreamedResponse(): never {
    throw new Error("not asked for");
  }
}

const unaborted = new AbortController().signal;

describe("the OpenAI Agents SDK", () => {
  it("runs the tools that the model calls, and hands it what became of each", async () => {
    await using agent = await agentSession();
    const model = new ScriptedModel([
      [call("echo", '{"message":"hi"}'), call("fail", "{}")],
      [call("picture", "{}"), call("wipe", "{}")],
      [says("done")],
    ]);
    await expect(ask(agent.session, model, unaborted)).resolves.toBe("done");
    const input = model.requests.at(-1)?.input;
    const results = (typeof input === "string" ? [] : (input ?? [])).flatMap((item) =>
      item.type === "function_call_result" ? [[item.callId, item.output] as const] : [],
    );
    expect(Object.fromEntries(results)).toEqual({
      call_echo: { type: "text", text: "hi" },
      call_fail: { type: "text", text: "Error: the disk is full" },
      call_picture: [
        { type: "input_text", text: expect.stringContaining("[audio: audio/wav") },
        { type: "input_image", image: `data:image/png;base64,${pixel}` },
      ],
      call_wipe: { type: "text", text: expect.stringMatching(/^Error: .*wipe was not allowed/) },
    });
    expect(new Set(agent.ended.map(({ callId }) => callId))).toEqual(
      new Set(["call_echo", "call_fail", "call_picture", "call_wipe"]),
    );
    expect(model.requests[0]?.tools).toMatchObject([
      {
        type: "function",
        name: "mcp__fake__echo",
        parameters: agent.session.find("mcp__fake__echo")?.inputSchema,
        strict: false,
      },
      ...["fail", "picture", "wait", "wipe"].map((tool) => ({ name: `mcp__fake__${tool}` })),
    ]);
  });

  it("stops a tool when the run is aborted", async () => {
    await using agent = await agentSession();
    const controller = new AbortController();
    const ended = new Promise((resolve) => {
      agent.session.on("call-end", resolve);
    });
    const model = new ScriptedModel([[call("wait", "{}")]]);
    const run = ask(agent.session, model, controller.signal);
    void agent.waiting.then(() => controller.abort());
    await expect(run).rejects.toThrow(/abort/i);
    await expect(ended).resolves.toMatchObject({ callId: "call_wait", code: "cancelled" });
  });
});
