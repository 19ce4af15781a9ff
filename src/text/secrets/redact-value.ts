import { truncate } from "../truncate.ts";
import { mask, redact } from "./redact.ts";

export interface RedactValueOptions {
  /** Longer texts are cut. */
  readonly maxText: number;
}

export interface RedactedValue<T> {
  readonly value: T;
  /** The texts that are secrets by their key, for where else they are repeated. */
  readonly secrets: readonly string[];
}

const secretKey = /api[-_]?key|token|secret|passw|credential|authorization|cookie|private[-_]?key/i;
/** Deeper values and further members are left out: what is kept is for a person to read. */
const maxDepth = 8;
const maxMembers = 100;
/** Of the whole value, because members multiply with every level. */
const maxParts = 1_000;
const maxChars = 10_000;
/** Secrets are looked for in more than is kept. */
const maxPartsSearched = 5_000;
const maxSecrets = 500;

/** A copy of JSON data without what looks like a secret, by its key or by itself, and bounded in every direction. */
export function redactValue<T>(value: T, { maxText }: RedactValueOptions): RedactedValue<T> {
  const copy = new BoundedCopy(maxText);
  return { value: copy.of(value, 0) as T, secrets: [...copy.secrets] };
}

/** One value on its way to a record: all of its parts share what there is room for. */
class BoundedCopy {
  readonly secrets = new Set<string>();
  readonly #maxText: number;
  #parts = maxParts;
  #chars = maxChars;
  #partsToSearch = maxPartsSearched;

  constructor(maxText: number) {
    this.#maxText = maxText;
  }

  of(value: unknown, depth: number): unknown {
    this.#parts -= 1;
    if (typeof value === "string") return this.#text(value);
    if (typeof value !== "object" || value === null) return value;
    if (depth >= maxDepth) return "…";
    return Array.isArray(value) ? this.#list(value, depth) : this.#object(value, depth);
  }

  #list(list: readonly unknown[], depth: number): unknown {
    const items: unknown[] = [];
    for (const item of list.slice(0, maxMembers))
      if (this.#isFull) this.#search(item, depth + 1, false);
      else items.push(this.of(item, depth + 1));
    return items;
  }

  #object(value: object, depth: number): unknown {
    const members: [string, unknown][] = [];
    for (const [key, item] of firstMembers(value)) {
      const isSecret = item !== null && secretKey.test(key);
      const isLeftOut = this.#isFull;
      if (!isLeftOut)
        members.push([this.#text(key), isSecret ? this.#masked() : this.of(item, depth + 1)]);
      if (isSecret || isLeftOut) this.#search(item, depth + 1, isSecret);
    }
    return Object.fromEntries(members);
  }

  get #isFull(): boolean {
    return this.#parts <= 0 || this.#chars <= 0;
  }

  #masked(): string {
    this.#parts -= 1;
    return mask;
  }

  #text(text: string): string {
    // Cut before it is searched for secrets: a text of megabytes is kept to its beginning only.
    const cut = truncate(text, Math.min(this.#maxText, Math.max(1, this.#chars)));
    this.#chars -= cut.length;
    return redact(cut);
  }

  #search(value: unknown, depth: number, isSecret: boolean): void {
    this.#partsToSearch -= 1;
    if (this.#partsToSearch < 0 || this.secrets.size >= maxSecrets) return;
    if (typeof value === "string" && isSecret) this.secrets.add(value);
    if (typeof value !== "object" || value === null || depth >= maxDepth) return;
    for (const [key, item] of firstMembers(value))
      this.#search(item, depth + 1, isSecret || secretKey.test(key));
  }
}

/** Pairs for the members that count, without making any for the others. */
function firstMembers(value: object): readonly (readonly [string, unknown])[] {
  if (Array.isArray(value))
    return value.slice(0, maxMembers).map((item: unknown) => ["", item] as const);
  const keys = Object.keys(value).slice(0, maxMembers);
  return keys.map((key) => [key, (value as Record<string, unknown>)[key]] as const);
}
