import type { CallOptions, ToolArguments } from "../call/call-path.ts";
import type { FailedOutcome, SuccessfulOutcome } from "../call/outcome.ts";
import { checkArguments, listOf, text, withMethods } from "../errors/check-arguments.ts";
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

/**
 * One method for each tool of a server, under its own name there. A tool called `then` has none: the
 * client would pass for a promise.
 */
export type ToolClient<Tools> = {
  readonly [Name in keyof Tools as Exclude<Name, "then">]: Tools[Name] extends ToolTypes
    ? ToolMethod<Tools[Name]["params"], Tools[Name]["result"]>
    : never;
};

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
    if (toolName === "then") continue;
    const origin = { server: serverName, tool: toolName };
    client[toolName] = (params?: ToolArguments, options?: CallOptions) =>
      session.call(origin, params, options);
  }
  return Object.freeze(client) as ToolClient<Tools>;
}
