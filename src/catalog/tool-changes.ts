import { isDeepStrictEqual } from "node:util";

import { TimeSlice } from "../async/time-slice.ts";
import type { CatalogTool } from "./catalog-tool.ts";

/** The differences between two tool lists of one server, by original name. */
export interface ToolChanges {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** Tools of the same name with another definition. */
  readonly changed: readonly string[];
}

/** Compares two tool lists in time slices, so that a long list does not hold up other work. */
export async function compareTools(
  before: readonly CatalogTool[],
  after: readonly CatalogTool[],
): Promise<ToolChanges> {
  const known = new Map(before.map((tool) => [tool.originalName, tool]));
  const added: string[] = [];
  const changed: string[] = [];
  const slice = new TimeSlice();
  for (const tool of after) {
    if (slice.isOver) await slice.next();
    const old = known.get(tool.originalName);
    known.delete(tool.originalName);
    if (old === undefined) added.push(tool.originalName);
    else if (!isDeepStrictEqual(old, tool)) changed.push(tool.originalName);
  }
  return { added, removed: [...known.keys()], changed };
}
