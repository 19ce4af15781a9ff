import type { ToolCatalog } from "../catalog/tool-catalog.ts";
import { definitionOf } from "../config/keys/server-config.ts";
import { createError } from "../errors/families.ts";
import { McpError } from "../errors/mcp-error.ts";
import { errorOfDenial } from "../policy/decide-access.ts";
import type { RegisteredServer, ServerRegistry } from "../registry/server-registry.ts";
import type { ToolJudge } from "./rights/tool-judge.ts";
import type { ServerReadiness } from "./session.ts";

export interface ReadinessParts {
  readonly registry: ServerRegistry;
  readonly catalog: ToolCatalog;
  readonly judge: ToolJudge;
  /** Aborted when the host closes. */
  readonly closing: AbortSignal;
}

export interface ReadinessOptions {
  readonly signal?: AbortSignal | undefined;
  /** Whether a server that failed before is started again. */
  readonly retries: boolean;
}

/** Connects the server if its tools are not known yet. Resolves for everything that can be in the way of that. */
export async function makeReady(
  server: RegisteredServer,
  { registry, catalog, judge, closing }: ReadinessParts,
  { signal, retries }: ReadinessOptions,
): Promise<ServerReadiness> {
  const { name, provenance } = server.config;
  const connection = server.connections.connectionOf(judge.rights.agent);
  const found = (error?: McpError): ServerReadiness => ({
    ready: error === undefined,
    state: registry.state(server, connection),
    error,
  });
  const denial = judge.serverDenial(server);
  if (denial !== undefined) return found(errorOfDenial(denial, name, definitionOf(provenance)));
  if (connection === undefined || closing.aborted)
    return found(createError("closed", "the host has been closed", { serverName: name }));
  // Known from before: it starts when one of its tools is called.
  if (connection.openClient === undefined && catalog.isKnown(name)) return found();
  if (connection.lastError !== undefined && !retries) return found(connection.lastError);
  try {
    await connection.client({ signal });
    return found();
  } catch (error) {
    if (!McpError.is(error)) throw error;
    return found(error);
  }
}
