import { definitionOf, type Provenance } from "../../config/keys/server-config.ts";
import { createError } from "../../errors/families.ts";
import type { McpError } from "../../errors/mcp-error.ts";

export function isThere(serverName: string, provenance?: Provenance): McpError {
  return createError("config_invalid", `there is a server "${serverName}" already`, {
    serverName,
    hint: "update it, or choose another name",
    details: { isTaken: true, ...(provenance && definitionOf(provenance)) },
  });
}

export function noStore(serverName: string): McpError {
  return createError("store_failed", "this host keeps nothing", {
    serverName,
    hint: 'create it with a `store`, or write to `scope: "project"`',
  });
}
