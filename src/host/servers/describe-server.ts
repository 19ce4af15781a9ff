import { isDeepStrictEqual } from "node:util";

import type { Approvals } from "../../approval/approvals.ts";
import { describeTarget } from "../../approval/describe-target.ts";
import type { CatalogTool } from "../../catalog/catalog-tool.ts";
import type { ToolCatalog } from "../../catalog/tool-catalog.ts";
import type { Provenance, ServerConfig } from "../../config/keys/server-config.ts";
import type { ToolPins } from "../../pins/tool-pins.ts";
import type { ListedTool } from "../../protocol/protocol-client.ts";
import type { RegisteredServer, ServerRegistry } from "../../registry/server-registry.ts";
import type { ServerStatus } from "../host.ts";
import type { ServerSources } from "./server-sources.ts";

export interface DescribeServerOptions {
  readonly registry: ServerRegistry;
  readonly catalog: ToolCatalog;
  readonly sources: ServerSources;
  readonly pins: ToolPins;
  readonly approvals: Approvals;
}

/** Describes a server as every surface shows it, by its most advanced connection unless one is named. */
export function describeServer(
  server: RegisteredServer,
  { registry, catalog, sources, pins, approvals }: DescribeServerOptions,
  connection = server.connections.mostAdvanced,
): ServerStatus {
  const { config } = server;
  const { name } = config;
  const client = connection.openClient;
  const state = registry.state(server, connection);
  // The catalog and its problems belong to the entry of this name that is in force.
  const isWaiting = registry.waitingFor(server)?.connections === server.connections;
  const isListed = !isWaiting && catalog.isKnown(name);
  const shadowed = sources.current.shadowed.get(name);
  // A REST service speaks no MCP: revision and identity were made up for it by its transport.
  const isMcp = connection.transportKind !== "rest";
  const { resources, prompts } = isWaiting ? {} : catalog.content(name);
  const tools = isWaiting ? [] : catalog.tools(name);
  const accepted = isWaiting ? tools : pins.accepted(server, tools);
  const quarantined = pins.quarantined(server);
  const status: ServerStatus = {
    name,
    state,
    transport: connection.transportKind,
    target: describeTarget(config),
    provenance: config.provenance,
    shadows: shadowed === undefined ? [] : farther(shadowed, config.provenance),
    config,
    toolCount: isListed ? tools.length : undefined,
    // Nearly always all of them: then the list is there.
    tools: accepted === tools && !isWaiting ? catalog.listed(name) : listedOf(accepted),
    resources,
    prompts,
    lastError: connection.lastError,
    failedAt: connection.failedAt,
    era: client?.era,
    protocolVersion: isMcp ? client?.protocolVersion : undefined,
    serverInfo: isMcp ? client?.serverInfo : undefined,
    connectedAt: connection.connectedAt,
    pid: connection.pid,
    changedSinceApproval: state === "pending" && approvals.hasFor(name),
    quarantined,
    suspect: quarantined.length === 0 ? [] : pins.quarantined(server, "suspect"),
    problems: isWaiting ? [] : catalog.problems(name),
  };
  if (!isWaiting) return status;
  return { ...status, waitsToReplace: registry.get(name).config.provenance };
}

/** The definitions of lists of tools, which never change: every status of every server shows one. */
const known = new WeakMap<readonly CatalogTool[], readonly ListedTool[]>();

function listedOf(tools: readonly CatalogTool[]): readonly ListedTool[] {
  let listed = known.get(tools);
  if (listed === undefined) {
    listed = tools.map((tool) => tool.listed);
    known.set(tools, listed);
  }
  return listed;
}

/** The entries that are farther than this one; all of them for the nearest. */
function farther(shadowed: readonly ServerConfig[], own: Provenance): readonly Provenance[] {
  const places = shadowed.map(({ provenance }) => provenance);
  return places.slice(places.findIndex((one) => isDeepStrictEqual(one, own)) + 1);
}
