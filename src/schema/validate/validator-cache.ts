import { defaultLimits } from "../../config/keys/limits.ts";
import { measureSchema } from "../guard/schema-guard.ts";
import {
  createMeasuredValidator,
  createRefusingValidator,
  type Validator,
  type ValidatorOptions,
} from "./validator.ts";

export interface ValidatorCacheOptions extends ValidatorOptions {
  /** The total length of the schemas whose validators are kept. */
  readonly maxChars?: number;
}

interface Entry {
  readonly text: string;
  /** Absent after eviction; the next use builds it again. */
  validator: Validator | undefined;
  /** True if the validator was used since it was last considered for eviction. */
  isHot: boolean;
}

const defaultMaxChars = 4 * 1_024 * 1_024;

/**
 * Keeps one validator per schema text, built on first use. The whole text is compared: neither `$id`
 * nor a hash that could be forged decides which schema answers.
 */
export class ValidatorCache {
  readonly #options: ValidatorCacheOptions;
  readonly #byText = new Map<string, Entry>();
  readonly #bySchema = new WeakMap<object, Entry>();
  #chars = 0;

  constructor(options: ValidatorCacheOptions = {}) {
    this.#options = options;
  }

  /**
   * Returns the validator of a schema. `schema` must not change: the same object always gets the same
   * validator.
   */
  forSchema(schema: unknown): Validator {
    if (typeof schema !== "object" || schema === null) return this.#find(schema).validator;
    const known = this.#bySchema.get(schema);
    if (known?.validator !== undefined) {
      known.isHot = true;
      return known.validator;
    }
    const { entry, validator } = this.#find(schema);
    if (entry !== undefined) this.#bySchema.set(schema, entry);
    return validator;
  }

  #find(schema: unknown): { readonly validator: Validator; readonly entry?: Entry } {
    const measure = measureSchema(schema, this.#options.limits ?? defaultLimits);
    if ("problem" in measure) return { validator: createRefusingValidator(measure.problem) };
    const text = JSON.stringify(schema);
    const entry = this.#byText.get(text) ?? this.#add(text);
    entry.isHot = true;
    entry.validator ??= createMeasuredValidator(text, measure, this.#options);
    return { entry, validator: entry.validator };
  }

  #add(text: string): Entry {
    const entry: Entry = { text, validator: undefined, isHot: true };
    this.#chars += text.length;
    this.#byText.set(text, entry);
    this.#evict(entry);
    return entry;
  }

  /** Evicts the oldest entries first; an entry used in the meantime moves to the end of the queue once. */
  #evict(added: Entry): void {
    const { maxChars = defaultMaxChars } = this.#options;
    for (const entry of this.#byText.values()) {
      if (this.#chars <= maxChars) return;
      if (entry === added) continue;
      this.#byText.delete(entry.text);
      if (entry.isHot) {
        entry.isHot = false;
        this.#byText.set(entry.text, entry);
      } else {
        this.#chars -= entry.text.length;
        entry.validator = undefined;
      }
    }
  }
}
