import { maxServerName } from "../config/keys/limits.ts";
import type { Shape } from "../errors/check-arguments.ts";

/** Where a tool comes from: the name of its server, and its own name there. */
export interface ToolOrigin {
  readonly server: string;
  readonly tool: string;
}

/** How a program names a tool: by its public name, as `server.tool`, or by its origin. */
export type ToolReference = string | ToolOrigin;

export const toolReference: Shape = {
  words: "a string or { server, tool }",
  accepts: isToolReference,
};

export function isToolReference(value: unknown): value is ToolReference {
  if (typeof value === "string") return true;
  if (typeof value !== "object" || value === null) return false;
  const { server, tool } = value as Partial<ToolOrigin>;
  return typeof server === "string" && typeof tool === "string";
}

/** The reference in one word, as `server.tool` for an origin. */
export function referenceText(reference: ToolReference): string {
  return typeof reference === "string" ? reference : `${reference.server}.${reference.tool}`;
}

/**
 * Reads `server.tool`. Both may hold dots, so the longest beginning that is the name of a server decides;
 * undefined where none is.
 */
export function parseOrigin(
  text: string,
  isServer: (name: string) => boolean,
): ToolOrigin | undefined {
  let dot = text.lastIndexOf(".", maxServerName);
  while (dot > 0) {
    const server = text.slice(0, dot);
    if (isServer(server)) return { server, tool: text.slice(dot + 1) };
    dot = text.lastIndexOf(".", dot - 1);
  }
  return undefined;
}
