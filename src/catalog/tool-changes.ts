import { isDeepStrictEqual } from "node:util";

import type { CatalogTool } from "./catalog-tool.ts";

/** What is different between two lists of one server, by original name. */
export interface ToolChanges {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** Same name, another definition. */
  readonly changed: readonly string[];
}

export function compareTools(
  before: readonly CatalogTool[],
  after: readonly CatalogTool[],
): ToolChanges {
  const known = new Map(before.map((tool) => [tool.originalName, tool]));
  const added: string[] = [];
  const changed: string[] = [];
  for (const tool of after) {
    const old = known.get(tool.originalName);
    known.delete(tool.originalName);
    if (old === undefined) added.push(tool.originalName);
    else if (!isDeepStrictEqual(old, tool)) changed.push(tool.originalName);
  }
  return { added, removed: [...known.keys()], changed };
}
