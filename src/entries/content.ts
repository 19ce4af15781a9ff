// `plugboard/content`: the resources and prompts that servers offer. Named exports only.

export type {
  ContentListOptions,
  ContentOptions,
  SessionContent,
} from "../session/content/session-content.ts";
export type { ContentList, ServerList } from "../session/content/content-lists.ts";
export { resourceContext } from "../catalog/resource-context.ts";
export type {
  Completion,
  CompletionQuestion,
  CompletionTarget,
  McpPrompt,
  McpResource,
  McpResourceTemplate,
  PromptArgument,
  PromptMessage,
  PromptText,
  ResourceContents,
} from "../catalog/server-content.ts";
