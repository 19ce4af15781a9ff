import { describe, expect, it } from "vitest";

import { agentHost } from "../../tests/fixtures/agent/agent-host.ts";
import { pixel } from "../../tests/fixtures/agent/agent-tools.ts";
import {
  type LangChainConfig,
  type LangChainMessageFields,
  langChainTools,
  type LangChainToolFields,
} from "./langchain.ts";

/** As much of LangChain's tool as matters here: it checks arguments by the schema it has. */
class FrameworkTool {
  readonly name: string;
  readonly schema: unknown;
  readonly #run: (input: unknown, config?: LangChainConfig) => Promise<unknown>;

  constructor(run: FrameworkTool["invoke"], fields: LangChainToolFields) {
    this.name = fields.name;
    this.schema = fields.schema;
    this.#run = run;
  }

  invoke(input: unknown, config?: LangChainConfig): Promise<unknown> {
    return this.call(input, config);
  }

  async call(input: unknown, config?: LangChainConfig): Promise<unknown> {
    expect(this.schema).toEqual({ type: "object" });
    return this.#run(input, config);
  }
}

class FrameworkMessage {
  readonly fields: LangChainMessageFields;

  constructor(fields: LangChainMessageFields) {
    this.fields = fields;
  }
}

const framework = {
  tool: (run: FrameworkTool["invoke"], fields: LangChainToolFields) =>
    new FrameworkTool(run, fields),
  ToolMessage: FrameworkMessage,
};

describe("tools for LangChain", () => {
  it("BRG-16: show models the whole schema, and leave the check to the call path", async () => {
    await using agent = await agentHost();
    const [echo] = await langChainTools(agent.session, framework);
    expect(echo).toBeInstanceOf(FrameworkTool);
    expect(echo?.name).toBe("mcp__fake__echo");
    expect(echo?.schema).toEqual(agent.session.find("mcp__fake__echo")?.inputSchema);
    await expect(echo?.invoke({ message: 1 })).resolves.toBe('echo: "message" must be a string');
    await expect(echo?.call({ message: "hi" })).resolves.toBe("hi");
  });

  it("answer a model with messages of the framework", async () => {
    await using agent = await agentHost();
    const tools = await langChainTools(agent.session, framework);
    const run = async (name: string) => {
      const tool = tools.find((tool) => tool.name === `mcp__fake__${name}`);
      const message = await tool?.invoke({}, { toolCall: { id: `call_${name}` } });
      return (message as FrameworkMessage).fields;
    };
    expect(await run("fail")).toEqual({
      content: "the disk is full",
      tool_call_id: "call_fail",
      name: "mcp__fake__fail",
      status: "error",
      artifact: undefined,
    });
    expect(await run("picture")).toMatchObject({
      content: [
        { type: "text", text: "a pixel\n[image: image/png, 72 B]\n[audio: audio/wav, 72 B]" },
        { type: "image_url", image_url: { url: `data:image/png;base64,${pixel}` } },
      ],
      status: "success",
    });
    expect(agent.ended.map(({ callId }) => callId)).toEqual(["call_fail", "call_picture"]);
  });

  it("stop when the run is aborted", async () => {
    await using agent = await agentHost();
    const controller = new AbortController();
    const include = ({ originalName }: { readonly originalName: string }) =>
      originalName === "wait";
    const [wait] = await langChainTools(agent.session, { ...framework, include });
    const running = wait?.invoke({}, { signal: controller.signal });
    await agent.waiting;
    controller.abort();
    await expect(running).resolves.toContain("cancelled");
  });
});
