// `plugboard/prompts`: servers as sections of a prompt, and their prompts as templates. Named exports only.

export { PromptTemplate } from "../session/prompt-template.ts";
export type { PromptRenderOptions, PromptTemplateOptions } from "../session/prompt-template.ts";
export type {
  McpPromptTemplate,
  PromptArguments,
  PromptSectionOptions,
} from "../session/mcp-prompt-template.ts";
export type {
  PromptParams,
  PromptSection,
  RenderOptions,
  SectionTextOptions,
} from "../session/section.ts";
export type { Section, SectionConnectOptions, SectionOptions } from "../session/session.ts";
