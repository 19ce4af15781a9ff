import { createError } from "../errors/families.ts";
import { isJsonObject, type JsonObject } from "../text/json-object.ts";

/** Reads members of a body one by one; a member of another type than asked for is `invalid_arguments`. */
export class BodyReader {
  readonly #body: JsonObject;

  constructor(body: JsonObject) {
    this.#body = body;
  }

  text(name: string): string {
    const value = this.optionalText(name);
    if (value === undefined) throw wrong(name, "a string");
    return value;
  }

  optionalText(name: string): string | undefined {
    return this.#read(name, "a string", (value): value is string => typeof value === "string");
  }

  flag(name: string): boolean | undefined {
    return this.#read(name, "a boolean", (value): value is boolean => typeof value === "boolean");
  }

  /** A time or a count. */
  number(name: string): number | undefined {
    return this.#read(name, "a number", isNumber);
  }

  object(name: string): JsonObject | undefined {
    return this.#read(name, "an object", isJsonObject);
  }

  texts(name: string): readonly string[] | undefined {
    return this.#read(name, "a list of strings", isTextList);
  }

  /** One of these words. */
  word<Word extends string>(name: string, words: readonly Word[]): Word | undefined {
    const isWord = (value: unknown): value is Word => (words as readonly unknown[]).includes(value);
    return this.#read(name, `one of ${words.join(", ")}`, isWord);
  }

  value(name: string): unknown {
    return this.#body[name];
  }

  #read<T>(name: string, words: string, accepts: (value: unknown) => value is T): T | undefined {
    const value = this.#body[name];
    if (value === undefined || value === null) return undefined;
    if (!accepts(value)) throw wrong(name, words);
    return value;
  }
}

function isNumber(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}

function isTextList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

function wrong(name: string, words: string): Error {
  return createError("invalid_arguments", `"${name}" must be ${words}`);
}
