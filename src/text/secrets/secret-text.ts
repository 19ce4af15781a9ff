import { mask } from "./redact.ts";

const brand = Symbol.for("plugboard.SecretText");

/**
 * Text that must not be printed by accident. Strings made of it, JSON, `console.log` and copies show a
 * mask; `reveal()` is the only way to the text itself. An object of a second copy of the package is
 * recognised, too.
 */
export class SecretText {
  readonly #text: string;
  readonly #shown: string;

  /** `shown` replaces the mask where a part of the text is harmless, such as the host of an address. */
  constructor(text: string, shown: string = mask) {
    this.#text = text;
    this.#shown = shown;
    Object.freeze(this);
  }

  static is(value: unknown): value is SecretText {
    return typeof value === "object" && value !== null && brand in value;
  }

  get [brand](): true {
    return true;
  }

  reveal(): string {
    return this.#text;
  }

  equals(other: string | SecretText): boolean {
    return reveal(other) === this.#text;
  }

  toString(): string {
    return this.#shown;
  }

  toJSON(): string {
    return this.#shown;
  }

  /** What `console.log` and `util.inspect` print. */
  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return this.#shown;
  }
}

export function reveal(text: string | SecretText): string {
  return typeof text === "string" ? text : text.reveal();
}

/** A copy of plain data with the text of every secret in it, for whoever has to write it down. */
export function revealAll(value: unknown): unknown {
  if (SecretText.is(value)) return value.reveal();
  if (Array.isArray(value)) return value.map((item) => revealAll(item));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, revealAll(item)]));
}
