import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { homedir } from "node:os";
import path from "node:path";

import type { Options } from "@anthropic-ai/claude-agent-sdk";
import { describe, expect, it } from "vitest";

import { pixel } from "../../fixtures/agent/agent-tools.ts";
import { agentSession } from "./agent-session.ts";
import { ask } from "./agents/claude-agent-sdk.ts";
import { type MessagesApi, serveMessages } from "./messages-api.ts";

const toolUse = (tool: string, input: object = {}) => ({
  type: "tool_use",
  id: `toolu_${tool}`,
  name: `mcp__fake__${tool}`,
  input,
});

/** Claude Code itself, which the SDK starts: a package per platform that may be missing. */
function hasClaudeCode(): boolean {
  const sdk = createRequire(import.meta.url).resolve("@anthropic-ai/claude-agent-sdk");
  const name = `${path.dirname(sdk)}-${process.platform}-${process.arch}`;
  return existsSync(name);
}

/** Claude Code knows nothing of the machine it runs on, and of models the scripted one alone. */
function isolated(api: MessagesApi): Options {
  const home = homedir();
  return {
    tools: [],
    settingSources: [],
    persistSession: false,
    model: "claude-test",
    cwd: home,
    env: {
      PATH: process.env["PATH"],
      HOME: home,
      ANTHROPIC_BASE_URL: api.url,
      ANTHROPIC_API_KEY: "none",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    },
  };
}

describe.skipIf(!hasClaudeCode())("the Claude Agent SDK", () => {
  it("runs the tools that the model uses, and hands it what became of each", async () => {
    await using agent = await agentSession();
    await using api = await serveMessages([
      [toolUse("echo", { message: "hi" }), toolUse("fail"), toolUse("picture"), toolUse("wipe")],
      [{ type: "text", text: "done" }],
    ]);
    await expect(ask(agent.session, isolated(api))).resolves.toBe("done");
    const [asked, answered] = api.requests;
    expect(asked?.tools?.map(({ name }) => name)).toEqual(
      expect.arrayContaining(
        ["echo", "fail", "picture", "wait", "wipe"].map((tool) => `mcp__fake__${tool}`),
      ),
    );
    expect(asked?.tools?.find(({ name }) => name === "mcp__fake__echo")).toMatchObject({
      description: "Returns the message it was given.",
      input_schema: agent.session.find("mcp__fake__echo")?.inputSchema,
    });
    expect(asked?.tools?.map(({ name }) => name)).not.toContain("mcp__fake__broken");
    const results = answered?.messages
      .flatMap(({ content }) => (typeof content === "string" ? [] : content))
      .filter(({ type }) => type === "tool_result");
    const text = (text: string) => ({ type: "text", text });
    expect(results).toMatchObject([
      { tool_use_id: "toolu_echo", content: [text("hi")] },
      { tool_use_id: "toolu_fail", content: "the disk is full", is_error: true },
      {
        tool_use_id: "toolu_picture",
        content: [
          text("a pixel\n[image: image/png, 72 B]\n[audio: audio/wav, 72 B]"),
          { type: "image", source: { media_type: "image/png", data: pixel } },
        ],
      },
      {
        tool_use_id: "toolu_wipe",
        content: expect.stringContaining("wipe was not allowed"),
        is_error: true,
      },
    ]);
    expect(new Set(agent.ended.map(({ callId }) => callId))).toEqual(
      new Set(["toolu_echo", "toolu_fail", "toolu_picture", "toolu_wipe"]),
    );
  });

  it("stops a tool when the run is aborted", async () => {
    await using agent = await agentSession();
    await using api = await serveMessages([[toolUse("wait")]]);
    const abortController = new AbortController();
    const ended = new Promise((resolve) => {
      agent.session.on("call-end", resolve);
    });
    const run = ask(agent.session, { ...isolated(api), abortController });
    void agent.waiting.then(() => abortController.abort());
    await expect(run).rejects.toThrow(/abort/i);
    await expect(ended).resolves.toMatchObject({ callId: "toolu_wait", code: "cancelled" });
  });
});
