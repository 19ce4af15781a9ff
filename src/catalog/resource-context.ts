import { checkArguments, listOf, object, optional, text } from "../errors/check-arguments.ts";
import { neutralize, neutralizeLine } from "../text/untrusted/neutralize.ts";
import { untrustedText } from "../text/untrusted/untrusted-text.ts";
import type { McpResource, ResourceContents } from "./server-content.ts";

const line = optional(text);
const shapes = {
  resource: {
    ...object,
    members: { name: text, serverName: text, uri: text, description: line, mimeType: line },
  },
  contents: listOf(object),
} as const;
const part = { ...object, members: { text: line, blob: line, mimeType: line } } as const;

/**
 * What a resource holds as a block of text for a model: a head that says where it comes from, then the
 * text. Bytes are only mentioned. Nothing in the head can pass for a line of its own. Like the result of a
 * tool it is quoted where it carries signs of instructions.
 */
export function resourceContext(
  resource: McpResource,
  contents: readonly ResourceContents[],
): string {
  checkArguments("resourceContext", shapes, [resource, contents]);
  for (const content of contents) checkArguments("resourceContext", { content: part }, [content]);
  const { name, serverName, uri, description, mimeType } = resource;
  const type = mimeType ?? contents[0]?.mimeType ?? "text/plain";
  const block = [
    `--- MCP Resource: ${neutralizeLine(name)} ---`,
    `Server: ${neutralizeLine(serverName)}`,
    `URI: ${neutralizeLine(uri)}`,
    `Type: ${neutralizeLine(type)}`,
    ...(description === undefined ? [] : [`Description: ${neutralizeLine(description)}`]),
    "---",
    ...contents.map(textOf),
  ].join("\n");
  const written = [name, uri, type, description ?? "", ...contents.map(({ text = "" }) => text)];
  return untrustedText(block, serverName, written.join("\n"));
}

function textOf({ text, blob, mimeType }: ResourceContents): string {
  if (text !== undefined) return neutralize(text);
  const bytes = Math.floor(((blob?.length ?? 0) * 3) / 4);
  return `[${bytes} bytes of ${neutralizeLine(mimeType ?? "application/octet-stream")}]`;
}
