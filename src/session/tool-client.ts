import type { CallOptions, ToolArguments } from "../call/call-path.ts";
import type { FailedOutcome, Outcome, SuccessfulOutcome } from "../call/outcome.ts";
import { makeToolName } from "../catalog/tool-names.ts";
import { checkArguments, listOf, text, withMethods } from "../errors/check-arguments.ts";
import type { McpTool, Session } from "./session.ts";

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
  session: withMethods("a session", "call", "find", "ready", "tools"),
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
    const origin: Origin = { serverName, toolName };
    client[toolName] = (params?: ToolArguments, options?: CallOptions) =>
      callTool(session, origin, params, options);
  }
  return Object.freeze(client) as ToolClient<Tools>;
}

interface Origin {
  readonly serverName: string;
  readonly toolName: string;
}

async function callTool(
  session: Session,
  origin: Origin,
  params?: ToolArguments,
  options?: CallOptions,
): Promise<Outcome> {
  const name = findName(session, origin) ?? (await findNameWhenReady(session, origin, options));
  return await session.call(name ?? absentName(session, origin), params, options);
}

/** The public name depends on the naming of the session, so the tool is looked for by where it comes from. */
function findName(session: Session, origin: Origin): string | undefined {
  const usual = session.find(makeToolName(origin.serverName, origin.toolName));
  const tool = isFrom(usual, origin)
    ? usual
    : session.tools().find((entry) => isFrom(entry, origin));
  return tool?.name;
}

async function findNameWhenReady(
  session: Session,
  origin: Origin,
  options?: CallOptions,
): Promise<string | undefined> {
  try {
    await session.ready({ servers: [origin.serverName], signal: options?.signal });
    return findName(session, origin);
  } catch {
    // An unknown server or a call taken back: the call itself says so, as an outcome.
    return undefined;
  }
}

/** A name that fails with the reason where the session uses the usual names, and never hits another tool. */
function absentName(session: Session, { serverName, toolName }: Origin): string {
  const usual = makeToolName(serverName, toolName);
  return session.find(usual) === undefined ? usual : `${serverName}.${toolName}`;
}

function isFrom(tool: McpTool | undefined, origin: Origin): tool is McpTool {
  return tool?.serverName === origin.serverName && tool.originalName === origin.toolName;
}
