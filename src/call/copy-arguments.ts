import { createError } from "../errors/families.ts";
import { frozenCopy } from "../schema/frozen-json.ts";
import { checkPlainJson } from "../schema/plain-json.ts";
import type { ToolArguments } from "./call-path.ts";
import type { CallableTool } from "./callable-tool.ts";

/** The arguments as they would travel, detached from the caller's object and frozen. */
export function copyArguments(args: ToolArguments, tool: CallableTool): ToolArguments {
  // Checked first: writing JSON would turn what cannot be sent into something that can.
  const flaw = checkPlainJson(args);
  if (flaw === undefined) return frozenCopy(args);
  throw createError("invalid_arguments", `${tool.originalName}: ${flaw.message}`, {
    serverName: tool.serverName,
    details: { toolName: tool.originalName, reason: flaw.message, problems: flaw.problems },
  });
}
