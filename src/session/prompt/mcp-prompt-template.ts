import { mcpResultToString } from "../../call/projections.ts";
import type { McpPrompt, PromptText } from "../../catalog/server-content.ts";
import { createError } from "../../errors/families.ts";
import { closest } from "../../text/closest.ts";
import { truncate } from "../../text/truncate.ts";
import { boundedLine } from "../../text/untrusted/bounded-text.ts";
import { neutralize } from "../../text/untrusted/neutralize.ts";
import { untrustedText } from "../../text/untrusted/untrusted-text.ts";
import type { ContentOptions, SessionContent } from "../content/session-content.ts";
import type { PromptSection } from "./prompt-section.ts";
import { TextSection } from "./section-text.ts";

export type PromptArguments = Readonly<Record<string, string>>;

export interface PromptSectionOptions extends ContentOptions {
  /** Of the section, unique within a prompt. */
  readonly key: string;
  readonly title?: string | undefined;
  readonly arguments?: PromptArguments | undefined;
}

/** A prompt that a server offers, as a template with named arguments. */
export interface McpPromptTemplate extends McpPrompt {
  /** Throws `invalid_arguments` before anything is sent: for a required one that is missing, and for a stranger. */
  messages(args?: PromptArguments, options?: ContentOptions): Promise<PromptText>;
  /**
   * The same as text, messages parted by a blank line. Like the result of a tool it is quoted where it
   * carries signs of instructions.
   */
  render(args?: PromptArguments, options?: ContentOptions): Promise<string>;
  /** The text as a section of a `PromptTemplate`, as it is now. */
  section(options: PromptSectionOptions): Promise<PromptSection>;
}

/** Throws `config_invalid` when the server has no prompt of that name. */
export async function findPromptTemplate(
  content: SessionContent,
  prompt: { readonly server: string; readonly name: string },
  options: ContentOptions = {},
): Promise<McpPromptTemplate> {
  const prompts = await content.prompts({ ...options, server: prompt.server });
  const found = prompts.find(({ name }) => name === prompt.name);
  if (found !== undefined) return promptTemplate(content, found);
  const name = shown(prompt.name);
  const names = prompts.map((other) => other.name);
  const suggestions = closest(prompt.name, names).map(shown);
  throw createError("config_invalid", `server "${prompt.server}" has no prompt "${name}"`, {
    serverName: prompt.server,
    details: { suggestions },
    hint: suggestions.length > 0 ? `closest: ${suggestions.join(", ")}` : undefined,
  });
}

function promptTemplate(content: SessionContent, prompt: McpPrompt): McpPromptTemplate {
  const { serverName, name } = prompt;
  const template: McpPromptTemplate = {
    ...prompt,
    async messages(args = {}, options = {}) {
      assertArguments(prompt, args);
      return await content.prompt(serverName, name, args, options);
    },
    async render(args, options) {
      const { messages } = await template.messages(args, options);
      const texts = messages.map((message) => mcpResultToString({ content: [message.content] }));
      const written = texts.join("\n\n");
      return untrustedText(neutralize(written), serverName, written);
    },
    async section({ key, title, arguments: args, ...options }) {
      const text = await template.render(args, options);
      // What a server wrote has no variables of ours.
      return new TextSection({ key, title, template: text.replaceAll("$", "$$$$") });
    },
  };
  return Object.freeze(template);
}

function assertArguments({ serverName, name, ...prompt }: McpPrompt, args: PromptArguments): void {
  const known = new Set(prompt.arguments.map((argument) => argument.name));
  const missing = prompt.arguments
    .filter((argument) => argument.isRequired && !Object.hasOwn(args, argument.name))
    .map((argument) => `"${shown(argument.name)}" is missing`);
  const wrong = Object.entries(args).flatMap(([given, value]: [string, unknown]) => {
    if (!known.has(given)) return [`"${shown(given)}" is not known`];
    return typeof value === "string" ? [] : [`"${shown(given)}" is not a text`];
  });
  const problems = [...missing, ...wrong];
  if (problems.length === 0) return;
  const text = truncate(problems.join(", "), 500);
  throw createError("invalid_arguments", `prompt "${shown(name)}": ${text}`, {
    serverName,
    details: { arguments: [...known].map(shown) },
  });
}

function shown(name: string): string {
  return boundedLine(name, 64);
}
