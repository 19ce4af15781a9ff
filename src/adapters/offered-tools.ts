import {
  callback,
  checkArguments,
  number,
  options as optionsShape,
  withMethods,
} from "../errors/check-arguments.ts";
import type { McpTool, Session } from "../session/session.ts";
import { shownSchema } from "./argument-names.ts";

/** What every adapter takes beside the session. */
export interface AdapterOptions {
  /**
   * Which of the session's tools the model is offered; all by default. It keeps lists short. What the
   * model may call is a question of the session's rights.
   */
  readonly include?: ((tool: McpTool) => boolean) | undefined;
  /** Deadline of each call; the server's own by default, `0` means none. */
  readonly timeoutMs?: number | undefined;
}

const shapes = {
  session: withMethods("a session", "tools"),
  options: optionsShape({ include: callback, timeoutMs: number }),
} as const;

/** A tool as every model provider takes it. */
export interface OfferedTool {
  /** The public name. */
  readonly name: string;
  readonly description: string;
  /** An object schema with properties, whatever the server wrote; made when it is asked for. */
  readonly schema: Readonly<Record<string, unknown>>;
  readonly tool: McpTool;
}

/**
 * The tools to offer right now, in the session's order. A tool whose schema was refused is left out:
 * each call of it would fail.
 */
export function offeredTools(session: Session, options: AdapterOptions): readonly OfferedTool[] {
  checkArguments("the tools of a session", shapes, [session, options]);
  const { include = () => true } = options;
  return session
    .tools()
    .filter((tool) => include(tool) && tool.unusable === undefined)
    .map((tool) => ({
      name: tool.name,
      description: tool.description,
      get schema() {
        return shownSchema(tool.inputSchema);
      },
      tool,
    }));
}
