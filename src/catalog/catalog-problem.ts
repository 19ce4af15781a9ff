import { boundedLine } from "../text/untrusted/bounded-text.ts";

/** A problem with a server's list, or with one tool of it; the other tools are not affected. */
export interface CatalogProblem {
  readonly serverName: string;
  readonly toolName: string | null;
  readonly text: string;
}

export function catalogProblem(
  serverName: string,
  toolName: string | null,
  text: string,
): CatalogProblem {
  const name = toolName === null ? null : boundedLine(toolName, 128);
  return { serverName, toolName: name, text };
}
