// `plugboard/prompts`: servers as sections of a prompt, and their prompts as templates. Named exports only.

export { PromptTemplate } from "../session/prompt/prompt-template.ts";
export type {
  PromptRenderOptions,
  PromptTemplateOptions,
} from "../session/prompt/prompt-template.ts";
export type {
  McpPromptTemplate,
  PromptArguments,
  PromptSectionOptions,
} from "../session/prompt/mcp-prompt-template.ts";
export type {
  PromptParams,
  PromptSection,
  RenderOptions,
  SectionTextOptions,
} from "../session/prompt/prompt-section.ts";
export type { Section, SectionConnectOptions, SectionOptions } from "../session/session.ts";
