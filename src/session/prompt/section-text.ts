import {
  checkArguments,
  flag,
  listOf,
  object,
  optional,
  options,
  text,
} from "../../errors/check-arguments.ts";
import { createError } from "../../errors/families.ts";
import type { McpError } from "../../errors/mcp-error.ts";
import { truncate } from "../../text/truncate.ts";
import type {
  PromptParams,
  PromptSection,
  RenderOptions,
  SectionTextOptions,
} from "./prompt-section.ts";
import { SectionTemplate, type TemplateValues } from "./section-template.ts";

const keyPattern = /^[a-z0-9][a-z0-9._-]{0,63}$/;
const paramPattern = /^[A-Za-z_]\w{0,63}$/;

const sectionShape = {
  options: {
    ...object,
    members: {
      key: text,
      title: optional(text),
      template: text,
      params: optional(listOf(text)),
      acceptsOverrides: optional(flag),
    },
  },
} as const;
const renderShapes = { params: object, options: options({ template: text }) } as const;

/** Throws `config_invalid` for what cannot be the key of a prompt or section. */
export function assertPromptKey(key: string, what: string): void {
  if (keyPattern.test(key)) return;
  throw createError("config_invalid", `the ${what} "${truncate(key, 80)}" cannot be used`, {
    hint: "small letters, digits, dots, underscores and hyphens; at most 64 of them",
  });
}

/** The text of any section: a key, a heading, a template and the variables that fill it in. */
export class SectionText {
  readonly key: string;
  readonly title: string;
  readonly params: readonly string[];
  readonly acceptsOverrides: boolean;
  readonly #variables: ReadonlySet<string>;
  readonly #template: SectionTemplate;

  /** `own` are the variables that the section fills in itself; no param can take their place. */
  constructor(given: SectionTextOptions, own: readonly string[] = []) {
    checkArguments("section", sectionShape, [given], "config_invalid");
    const { key, title = "", template, params = [], acceptsOverrides = false } = given;
    assertPromptKey(key, "section key");
    if (/[\r\n]/.test(title)) throw invalid(key, "the title has more than one line");
    const unusable = params.find((name) => !paramPattern.test(name) || own.includes(name));
    if (unusable !== undefined) throw invalid(key, `"${truncate(unusable, 64)}" cannot be a param`);
    this.key = key;
    this.title = title;
    this.params = Object.freeze([...params]);
    this.acceptsOverrides = acceptsOverrides;
    this.#variables = new Set([...own, ...params]);
    this.#template = new SectionTemplate(template, this.#variables);
  }

  /** Throws `denied` for an override that is not accepted, `invalid_arguments` for wrong params. */
  render(own: TemplateValues, params: PromptParams, given: RenderOptions): string {
    checkArguments("section.render", renderShapes, [params, given]);
    const { template } = given;
    const chosen = template === undefined ? this.#template : this.#override(template);
    const values = new Map([...this.#checked(params), ...own]);
    const missing = chosen.missing(values);
    if (missing.length > 0)
      throw createError(
        "invalid_arguments",
        `the section "${this.key}" needs ${missing.join(", ")}`,
        { details: { section: this.key, missing } },
      );
    const heading = this.title === "" ? [] : [`## ${this.title}`];
    return [...heading, chosen.render(values)].join("\n\n").trim();
  }

  #override(template: string): SectionTemplate {
    if (this.acceptsOverrides) return new SectionTemplate(template, this.#variables);
    throw createError("denied", `the section "${this.key}" does not accept overrides`, {
      details: { section: this.key },
      hint: "create it with `acceptsOverrides: true`",
    });
  }

  #checked(params: PromptParams): readonly (readonly [string, string | number | boolean])[] {
    const entries = Object.entries(params);
    const wrong = entries.find(
      ([name, value]) =>
        !this.params.includes(name) || !["string", "number", "boolean"].includes(typeof value),
    );
    if (wrong === undefined) return entries;
    const name = truncate(wrong[0], 64);
    throw createError(
      "invalid_arguments",
      this.params.includes(wrong[0])
        ? `the param "${name}" is not a text, number or boolean`
        : `the section "${this.key}" has no param "${name}"`,
      { details: { section: this.key, params: this.params } },
    );
  }
}

/** A part of a prompt that is text alone. */
export class TextSection implements PromptSection {
  readonly key: string;
  readonly params: readonly string[];
  readonly acceptsOverrides: boolean;
  readonly #text: SectionText;

  constructor(options: SectionTextOptions) {
    this.#text = new SectionText(options);
    ({ key: this.key, params: this.params, acceptsOverrides: this.acceptsOverrides } = this.#text);
  }

  render(params: PromptParams = {}, options: RenderOptions = {}): string {
    return this.#text.render(new Map(), params, options);
  }
}

function invalid(key: string, reason: string): McpError {
  return createError("config_invalid", `section "${key}": ${reason}`);
}
