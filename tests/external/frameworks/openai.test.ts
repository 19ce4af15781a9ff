import OpenAI from "openai";
import { describe, expect, it } from "vitest";

import { pixel } from "../../fixtures/agent/agent-tools.ts";
import { agentSession } from "./agent-session.ts";
import { ask as chat } from "./agents/openai-chat.ts";
import { ask as respond } from "./agents/openai-responses.ts";
import { type ScriptedFetch, scriptedFetch } from "./scripted-fetch.ts";

function createClient({ fetch }: ScriptedFetch): OpenAI {
  return new OpenAI({ apiKey: "none", fetch, maxRetries: 0 });
}

function chatTurn(message: object): unknown {
  return { id: "chatcmpl_1", object: "chat.completion", choices: [{ index: 0, message }] };
}

const chatCall = (tool: string, json: string) => ({
  id: `call_${tool}`,
  type: "function",
  function: { name: `mcp__fake__${tool}`, arguments: json },
});

function responsesTurn(output: readonly object[]): unknown {
  return { id: "resp_1", object: "response", status: "completed", output };
}

const responsesCall = (tool: string, json: string) => ({
  type: "function_call",
  id: `fc_${tool}`,
  call_id: `call_${tool}`,
  name: `mcp__fake__${tool}`,
  arguments: json,
});

const unaborted = new AbortController().signal;

describe("the OpenAI client", () => {
  it("runs the calls of Chat Completions, and hands the model what became of each", async () => {
    await using agent = await agentSession();
    const script = scriptedFetch([
      chatTurn({
        role: "assistant",
        content: null,
        tool_calls: [chatCall("echo", '{"message":"hi"}'), chatCall("fail", "")],
      }),
      chatTurn({
        role: "assistant",
        content: null,
        tool_calls: [chatCall("picture", "{}"), chatCall("wipe", "{}"), chatCall("wait", "{")],
      }),
      chatTurn({ role: "assistant", content: "done" }),
    ]);
    await expect(chat(agent.session, createClient(script), unaborted)).resolves.toBe("done");
    const messages = script.requests[2]?.["messages"] as { readonly role: string }[] | undefined;
    const answers = messages?.filter(({ role }) => role === "tool");
    expect(answers).toEqual(
      Object.entries({
        call_echo: "hi",
        call_fail: "Error: the disk is full",
        call_picture: "a pixel\n[image: image/png, 72 B]\n[audio: audio/wav, 72 B]",
        call_wipe: expect.stringMatching(/^Error: .*wipe was not allowed/),
        call_wait: "Error: mcp__fake__wait: the arguments are not valid JSON",
      }).map(([id, content]) => ({ role: "tool", tool_call_id: id, content })),
    );
    expect(script.requests[0]?.["tools"]).toMatchObject([
      {
        type: "function",
        function: {
          name: "mcp__fake__echo",
          parameters: agent.session.find("mcp__fake__echo")?.inputSchema,
        },
      },
      ...["fail", "picture", "wait", "wipe"].map((tool) => ({
        function: {
          name: `mcp__fake__${tool}`,
          parameters: { type: "object", properties: {} },
        },
      })),
    ]);
    expect(new Set(agent.ended.map(({ callId }) => callId))).toEqual(
      new Set(["call_echo", "call_fail", "call_picture", "call_wipe"]),
    );
  });

  it("runs the calls of Responses, with images", async () => {
    await using agent = await agentSession();
    const script = scriptedFetch([
      responsesTurn([
        { type: "reasoning", id: "rs_1", summary: [] },
        responsesCall("picture", "{}"),
        responsesCall("fail", "{}"),
      ]),
      responsesTurn([
        {
          type: "message",
          id: "msg_1",
          role: "assistant",
          content: [{ type: "output_text", text: "done", annotations: [] }],
        },
      ]),
    ]);
    await expect(respond(agent.session, createClient(script), unaborted)).resolves.toBe("done");
    expect(script.requests[1]?.["input"]).toEqual([
      {
        type: "function_call_output",
        call_id: "call_picture",
        output: [
          { type: "input_text", text: expect.stringContaining("a pixel") },
          { type: "input_image", image_url: `data:image/png;base64,${pixel}`, detail: "auto" },
        ],
      },
      {
        type: "function_call_output",
        call_id: "call_fail",
        output: "Error: the disk is full",
      },
    ]);
  });

  it("stops a tool when the run is aborted", async () => {
    await using agent = await agentSession();
    const controller = new AbortController();
    const script = scriptedFetch([
      chatTurn({ role: "assistant", content: null, tool_calls: [chatCall("wait", "{}")] }),
    ]);
    const run = chat(agent.session, createClient(script), controller.signal);
    void agent.waiting.then(() => controller.abort());
    await expect(run).rejects.toBeInstanceOf(OpenAI.APIUserAbortError);
    expect(agent.ended).toMatchObject([{ callId: "call_wait", code: "cancelled" }]);
  });
});
