import type { Transport } from "@modelcontextprotocol/client";

import type { ServerConfig } from "../config/keys/server-config.ts";
import { parseServerEntry } from "../config/parse/parse-config.ts";
import type { McpError } from "../errors/mcp-error.ts";
import type { HostTransport } from "./host-transport.ts";

/**
 * A transport made elsewhere, as the host expects its own. The object keeps its identity: callbacks
 * are set on it directly, and only what it lacks is added.
 */
export function adoptTransport(transport: Transport, serverName: string): HostTransport {
  if ("evidence" in transport && "kind" in transport) return transport as HostTransport;
  const failure: McpError | undefined = undefined;
  return Object.assign(transport, {
    kind: "memory" as const,
    failure,
    evidence: { target: serverName, junkMessages: 0 },
  });
}

export function isTransport(value: object): value is Transport {
  return (
    "start" in value &&
    typeof value.start === "function" &&
    "send" in value &&
    typeof value.send === "function"
  );
}

/** The entry of a server that is reached through a transport made elsewhere. */
export function adoptedConfig(name: string): ServerConfig {
  const base = parseServerEntry(name, { enabled: false }, { provenance: { layer: "code" } });
  return Object.freeze({ ...base, enabled: true, transport: { kind: "memory" as const } });
}
