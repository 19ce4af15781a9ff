import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";

export interface ToolList<Tool> {
  /** Of the server the tools are of. */
  readonly name: string;
  readonly tools: readonly Tool[];
}

/** Every list of a folder, in order of name; none where there is no such folder. */
export function readToolLists<Tool>(folder: string): readonly ToolList<Tool>[] {
  if (!existsSync(folder)) return [];
  const files = readdirSync(folder).filter((file) => file.endsWith(".json"));
  return files.toSorted().map((file) => {
    const { tools } = JSON.parse(readFileSync(path.join(folder, file), "utf8")) as ToolList<Tool>;
    return { name: path.basename(file, ".json"), tools };
  });
}
