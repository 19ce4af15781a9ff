import type { ErrorCode } from "./error-codes.ts";
import { createError } from "./families.ts";
import type { McpError } from "./mcp-error.ts";

/** What a value that a program hands over has to be. TypeScript says so, too; JavaScript does not. */
export interface Shape {
  /** Completes the sentence "it must be …". */
  readonly words: string;
  readonly accepts: (value: unknown) => boolean;
  /** Shapes of single members. */
  readonly members?: Readonly<Record<string, Shape>>;
}

export const text: Shape = { words: "a string", accepts: (value) => typeof value === "string" };
export const flag: Shape = { words: "a boolean", accepts: (value) => typeof value === "boolean" };
export const number: Shape = {
  words: "a number",
  accepts: (value) => typeof value === "number" && !Number.isNaN(value),
};
export const callback: Shape = {
  words: "a function",
  accepts: (value) => typeof value === "function",
};
export const object: Shape = { words: "an object", accepts: isObject };
export const list: Shape = { words: "a list", accepts: (value) => Array.isArray(value) };
export const signal: Shape = {
  words: "an AbortSignal",
  accepts: (value) =>
    isObject(value) && "aborted" in value && typeof value["addEventListener"] === "function",
};

/** An object whose members of these names are functions; `words` completes "it must be …". */
export function withMethods(words: string, ...names: readonly string[]): Shape {
  const accepts = (value: unknown): boolean =>
    isObject(value) && names.every((name) => typeof value[name] === "function");
  return { words, accepts };
}

/** For a value that somebody else checks. */
export const anything: Shape = { words: "anything", accepts: () => true };

export function listOf(item: Shape): Shape {
  const accepts = (value: unknown): boolean => Array.isArray(value) && value.every(item.accepts);
  return { words: `a list with every item ${item.words}`, accepts };
}

export function oneOf(...values: readonly unknown[]): Shape {
  const words = values.map((value) => JSON.stringify(value)).join(" or ");
  return { words, accepts: (value) => values.includes(value) };
}

export function either(...shapes: readonly Shape[]): Shape {
  return {
    words: shapes.map(({ words }) => words).join(" or "),
    accepts: (value) => shapes.some(({ accepts }) => accepts(value)),
  };
}

export function optional(shape: Shape): Shape {
  return { ...shape, accepts: (value) => value === undefined || shape.accepts(value) };
}

/** An object that may be left out, and so may each of its members. */
export function options(members: Readonly<Record<string, Shape>>): Shape {
  const entries = Object.entries(members).map(([name, shape]) => [name, optional(shape)] as const);
  return { ...optional(object), members: Object.fromEntries(entries) };
}

/** Throws the error that `flawOf` finds. */
export function checkArguments(
  where: string,
  shapes: Readonly<Record<string, Shape>>,
  values: readonly unknown[],
  code: ErrorCode = "invalid_arguments",
): void {
  const flaw = flawOf(where, shapes, values, code);
  if (flaw !== undefined) throw flaw;
}

/** The first value that is not of its shape, by the name of its parameter; values are never repeated. */
function flawOf(
  where: string,
  shapes: Readonly<Record<string, Shape>>,
  values: readonly unknown[],
  code: ErrorCode,
): McpError | undefined {
  let index = 0;
  // Not `Object.entries`: it builds a list of pairs, and calls of `connectClient` are checked here, too.
  for (const name in shapes) {
    const shape = shapes[name] as Shape;
    const value = values[index];
    index += 1;
    if (!shape.accepts(value)) return createFlaw(where, name, shape.words, code);
    if (shape.members === undefined || !isObject(value)) continue;
    for (const key in shape.members) {
      const member = shape.members[key] as Shape;
      if (!member.accepts(value[key]))
        return createFlaw(where, `${name}.${key}`, member.words, code);
    }
  }
  return undefined;
}

function createFlaw(where: string, parameter: string, wanted: string, code: ErrorCode): McpError {
  return createError(code, `${where}: "${parameter}" must be ${wanted}`, {
    details: { parameter },
  });
}

/** The parameters of methods by name, and how a method that gets something else says so. */
export type MethodTable<T> = {
  readonly [K in keyof T]?: T[K] extends (...args: never[]) => infer Result
    ? {
        readonly takes: Readonly<Record<string, Shape>>;
        readonly fails: Result extends Promise<unknown> ? "rejects" : "throws";
      }
    : never;
};

/**
 * Makes the methods of a class check what they are given before they run: a wrong type is
 * `invalid_arguments`, not whatever the code behind stumbles over. Not for methods that are called often.
 */
export function guardMethods<T extends object>(
  prototype: T,
  owner: string,
  table: MethodTable<T>,
): void {
  for (const [name, guard] of Object.entries(table) as [keyof T & string, MethodGuard][]) {
    const method = prototype[name] as (...args: unknown[]) => unknown;
    const guarded = function (this: T, ...args: unknown[]): unknown {
      const flaw = flawOf(`${owner}.${name}`, guard.takes, args, "invalid_arguments");
      if (flaw === undefined) return Reflect.apply(method, this, args);
      if (guard.fails === "rejects") return Promise.reject(flaw);
      throw flaw;
    };
    Object.defineProperty(prototype, name, {
      value: guarded,
      writable: true,
      configurable: true,
    });
  }
}

interface MethodGuard {
  readonly takes: Readonly<Record<string, Shape>>;
  readonly fails: "rejects" | "throws";
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
