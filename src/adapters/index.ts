// `plugboard/adapters`: a session's tools in the shapes of agent frameworks. Named exports only.

export { aiSdkTools } from "./ai-sdk.ts";
export type {
  AiSdkCallOptions,
  AiSdkModelOutput,
  AiSdkOutput,
  AiSdkSchema,
  AiSdkTool,
} from "./ai-sdk.ts";
export { anthropicTools, runAnthropicCalls } from "./anthropic.ts";
export type {
  AnthropicImageType,
  AnthropicResultBlock,
  AnthropicTool,
  AnthropicToolResult,
  AnthropicToolUse,
} from "./anthropic.ts";
export { claudeAgentServers } from "./claude-agent-sdk.ts";
export type { ClaudeAgentServer } from "./claude-agent-sdk.ts";
export { langChainTools } from "./langchain.ts";
export type {
  LangChainBlock,
  LangChainConfig,
  LangChainMessageFields,
  LangChainParts,
  LangChainToolFields,
} from "./langchain.ts";
export { openAiResponsesTools, openAiTools, runOpenAiCalls } from "./openai.ts";
export type {
  OpenAiAnswer,
  OpenAiCallOutput,
  OpenAiChatCall,
  OpenAiChatTool,
  OpenAiOutputPart,
  OpenAiResponsesCall,
  OpenAiResponsesTool,
  OpenAiToolMessage,
} from "./openai.ts";
export { openAiAgentsTools } from "./openai-agents.ts";
export type { OpenAiAgentsCall, OpenAiAgentsPart, OpenAiAgentsTool } from "./openai-agents.ts";
export type { ModelImage } from "./model-images.ts";
export type { AdapterOptions, ToolSource } from "./offered-tools.ts";
export type { RunOptions } from "./run-model-call.ts";
export type { ToolServer } from "./tool-server.ts";
