import { homedir } from "node:os";
import path from "node:path";

import { keepAliveUntil } from "../async/keep-alive.ts";
import { CallPath } from "../call/call-path.ts";
import { ToolSchemas } from "../call/tool-schemas.ts";
import { ToolCatalog } from "../catalog/tool-catalog.ts";
import { userFolder } from "../config/files/config-files.ts";
import { resolveLimits } from "../config/keys/limits.ts";
import { createError } from "../errors/families.ts";
import type { McpError } from "../errors/mcp-error.ts";
import { EventBus } from "../events/event-bus.ts";
import { systemClock } from "../ports/clock.ts";
import { loggerOf } from "../ports/default-logger.ts";
import { createIdGenerator } from "../ports/id-generator.ts";
import { chooseProtocol, protocolCoreFrom } from "../protocol/choose-protocol.ts";
import { ServerQuestions } from "../requests/server-questions.ts";
import { HostStore } from "../store/host-store.ts";
import { defaultStoreFile } from "../store/tables/store-location.ts";
import { AuditTrail } from "./audit-trail.ts";
import { keepHostAlive } from "./awaited-methods.ts";
import { checkHostOptions, guardHost } from "./host-arguments.ts";
import type { HostOptions, McpHost } from "./host.ts";
import { logWarnings } from "./log-warnings.ts";
import { PlugboardHost } from "./plugboard-host.ts";
import { productInfo } from "./product-info.ts";
import { type CollectedServers, collectServers } from "./servers/server-sources.ts";

guardHost();
keepHostAlive();

/**
 * Reads the configuration that applies and wires the rooms together. Waits for no server, and starts
 * only those whose entry says `"start": "eager"`.
 */
export function createHost(options: HostOptions = {}): Promise<McpHost> {
  return keepAliveUntil(openHost(options));
}

async function openHost(options: HostOptions): Promise<McpHost> {
  checkHostOptions(options);
  const { clock = systemClock, idGenerator = createIdGenerator() } = options;
  const logger = loggerOf(options.logger);
  const hostEnv = options.env ?? process.env;
  const limits = resolveLimits(options.limits);
  const cwd = path.resolve(options.cwd ?? ".");
  const home = path.resolve(options.home ?? homedir());
  const events = new EventBus((error) =>
    logger.warn("an event handler failed", { error: String(error) }),
  );
  const catalog = new ToolCatalog();
  const schemas = new ToolSchemas(limits);
  const warnings = logWarnings(logger, events, clock);
  const { background } = warnings;
  const isAuditRequired = options.audit === "required";
  const location = storeLocation(options);
  if (isAuditRequired && location === undefined) throw noPlaceForAudit();
  const store = new HostStore({
    location,
    clock,
    logger: background,
    callsMeanwhile: isAuditRequired ? "calls are refused" : undefined,
    onProblem: ({ message }) => warnings.announce(message),
  });
  store.checkPlace();
  const audit = new AuditTrail({
    store,
    events,
    clock,
    logger: background,
    isRequired: isAuditRequired,
  });
  const calls = new CallPath({
    limits,
    clock,
    events,
    schemas,
    createId: idGenerator,
    admit: audit.admit,
    record: audit.record,
  });
  const requests = new ServerQuestions({
    human: options.human,
    sampling: options.sampling,
    roots: options.roots,
    cwd,
    limits,
    clock,
    events,
    logger,
    createId: idGenerator,
    hostEnv,
  });
  const collect = (): Promise<CollectedServers> => collectServers(options, store);
  const host = new PlugboardHost({
    sources: await collect(),
    collect,
    store,
    audit,
    reconnect: options.reconnect ?? true,
    catalog,
    schemas,
    calls,
    requests,
    events,
    limits,
    clock,
    logger,
    warnings,
    createId: idGenerator,
    hostEnv,
    connectProtocol: chooseProtocol(options.protocolCore ?? protocolCoreFrom(hostEnv)),
    clientInfo: options.clientInfo ?? productInfo,
    protocolVersion: options.protocolVersion,
    naming: options.naming ?? "mcp__server__tool",
    human: options.human,
    cwd,
    home,
    ground: { workspaceFolder: cwd, home, userFolder: ownFolder(options) },
  });
  const { watch = true, startEager = true } = options;
  await host.begin({ watch, startEager });
  if (isAuditRequired) await store.open().catch(() => undefined);
  warnings.begin();
  return host;
}

function noPlaceForAudit(): McpError {
  return createError("config_invalid", '`audit: "required"` needs a store to write calls down in', {
    hint: "name a file as `store`; with `config: false` there is none by itself",
    details: { parameter: "options.store" },
  });
}

function storeLocation(options: HostOptions): string | undefined {
  const { store, config, home } = options;
  if (store === false || (store === undefined && config === false)) return undefined;
  const env = ownEnvironment(options);
  const named = store ?? env["PLUGBOARD_DB"] ?? "";
  return named === "" ? defaultStoreFile({ home, env }) : named;
}

function ownFolder(options: HostOptions): string {
  return userFolder({ home: options.home, env: ownEnvironment(options) });
}

/** A home that the program chose is not overruled by the environment. */
function ownEnvironment({ home, env }: HostOptions): NonNullable<HostOptions["env"]> {
  return home === undefined ? (env ?? process.env) : {};
}
