import type { McpTool } from "../mcp-tool.ts";

/** Values for the variables that a section declares; they are inserted as they are. */
export type PromptParams = Readonly<Record<string, string | number | boolean>>;

export interface RenderOptions {
  /** Replaces the section's own template; refused unless the section accepts overrides. */
  readonly template?: string | undefined;
}

/** One part of a prompt. */
export interface PromptSection {
  /** Unique within a prompt. */
  readonly key: string;
  readonly acceptsOverrides: boolean;
  /** Variables that `render` takes besides those the section fills in itself. */
  readonly params: readonly string[];
  render(params?: PromptParams, options?: RenderOptions): string;
  /** The tools that the text speaks of. */
  tools?(): readonly McpTool[];
  /** Lists the tools after waiting for what the section still has to load. */
  loadTools?(): Promise<readonly McpTool[]>;
}

export interface SectionTextOptions {
  /** Small letters, digits, `.`, `_` and `-`; at most 64. */
  readonly key: string;
  /** The heading; an empty one leaves it out. */
  readonly title?: string | undefined;
  /** Dedented and trimmed; `${name}` stands for a variable, `$$` for `$`. */
  readonly template: string;
  /** Variables of the template that `render` is given. */
  readonly params?: readonly string[] | undefined;
  readonly acceptsOverrides?: boolean | undefined;
}
