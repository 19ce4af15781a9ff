import type { ListedTool } from "../protocol/protocol-client.ts";
import { canonicalHash } from "../text/canonical-hash.ts";

const known = new WeakMap<ListedTool, string>();

/** The parts of a tool that a person or a model goes by: pins and grants are bound to these. */
export function definitionOfTool(tool: ListedTool): Readonly<Record<string, unknown>> {
  const { name, title, description, inputSchema, outputSchema, annotations } = tool;
  return { name, title, description, inputSchema, outputSchema, annotations };
}

/** Whether the fingerprint of a tool is known, so that to ask for it takes no time. */
export function isFingerprinted(tool: ListedTool): boolean {
  return known.has(tool);
}

/** Notes the fingerprint that was computed for a tool when it was listed, in another process. */
export function recallFingerprint(tool: ListedTool, fingerprint: string): void {
  known.set(tool, fingerprint);
}

/** The hash of a tool's definition, computed once for each tool of a list. */
export function fingerprintOf(tool: ListedTool): string {
  let fingerprint = known.get(tool);
  if (fingerprint === undefined) {
    fingerprint = canonicalHash(definitionOfTool(tool));
    known.set(tool, fingerprint);
  }
  return fingerprint;
}
