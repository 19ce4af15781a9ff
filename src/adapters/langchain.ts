import {
  type AdapterOptions,
  type OfferedTool,
  loadOfferedTools,
  type ToolSource,
} from "./offered-tools.ts";
import { type ModelResult, runModelCall } from "./run-model-call.ts";

/** What LangChain tells a tool about the run it is part of. */
export interface LangChainConfig {
  readonly signal?: AbortSignal | undefined;
  readonly toolCall?: { readonly id?: string | undefined } | undefined;
}

export interface LangChainToolFields {
  readonly name: string;
  readonly description: string;
  readonly schema: { readonly type: "object" };
}

export interface LangChainMessageFields {
  readonly content: string | LangChainBlock[];
  readonly tool_call_id: string;
  readonly name: string;
  readonly status: "success" | "error";
  /** The result as data, for code and not for the model. */
  readonly artifact?: unknown;
}

export type LangChainBlock =
  | { type: "text"; text: string }
  | { type: "image_url"; image_url: { url: string } };

/** The two things of LangChain's own that a tool is made of, both exported by `langchain`. */
export interface LangChainParts<Tool extends object> {
  readonly tool: (
    run: (input: unknown, config?: LangChainConfig) => Promise<unknown>,
    fields: LangChainToolFields,
  ) => Tool;
  readonly ToolMessage: new (fields: LangChainMessageFields) => object;
}

/**
 * The tools of a session or a prompt for `createAgent({ tools })`, `new ToolNode(tools)` and `model.bindTools(tools)`
 * of LangChain 1. A snapshot, as the agent's own list is one: make both anew for each run to follow
 * servers that come, go and change.
 */
export async function langChainTools<Tool extends object>(
  source: ToolSource,
  options: AdapterOptions & LangChainParts<Tool>,
): Promise<Tool[]> {
  const offered = await loadOfferedTools(source, options);
  return offered.map((tool) => langChainTool(source, tool, options));
}

function langChainTool<Tool extends object>(
  source: ToolSource,
  offered: OfferedTool,
  options: AdapterOptions & LangChainParts<Tool>,
): Tool {
  const { name, description, schema } = offered;
  const { timeoutMs, ToolMessage } = options;
  const run = async (input: unknown, config: LangChainConfig = {}): Promise<unknown> => {
    const { signal, toolCall } = config;
    const callId = toolCall?.id;
    const result = await runModelCall(source, { name, input, callId }, { signal, timeoutMs });
    const content = messageContent(result);
    // Called by hand, without a model that waits for a message.
    if (callId === undefined) return content;
    return new ToolMessage({
      content,
      tool_call_id: callId,
      name,
      status: result.isError ? "error" : "success",
      artifact: result.outcome?.structured,
    });
  };
  const tool = options.tool(run, { name, description, schema: { type: "object" } });
  return describedBy(tool, schema);
}

/**
 * The same tool, showing models another schema than the one by which LangChain checks arguments. Its
 * check is neither bounded nor safe with a pattern that a server wrote; the call path does it better.
 */
function describedBy<Tool extends object>(tool: Tool, schema: unknown): Tool {
  const { invoke, call } = tool as Readonly<Record<"invoke" | "call", () => unknown>>;
  return Object.create(tool, {
    schema: { value: schema, enumerable: true },
    invoke: { value: invoke.bind(tool) },
    call: { value: call.bind(tool) },
  }) as Tool;
}

function messageContent({ text, images }: ModelResult): string | LangChainBlock[] {
  if (images.length === 0) return text;
  const blocks = images.map(({ data, mediaType }): LangChainBlock => ({
    type: "image_url",
    image_url: { url: `data:${mediaType};base64,${data}` },
  }));
  return [{ type: "text", text }, ...blocks];
}
