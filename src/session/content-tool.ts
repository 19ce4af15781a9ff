import type { ServerTool } from "../call/callable-tool.ts";
import type { ContentRight } from "./tool-judge.ts";

/** Reading is all that the protocol lets a resource or a prompt be used for. */
const annotations = Object.freeze({ readOnlyHint: true });
const inputSchema = Object.freeze({ type: "object" });

/** What stands for a server's resources or prompts where a tool is judged and asked about. */
export function contentTool(serverName: string, right: ContentRight): ServerTool {
  return {
    serverName,
    originalName: right,
    title: undefined,
    description: "",
    inputSchema,
    outputSchema: undefined,
    annotations,
    icons: undefined,
    meta: undefined,
    isLive: false,
    isContent: true,
    listed: { name: right, inputSchema, annotations },
  };
}
