import type { CallOptions, ToolArguments } from "../call/call-contract.ts";
import type { FailedOutcome, SuccessfulOutcome } from "../call/outcome.ts";
import { checkArguments, listOf, text, withMethods } from "../errors/check-arguments.ts";
import { type MethodName, methodName } from "./method-name.ts";
import type { Session } from "./session.ts";

/** An outcome whose structured content, when the call succeeds, has the tool's own type. */
export type TypedOutcome<Result> = TypedSuccess<Result> | FailedOutcome;

interface TypedSuccess<Result> extends SuccessfulOutcome {
  readonly structured: Result;
}

/** The types of one tool, as a generated module declares them. */
export interface ToolTypes {
  readonly params: unknown;
  readonly result: unknown;
}

/** Arguments may be left out where none is required. */
type ToolMethod<Params, Result> =
  Readonly<Record<string, never>> extends Params
    ? (params?: Params, options?: CallOptions) => Promise<TypedOutcome<Result>>
    : (params: Params, options?: CallOptions) => Promise<TypedOutcome<Result>>;

/** A client with a method of this name would pass for a promise. */
type Reserved = "then";
const reserved: Reserved = "then";

/**
 * One method for each tool of a server, under its own name there and in camelCase: `get_time` and
 * `getTime`. A name in camelCase that is another tool's own name is that tool, and one that several tools
 * would have is none of them. No method is called `then`: the client would pass for a promise.
 */
export type ToolClient<Tools> = {
  readonly [Name in keyof Tools as Exclude<Name, Reserved>]: MethodOf<Tools[Name]>;
} & CamelMethods<Tools, CamelNames<Tools>>;

type MethodOf<Types> = Types extends ToolTypes
  ? ToolMethod<Types["params"], Types["result"]>
  : never;

/** By the name in camelCase: the own name of the tool, or of several tools. */
type CamelNames<Tools> = {
  readonly [Name in keyof Tools & string as MethodName<Name>]: Name;
};

/** `Names` is a parameter because a server may have thousands of tools: it is worked out once, not for each. */
type CamelMethods<Tools, Names> = {
  readonly [
    Method in keyof Names as IsFree<Tools, Method, Names[Method]> extends true ? Method : never
  ]: Names[Method] extends keyof Tools ? MethodOf<Tools[Names[Method]]> : never;
};

type IsFree<Tools, Method, Name> = Method extends keyof Tools | Reserved | "" ? false : IsOne<Name>;

type IsOne<Name, Names = Name> = Name extends unknown
  ? [Names] extends [Name]
    ? true
    : false
  : never;

const shapes = {
  session: withMethods("a session", "call"),
  serverName: text,
  toolNames: listOf(text),
} as const;

/**
 * The tools of one server as methods, for modules that `host.emitTypes` generates. The types are a
 * promise of the server at that time: what it says now decides, and is checked on every call.
 */
export function createToolClient<Tools>(
  session: Session,
  serverName: string,
  toolNames: readonly (keyof Tools & string)[],
): ToolClient<Tools> {
  checkArguments("createToolClient", shapes, [session, serverName, toolNames]);
  // Without a prototype no tool can have a name that means something already.
  const client = Object.create(null) as Record<string, unknown>;
  for (const toolName of toolNames) {
    const origin = { server: serverName, tool: toolName };
    client[toolName] = (params?: ToolArguments, options?: CallOptions) =>
      session.call(origin, params, options);
  }
  for (const [method, [toolName = "", ...others]] of camelNames(toolNames))
    if (others.length === 0 && method !== "") client[method] ??= client[toolName];
  delete client[reserved];
  return Object.freeze(client) as ToolClient<Tools>;
}

function camelNames(toolNames: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const names = new Map<string, string[]>();
  for (const toolName of new Set(toolNames)) {
    const method = methodName(toolName);
    names.set(method, [...(names.get(method) ?? []), toolName]);
  }
  return names;
}
