import {
  callback,
  checkArguments,
  flag,
  listOf,
  object,
  optional,
  options,
  text,
} from "../../errors/check-arguments.ts";
import { createError } from "../../errors/families.ts";
import { truncate } from "../../text/truncate.ts";
import type { McpTool } from "../mcp-tool.ts";
import type { PromptParams, PromptSection, SectionTextOptions } from "./prompt-section.ts";
import { assertPromptKey, TextSection } from "./section-text.ts";

export interface PromptTemplateOptions {
  /** Where the prompt belongs, such as `support/agents`. */
  readonly ns: string;
  readonly key: string;
  /** In order; a plain object is a section of text. */
  readonly sections: readonly (PromptSection | SectionTextOptions)[];
}

export interface PromptRenderOptions {
  /** Other templates by section key, for sections that accept that. */
  readonly overrides?: Readonly<Record<string, string>> | undefined;
}

const templateShape = {
  options: { ...object, members: { ns: text, key: text, sections: listOf(object) } },
} as const;
const sectionShape = {
  section: {
    ...object,
    members: {
      key: text,
      params: listOf(text),
      acceptsOverrides: optional(flag),
      render: callback,
      tools: optional(callback),
      loadTools: optional(callback),
    },
  },
} as const;
const renderShapes = { params: object, options: options({ overrides: object }) } as const;

/** A prompt made of sections, and the tools its text speaks of. */
export class PromptTemplate {
  readonly ns: string;
  readonly key: string;
  readonly sections: readonly PromptSection[];

  /** Throws `config_invalid` for keys that cannot be used and for two sections of one key. */
  constructor(given: PromptTemplateOptions) {
    checkArguments("PromptTemplate", templateShape, [given], "config_invalid");
    const { ns, key, sections } = given;
    for (const part of ns.split("/")) assertPromptKey(part, "prompt namespace");
    assertPromptKey(key, "prompt key");
    this.ns = ns;
    this.key = key;
    this.sections = Object.freeze(
      sections.map((section) => (isSection(section) ? checked(section) : new TextSection(section))),
    );
    const keys = this.sections.map((section) => section.key);
    for (const sectionKey of keys) assertPromptKey(sectionKey, "section key");
    const twice = firstRepeated(keys);
    if (twice !== undefined)
      throw createError("config_invalid", `the prompt "${key}" has two sections "${twice}"`, {
        hint: "give one of them another key",
      });
  }

  /**
   * The text of all sections. Each of them takes the params it declares; one that none declares is
   * refused with `invalid_arguments`.
   */
  render(params: PromptParams = {}, given: PromptRenderOptions = {}): string {
    checkArguments("PromptTemplate.render", renderShapes, [params, given]);
    const { overrides = {} } = given;
    // A prompt that offers one name twice would leave open which tool the model means.
    this.tools();
    this.#assertKnown(params, overrides);
    return this.sections
      .map((section) => {
        const own = Object.entries(params).filter(([name]) => section.params.includes(name));
        const template = Object.hasOwn(overrides, section.key) ? overrides[section.key] : undefined;
        return section.render(Object.fromEntries(own), { template });
      })
      .filter((text) => text !== "")
      .join("\n\n");
  }

  /** The tools of all sections, in their order. Throws `config_invalid` when two have the same name. */
  tools(): readonly McpTool[] {
    const tools = this.sections.flatMap((section) => section.tools?.() ?? []);
    const twice = firstRepeated(tools.map(({ name }) => name));
    if (twice !== undefined)
      throw createError(
        "config_invalid",
        `two sections of the prompt "${this.key}" offer the tool ${twice}`,
        { details: { publicName: twice }, hint: "name each server in one section only" },
      );
    return Object.freeze(tools);
  }

  /** Lists the tools after each section has loaded its own; rejects when one cannot. */
  async loadTools(): Promise<readonly McpTool[]> {
    await Promise.all(this.sections.map(async (section) => await section.loadTools?.()));
    return this.tools();
  }

  /** The tool of that public name among `tools()`. */
  find(name: string): McpTool | undefined {
    return this.tools().find((tool) => tool.name === name);
  }

  #assertKnown(params: PromptParams, overrides: Readonly<Record<string, string>>): void {
    const declared = new Set(this.sections.flatMap((section) => section.params));
    const unknown = Object.keys(params).find((name) => !declared.has(name));
    if (unknown !== undefined)
      throw createError(
        "invalid_arguments",
        `the prompt "${this.key}" has no param "${truncate(unknown, 64)}"`,
        { details: { params: [...declared] } },
      );
    const keys = this.sections.map(({ key }) => key);
    const stranger = Object.keys(overrides).find((key) => !keys.includes(key));
    if (stranger !== undefined)
      throw createError(
        "config_invalid",
        `the prompt "${this.key}" has no section "${truncate(stranger, 64)}"`,
        { details: { sections: keys } },
      );
  }
}

function isSection(section: PromptSection | SectionTextOptions): section is PromptSection {
  return "render" in section;
}

/** A section that the program brings itself. */
function checked(section: PromptSection): PromptSection {
  checkArguments("PromptTemplate", sectionShape, [section], "config_invalid");
  return section;
}

function firstRepeated(names: readonly string[]): string | undefined {
  const seen = new Set<string>();
  return names.find((name) => seen.size === seen.add(name).size);
}
