import type { PerformTool, ServerTool } from "../../call/call-contract.ts";
import type { ContentRight } from "../rights/tool-judge.ts";

/** Reading is all that the protocol lets a resource or a prompt be used for. */
const annotations = Object.freeze({ readOnlyHint: true });

interface ReadingDefinition {
  readonly title?: string;
  readonly description?: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
}

/**
 * A tool of the host's own that reads what a server has. Nothing of the server is in its definition that could
 * change.
 */
export function readingTool(
  serverName: string,
  originalName: string,
  definition: ReadingDefinition,
  perform?: PerformTool,
): ServerTool {
  const { title, description = "", inputSchema } = definition;
  return Object.freeze({
    serverName,
    originalName,
    title,
    description,
    inputSchema,
    outputSchema: undefined,
    annotations,
    icons: undefined,
    meta: undefined,
    isLive: false,
    isContent: true,
    listed: Object.freeze({ name: originalName, ...definition, annotations }),
    perform,
  });
}

const anyObject = Object.freeze({ type: "object" });

/** A tool that stands for a server's resources or prompts where rights and consent are decided. */
export function contentTool(serverName: string, right: ContentRight): ServerTool {
  return readingTool(serverName, right, { inputSchema: anyObject });
}
