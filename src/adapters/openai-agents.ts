import type { ModelImage } from "./model-images.ts";
import {
  type AdapterOptions,
  type OfferedTool,
  loadOfferedTools,
  type ToolSource,
} from "./offered-tools.ts";
import { type ModelResult, readableText, runJsonCall } from "./run-model-call.ts";

/** What the OpenAI Agents SDK tells a tool about its call. */
export interface OpenAiAgentsCall {
  readonly toolCall?: { readonly callId: string };
  readonly signal?: AbortSignal;
}

export type OpenAiAgentsPart =
  | { type: "text"; text: string }
  | { type: "image"; image: { data: string; mediaType: string } };

/** A function tool, as the SDK's `tool` makes it. */
export interface OpenAiAgentsTool {
  type: "function";
  name: string;
  description: string;
  parameters: {
    type: "object";
    properties: Record<string, object>;
    required: string[];
    additionalProperties: true;
  };
  /** Strict mode refuses most schemas, and arguments are checked here anyway. */
  strict: false;
  invoke: (
    context: unknown,
    input: string,
    details?: OpenAiAgentsCall,
  ) => Promise<string | OpenAiAgentsPart[]>;
  /** Consent is asked for by the session. */
  needsApproval: () => Promise<false>;
  isEnabled: () => Promise<true>;
}

/**
 * The tools of a session or a prompt for `new Agent({ tools })` of the OpenAI Agents SDK. A snapshot, as the agent's own
 * list is one: make both anew for each run to follow servers that come, go and change.
 */
export async function openAiAgentsTools(
  source: ToolSource,
  options: AdapterOptions = {},
): Promise<OpenAiAgentsTool[]> {
  const offered = await loadOfferedTools(source, options);
  return offered.map((tool) => agentsTool(source, tool, options));
}

function agentsTool(
  source: ToolSource,
  { name, description, schema }: OfferedTool,
  { timeoutMs }: AdapterOptions,
): OpenAiAgentsTool {
  return {
    type: "function",
    name,
    description,
    // The SDK's type is narrower than JSON Schema; what it sends is the object as it is.
    parameters: { ...schema } as OpenAiAgentsTool["parameters"],
    strict: false,
    async invoke(_context, json, { toolCall, signal } = {}) {
      const call = { name, json, callId: toolCall?.callId };
      return output(await runJsonCall(source, call, { signal, timeoutMs }));
    },
    needsApproval: async () => false,
    isEnabled: async () => true,
  };
}

function output(result: ModelResult): string | OpenAiAgentsPart[] {
  const text = readableText(result);
  if (result.images.length === 0) return text;
  return [{ type: "text", text }, ...result.images.map((image) => imagePart(image))];
}

function imagePart({ data, mediaType }: ModelImage): OpenAiAgentsPart {
  return { type: "image", image: { data, mediaType } };
}
