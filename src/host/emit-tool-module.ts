import { TimeSlice } from "../async/time-slice.ts";
import { cancelledByCaller } from "../async/until-aborted.ts";
import type { CatalogTool } from "../catalog/catalog-tool.ts";
import { ToolModule } from "../schema/emit-types/tool-module.ts";

/** Writes a module of TypeScript with the types of these tools and a typed client for them, in slices of time. */
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
  const slice = new TimeSlice();
  for (const piece of new ToolModule(serverName, described).pieces()) {
    text += piece;
    if (!slice.isOver) continue;
    await slice.next();
    if (signal?.aborted === true) throw cancelledByCaller();
  }
  return text;
}
