import { createError } from "../../errors/families.ts";
import type { RegisteredServer, ServerRegistry } from "../../registry/server-registry.ts";
import { closest } from "../../text/closest.ts";
import type { ToolJudge } from "./tool-judge.ts";

export interface SeenParts {
  readonly registry: ServerRegistry;
  readonly judge: ToolJudge;
}

/** Names of the servers that exist as far as the agent can tell. */
export function visibleNames({ registry, judge }: SeenParts): readonly string[] {
  return registry
    .all()
    .map(({ config }) => config.name)
    .filter((name) => judge.sees(name));
}

/**
 * The server of that name, or `server_unknown` with the names that were probably meant. One that is hidden
 * from the agent gets the error of one that does not exist, and no error names it.
 */
export function visibleServer(name: string, parts: SeenParts): RegisteredServer {
  const server = parts.registry.find(name);
  if (server !== undefined && parts.judge.sees(name)) return server;
  const configured = visibleNames(parts);
  throw createError("server_unknown", `no server "${name}"`, {
    details: { suggestions: closest(name, configured), configured },
  });
}
