import { setImmediate as nextTurn } from "node:timers/promises";

import type { CatalogTool } from "../catalog/catalog-tool.ts";
import { cancelledByCaller } from "../connection/until-aborted.ts";
import { ToolModule } from "../schema/tool-module.ts";

/** Other work gets its turn after this. */
const sliceMs = 10;

/** A module of TypeScript with the types of these tools and a typed client for them. */
export async function emitToolModule(
  serverName: string,
  tools: readonly CatalogTool[],
  signal?: AbortSignal,
): Promise<string> {
  const described = tools.map(({ originalName, description, inputSchema, outputSchema }) => ({
    name: originalName,
    description,
    inputSchema,
    outputSchema,
  }));
  let text = "";
  let since = performance.now();
  for (const piece of new ToolModule(serverName, described).pieces()) {
    text += piece;
    if (performance.now() - since < sliceMs) continue;
    await nextTurn();
    if (signal?.aborted === true) throw cancelledByCaller();
    since = performance.now();
  }
  return text;
}
