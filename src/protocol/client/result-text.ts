import type { ContentBlock } from "../protocol-client.ts";

/**
 * The readable form of a result: text parts joined by a line break, a placeholder for what is not
 * text, the structured content when there are no blocks at all. Nothing vanishes silently.
 */
export function resultText(content: readonly ContentBlock[], structured?: unknown): string {
  // One text block is by far the most common result.
  if (content.length === 1) return blockText(content[0] as ContentBlock);
  if (content.length > 1) return content.map((block) => blockText(block)).join("\n");
  return structured === undefined ? "" : jsonText(structured);
}

function blockText(block: ContentBlock): string {
  switch (block.type) {
    case "text":
      return typeof block["text"] === "string" ? block["text"] : jsonText(block["text"]);
    case "image":
    case "audio":
      return `[${block.type}: ${textOr(block["mimeType"], "unknown type")}, ${dataSize(block["data"])}]`;
    case "resource":
      return resourceText(block["resource"]);
    case "resource_link":
      return `[resource: ${textOr(block["name"] ?? block["uri"], "unnamed")}, ${textOr(block["uri"], "no address")}]`;
    default:
      return `[${block.type}]`;
  }
}

function resourceText(resource: unknown): string {
  if (typeof resource !== "object" || resource === null) return "[resource]";
  const { uri, mimeType, text, blob } = resource as Readonly<Record<string, unknown>>;
  if (typeof text === "string") return text;
  return `[resource: ${textOr(uri, "unnamed")}, ${textOr(mimeType, "unknown type")}, ${dataSize(blob)}]`;
}

function textOr(value: unknown, fallback: string): string {
  return typeof value === "string" && value !== "" ? value : fallback;
}

/** Size of base64 data as people write it. */
function dataSize(data: unknown): string {
  if (typeof data !== "string") return "no data";
  const bytes = Math.floor((data.length * 3) / 4);
  if (bytes < 1_024) return `${bytes} B`;
  if (bytes < 1_048_576) return `${Math.round(bytes / 1_024)} KB`;
  return `${(bytes / 1_048_576).toFixed(1)} MB`;
}

export function jsonText(value: unknown): string {
  if (value === undefined || value === null) return "";
  if (typeof value === "string") return value;
  try {
    return JSON.stringify(value) ?? "";
  } catch {
    // Cycles and BigInt: only reachable with values a program made, never from the wire.
    return "[not JSON]";
  }
}
