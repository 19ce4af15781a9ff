import type { ContentBlock } from "../protocol/protocol-client.ts";

/** An image of a tool's result, as base64. */
export interface ModelImage {
  readonly data: string;
  readonly mediaType: string;
}

/** What every provider with vision reads. One image of another type would fail the whole request. */
const readableTypes: ReadonlySet<unknown> = new Set([
  "image/png",
  "image/jpeg",
  "image/gif",
  "image/webp",
]);

/**
 * The images among the blocks, embedded ones included, that a model can look at. The result's text has
 * a placeholder for each image anyway, so those left out are not lost without a word.
 */
export function modelImages(content: readonly ContentBlock[]): readonly ModelImage[] {
  return content.flatMap((block) => {
    if (block.type === "image") return image(block["data"], block["mimeType"]);
    if (block.type !== "resource") return [];
    const resource = block["resource"] as Readonly<Record<string, unknown>> | null | undefined;
    return image(resource?.["blob"], resource?.["mimeType"]);
  });
}

function image(data: unknown, mediaType: unknown): readonly ModelImage[] {
  if (typeof data !== "string" || typeof mediaType !== "string") return [];
  return readableTypes.has(mediaType) && isBase64(data) ? [{ data, mediaType }] : [];
}

function isBase64(data: string): boolean {
  return data.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(data);
}
