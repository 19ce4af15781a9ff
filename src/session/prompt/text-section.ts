import type {
  PromptParams,
  PromptSection,
  RenderOptions,
  SectionTextOptions,
} from "./prompt-section.ts";
import { SectionText } from "./section-text.ts";

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
