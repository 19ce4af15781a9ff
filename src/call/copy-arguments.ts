import type { CatalogTool } from "../catalog/catalog-tool.ts";
import { createError } from "../errors/families.ts";
import { checkPlainJson } from "../schema/plain-json.ts";
import type { ToolArguments } from "./call-path.ts";

/** The arguments as they would travel, detached from the caller's object and frozen. */
export function copyArguments(args: ToolArguments, tool: CatalogTool): ToolArguments {
  // Checked first: writing JSON would turn what cannot be sent into something that can.
  const flaw = checkPlainJson(args);
  if (flaw === undefined) return deepFreeze(JSON.parse(JSON.stringify(args)) as ToolArguments);
  throw createError("invalid_arguments", `${tool.originalName}: ${flaw.message}`, {
    serverName: tool.serverName,
    details: { toolName: tool.originalName, reason: flaw.message, problems: flaw.problems },
  });
}

function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const inner of Object.values(value)) deepFreeze(inner);
  }
  return value;
}
