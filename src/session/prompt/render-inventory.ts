import { markdownText } from "../../text/untrusted/markdown-text.ts";
import type { McpTool } from "../mcp-tool.ts";
import type { TemplateValues } from "./section-template.ts";

/** What a section knows about one of its servers. */
export interface ServerInventory {
  readonly serverName: string;
  readonly tools: readonly Pick<McpTool, "name" | "description">[];
}

const maxDescriptionChars = 200;
const maxNameChars = 64;
const nothing = "- (no tools)";

/** The text of a section that has no template of its own. */
export const inventoryTemplate =
  "The following external tools are available via MCP:\n\n${tools_by_server}";

export const inventoryVariables = ["server_names", "tool_count", "tools_by_server"] as const;

/** The variables of a section. What servers say about their tools cannot become markup of the prompt. */
export function inventoryValues(servers: readonly ServerInventory[]): TemplateValues {
  const blocks = servers.map(
    ({ serverName, tools }) =>
      `### ${nameOf(serverName)}\n\n${tools.map(bullet).join("\n") || nothing}`,
  );
  const values: Record<(typeof inventoryVariables)[number], string | number> = {
    server_names: servers.map(({ serverName }) => nameOf(serverName)).join(", "),
    tool_count: servers.reduce((count, { tools }) => count + tools.length, 0),
    tools_by_server: blocks.join("\n\n") || nothing,
  };
  return new Map(Object.entries(values));
}

function nameOf(serverName: string): string {
  return markdownText(serverName, maxNameChars);
}

function bullet({ name, description }: ServerInventory["tools"][number]): string {
  const text = markdownText(description, maxDescriptionChars);
  return text === "" ? `- \`${name}\`` : `- \`${name}\` - ${text}`;
}
