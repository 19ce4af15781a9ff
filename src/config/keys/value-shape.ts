import type { ConfigText } from "./server-config.ts";

/**
 * The allowed form of a configuration value. Checks, the JSON Schema and the TypeScript types derive from
 * it.
 */
export type ValueShape =
  | TextShape
  | { readonly type: "flag" }
  | NumberShape
  | ChoiceShape
  | ListShape
  | MapShape
  | ObjectShape
  | ObjectsShape
  | { readonly type: "either"; readonly shapes: readonly ValueShape[] };

/** The longest text of an entry; no address, path, token or key is longer. */
export const maxTextLength = 16_384;

export interface TextShape {
  readonly type: "text";
  readonly maxLength?: number;
  /** A regular expression that JSON Schema understands as well. */
  readonly pattern?: string;
  /** The pattern in words: "must be …". */
  readonly expects?: string;
  /** Code may hand over a `SecretText`, which is kept as one. */
  readonly acceptsSecrets?: boolean;
}

export interface ListShape {
  readonly type: "list";
  readonly acceptsSecrets?: boolean;
}

export interface NumberShape {
  readonly type: "number";
  readonly minimum: number;
  readonly maximum?: number;
  readonly isInteger?: boolean;
  /** Set for durations: `0` means no limit, and code may also say `Infinity`. */
  readonly unit?: "seconds" | "milliseconds";
}

export interface ChoiceShape {
  readonly type: "choice";
  readonly values: readonly string[];
  /** Other spellings worth offering in an editor; any letter case, `-` and `_` are accepted anyway. */
  readonly spellings?: readonly string[];
}

/** A map of names to strings; code may hand over a `SecretText` for any of them. */
export interface MapShape {
  readonly type: "map";
  readonly namePattern: string;
  readonly valuePattern?: string;
}

export interface ObjectShape {
  readonly type: "object";
  readonly keys: KeyTable;
  /** Makes an unknown key an error, so that a misspelt restriction is not silently dropped. */
  readonly isClosed?: boolean;
}

/** A list of objects. */
export interface ObjectsShape {
  readonly type: "objects";
  readonly keys: KeyTable;
}

export interface KeySpec {
  readonly shape: ValueShape;
  readonly description: string;
  /** The value that a missing key stands for; a canonical value equal to it is not written back. */
  readonly default?: boolean | number | string;
  /** Names other hosts use. snake_case spellings of every name are accepted without being listed. */
  readonly aliases?: readonly string[];
  /** The only kind of server that the key applies to. */
  readonly only?: "stdio" | "http";
}

export type KeyTable = Readonly<Record<string, KeySpec>>;

/** The type of text of a shape: `ConfigText` where it accepts secrets, else `string`. */
type TextOf<S> = S extends { readonly acceptsSecrets: true } ? ConfigText : string;

export type ValueOf<S extends ValueShape> = S extends { readonly type: "text" }
  ? TextOf<S>
  : S extends { readonly type: "flag" }
    ? boolean
    : S extends { readonly type: "number" }
      ? number
      : S extends { readonly type: "choice"; readonly values: readonly (infer V)[] }
        ? V
        : S extends { readonly type: "list" }
          ? readonly TextOf<S>[]
          : S extends { readonly type: "map" }
            ? Readonly<Record<string, ConfigText>>
            : S extends { readonly type: "object"; readonly keys: infer T extends KeyTable }
              ? ValuesOf<T>
              : S extends { readonly type: "objects"; readonly keys: infer T extends KeyTable }
                ? readonly ValuesOf<T>[]
                : S extends { readonly shapes: readonly (infer E extends ValueShape)[] }
                  ? ValueOf<E>
                  : never;

/** An object that was checked against a table: every key optional, under its canonical name. */
export type ValuesOf<T extends KeyTable> = {
  readonly [K in keyof T]?: ValueOf<T[K]["shape"]>;
};

export function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Maps every spelling of the keys of `table` to its canonical name. */
export function spellingsOf(table: KeyTable): ReadonlyMap<string, string> {
  const spellings = new Map<string, string>();
  for (const [name, spec] of Object.entries(table)) {
    for (const written of [name, ...(spec.aliases ?? [])]) {
      spellings.set(written, name);
      spellings.set(snakeCase(written), name);
    }
  }
  return spellings;
}

/** Describes `shape` in words that follow "must be". */
export function describeShape(shape: ValueShape): string {
  switch (shape.type) {
    case "text":
      return shape.expects ?? "a string";
    case "flag":
      return "true or false";
    case "number":
      return describeNumber(shape);
    case "choice":
      return `one of: ${shape.values.join(", ")}`;
    case "list":
      return "a list of strings";
    case "map":
      return "an object of strings";
    case "object":
      return "an object";
    case "objects":
      return "a list of objects";
    case "either":
      return shape.shapes.map((option) => describeShape(option)).join(", or ");
  }
}

function describeNumber(shape: NumberShape): string {
  const noun = shape.isInteger === true ? "a whole number" : "a number";
  const unit = shape.unit === undefined ? "" : ` of ${shape.unit}`;
  const range =
    shape.maximum === undefined
      ? `, at least ${shape.minimum}`
      : ` from ${shape.minimum} to ${shape.maximum}`;
  return `${noun}${unit}${range}`;
}
