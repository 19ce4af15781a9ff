import { homedir } from "node:os";
import path from "node:path";

import { Approvals } from "../approval/approvals.ts";
import { ApprovedLaunches } from "../approval/approved-launches.ts";
import { LaunchApproval } from "../approval/launch-approval.ts";
import { locateLaunch, thisMachine } from "../approval/locate-launch.ts";
import { loadOnce } from "../async/load-once.ts";
import { CallPath } from "../call/call-path.ts";
import { ToolSchemas } from "../call/tool-schemas.ts";
import { Discovery } from "../catalog/discovery.ts";
import { StoredCatalogs } from "../catalog/stored-catalogs.ts";
import { ToolCatalog } from "../catalog/tool-catalog.ts";
import { resolveLimits } from "../config/keys/limits.ts";
import { EventBus } from "../events/event-bus.ts";
import { publishConsentModes, ToolGrants } from "../grants/tool-grants.ts";
import type { Human } from "../human/human.ts";
import { ToolPins } from "../pins/tool-pins.ts";
import { AccessRevision } from "../policy/access-revision.ts";
import { systemClock } from "../ports/clock.ts";
import { loggerOf } from "../ports/default-logger.ts";
import { createIdGenerator } from "../ports/id-generator.ts";
import { keepAliveUntil } from "../ports/keep-alive.ts";
import { closeAtProgramEnd } from "../ports/program-end.ts";
import { chooseProtocol, protocolCoreFrom } from "../protocol/choose-protocol.ts";
import { keepServerStates } from "../registry/keep-server-states.ts";
import { LastAttempts } from "../registry/last-attempts.ts";
import { ServerRegistry } from "../registry/server-registry.ts";
import { ServerQuestions } from "../requests/server-questions.ts";
import { createVault } from "../secrets/create-vault.ts";
import { ResourceReaders } from "../session/content/resource-reader.ts";
import { HandlerRuns } from "../session/native/handler-runs.ts";
import { SessionDirectory } from "../session/session-directory.ts";
import { HostStore } from "../store/host-store.ts";
import { expectFewEntries } from "../text/canonical-hash.ts";
import { AuditTrail } from "./audit-trail.ts";
import { keepHostAlive } from "./awaited-methods.ts";
import { checkHostOptions, guardHost } from "./host-arguments.ts";
import type { HostOptions, McpHost } from "./host.ts";
import { logWarnings } from "./log-warnings.ts";
import { HostLogs } from "./logs/kept-logs.ts";
import { ServerLogs } from "./logs/server-logs.ts";
import { logFolder, ownEnvironment, ownFolder, storeLocation } from "./own-files.ts";
import { PlugboardHost } from "./plugboard-host.ts";
import { productInfo } from "./product-info.ts";
import { ClearRows } from "./secrets/clear-rows.ts";
import { EntryVault } from "./secrets/entry-vault.ts";
import { KeptAnswers } from "./secrets/kept-answers.ts";
import { NamedSecrets } from "./secrets/named-secrets.ts";
import { SecretSource } from "./secrets/secret-source.ts";
import { ConfiguredServers } from "./servers/configured-servers.ts";
import { ConnectRequests } from "./servers/connect-elsewhere.ts";
import { ServerConnector } from "./servers/connect-servers.ts";
import { ConnectionFactory } from "./servers/connection-factory.ts";
import { EntryReferences } from "./servers/entry-references.ts";
import { SignInFollower } from "./servers/follow-sign-ins.ts";
import { GivenServers } from "./servers/given-servers.ts";
import { ServerSources } from "./servers/server-sources.ts";
import { ServerLogins } from "./servers/sign-in-servers.ts";

guardHost();
keepHostAlive();

/**
 * Reads the configuration that applies and wires the rooms together. Waits for no server, and starts
 * only those whose entry says `"start": "eager"`.
 */
export function createHost(options: HostOptions = {}): Promise<McpHost> {
  return keepAliveUntil(openHost(options, { isOneShot: false }));
}

/** A host for a process that ends with its first answer: what it keeps, it writes itself instead of in a thread. */
export function createOneShotHost(options: HostOptions = {}): Promise<McpHost> {
  expectFewEntries();
  return keepAliveUntil(openHost(options, { isOneShot: true }));
}

/** Builds every part of a host, each from those above it. */
async function openHost(
  options: HostOptions,
  { isOneShot }: { readonly isOneShot: boolean },
): Promise<McpHost> {
  checkHostOptions(options);

  // What the program brings along, or the machine.
  const { clock = systemClock, idGenerator: createId = createIdGenerator() } = options;
  const joinHuman = options.resident === true ? await humansElsewhere(options) : undefined;
  const human = joinHuman === undefined ? options.human : joinHuman(options.human);
  const logger = loggerOf(options.logger);
  const hostEnv = options.env ?? process.env;
  const limits = resolveLimits(options.limits);
  const cwd = path.resolve(options.cwd ?? ".");
  const home = path.resolve(options.home ?? homedir());
  const ground = { workspaceFolder: cwd, home, userFolder: ownFolder(options) };
  const closing = new AbortController();

  // Events: what an outsider can observe.
  const events = new EventBus((error) =>
    logger.warn("an event handler failed", { error: String(error) }),
  );
  const warnings = logWarnings(logger, events, clock);
  const { background } = warnings;

  // Store: what outlives the host, and the audit trail in it.
  const isAuditRequired = options.audit === "required";
  const location = storeLocation(options);
  const store = new HostStore({
    location,
    clock,
    logger: background,
    isInPlace: isOneShot,
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

  // Secrets: what must lie nowhere in clear text.
  const vault = createVault({
    store,
    env: hostEnv,
    folder: ground.userFolder,
    clock,
    logger: background,
  });

  // Logs: what servers print and how they fare, in files.
  const folder = logFolder(options);
  const { maxServerLogBytes: maxBytes } = limits;
  const logs =
    folder !== undefined && maxBytes > 0
      ? new ServerLogs({ folder, maxBytes, clock, logger: background })
      : undefined;
  // A host that writes none still reads what others have written.
  const keptLogs = new HostLogs({ folder, writer: logs, clock });

  // Questions: what servers may ask of a person, a model and this machine.
  const questions = new ServerQuestions({
    human,
    sampling: options.sampling,
    roots: options.roots,
    cwd,
    limits,
    clock,
    events,
    logger,
    createId,
    hostEnv,
  });

  // Configuration: where servers are defined, and what their entries refer to.
  const entryVault = new EntryVault(vault);
  const clearRows = new ClearRows({ store, entryVault, warn: warnings.announce });
  const sources = await ServerSources.open(options, store, clearRows);
  const given = new GivenServers();
  const loadEdits = loadOnce(async () => {
    const { ServerEdits } = await import("./servers/edit-servers.ts");
    return new ServerEdits({
      store,
      entryVault,
      cwd,
      home,
      given,
      hostEnv,
      ownEnv: ownEnvironment(options),
    });
  });
  const secrets = new SecretSource({ vault, provider: options.secrets, workspaceFolder: cwd });
  const keptAnswers = new KeptAnswers(vault, background);
  const references = new EntryReferences({ hostEnv, human, folders: ground, secrets, keptAnswers });

  // Access: one count of all changes that a decision on access stands on.
  const revision = new AccessRevision();

  // Approvals: which launches a person has agreed to.
  const machine = thisMachine(hostEnv, ground);
  const launches = new ApprovedLaunches((config) => locateLaunch(config, machine), revision);
  const approvals = new Approvals(store, launches);

  // Sign-ins: who is calling servers over HTTP. Loaded with the first of them.
  const loadSignIns = loadOnce(async () => {
    const { SignIns } = await import("../auth/sign-ins.ts");
    const tools = { hostEnv, limits, clock, logger: background };
    return new SignIns({ vault, store, tools, closing: closing.signal });
  });

  // Registry: which servers there are, and their connections.
  const connections = new ConnectionFactory({
    sources,
    references,
    questions,
    limits,
    clock,
    logger,
    events,
    logs,
    connectProtocol: chooseProtocol(options.protocolCore ?? protocolCoreFrom(hostEnv)),
    clientInfo: options.clientInfo ?? productInfo,
    protocolVersion: options.protocolVersion,
    reconnect: options.reconnect ?? true,
    ground,
    // A program on this machine is not signed in to, and waits for nothing that signs in.
    authorize: async (name, entry) =>
      "url" in entry.transport ? await (await loadSignIns()).authorize(name, entry) : undefined,
  });
  const registry = new ServerRegistry({
    launches,
    revision,
    createConnection: (purpose) => connections.create(purpose),
  });
  keepServerStates({ store, registry, events });
  const lastAttempts = new LastAttempts({ store, registry, events, clock });

  // Catalog: what servers offer, held to what it was when it was accepted.
  const catalog = new ToolCatalog();
  const pins = new ToolPins({ store, registry, revision, events, clock });
  const storedCatalogs = new StoredCatalogs({ store, registry, catalog, pins });
  const discovery = new Discovery({
    catalog,
    limits,
    clock,
    events,
    pins,
    storedCatalogs,
  });
  const schemas = new ToolSchemas(limits);
  connections.onReady(async (client, server) => {
    await Promise.all([schemas.load(), discovery.begin(client, server)]);
  });

  // Grants: what people have allowed.
  const grants = new ToolGrants({ store, registry, catalog, pins, revision, events, clock });
  publishConsentModes({ registry, events, clock });

  // Servers: kept in step with where they are defined, approved, connected.
  const configured = new ConfiguredServers({
    sources,
    given,
    registry,
    catalog,
    storedCatalogs,
    approvals,
    pins,
    grants,
    store,
    events,
    clock,
    logger,
    background,
    cwd,
  });
  const launchApproval = new LaunchApproval({
    launches,
    approvals,
    servers: registry,
    settle: () => configured.settle(),
    human,
    timeoutMs: limits.totalCallTimeoutMs,
    hostEnv,
    events,
    clock,
    closing: closing.signal,
  });
  const connector = new ServerConnector({
    registry,
    configured,
    given,
    launchApproval,
    catalog,
    discovery,
    events,
    clock,
  });
  const connectRequests = new ConnectRequests({ store, registry, connector });

  const logins = new ServerLogins({
    registry,
    connector,
    launchApproval,
    references,
    loadSignIns,
    human,
    events,
    clock,
    closing: closing.signal,
  });

  // Calls: the one path of each, checked against schemas and recorded.
  const calls = new CallPath({
    limits,
    clock,
    events,
    schemas,
    createId,
    admit: audit.admit,
    record: audit.record,
  });

  // Sessions: the agents.
  const sessions = new SessionDirectory();
  const handlers = new HandlerRuns(clock);
  const sessionParts = {
    registry,
    catalog,
    grants,
    pins,
    revision,
    calls,
    schemas,
    handlers,
    readers: new ResourceReaders({ limits, clock }),
    events,
    clock,
    limits,
    createId,
    audit,
    closing: closing.signal,
    requests: questions,
    sessions,
    addServers: (entries: readonly unknown[]) => configured.add(entries, { isKept: true }),
    configProblems: () => configured.problems,
    warned: new Set<string>(),
  };

  const stopServers = async (): Promise<void> => {
    await registry.endAll();
    // Calls that ended with their connections are still being written down.
    await calls.idle(limits.stopGraceMs);
    await Promise.all([logs?.close(), audit.close().then(() => store.close())]);
  };
  const close = async (): Promise<void> => {
    closing.abort();
    handlers.close();
    configured.close();
    warnings.end();
    references.close();
    await Promise.all([stopServers(), schemas.close()]);
  };
  const host = new PlugboardHost({
    secrets: new NamedSecrets(vault),
    references,
    sources,
    registry,
    lastAttempts,
    configured,
    connector,
    connections,
    connectRequests,
    logins,
    loadEdits,
    hostEnv,
    approvals,
    launchApproval,
    catalog,
    pins,
    grants,
    audit,
    keptLogs,
    questions,
    sessions,
    sessionParts,
    human,
    joinHuman,
    naming: options.naming ?? "mcp__server__tool",
    events,
    closing: closing.signal,
    ownState: { store, storeLocation: location, machine, clock, secrets, vault, logins },
    close,
  });

  const forgetEnd = closeAtProgramEnd(() => host.close());
  closing.signal.addEventListener("abort", forgetEnd, { once: true });
  await configured.load();
  const signInFollower = new SignInFollower({ registry, logins, events });
  if (options.watch ?? true) await configured.watch([connectRequests, signInFollower]);
  if (options.startEager ?? true) connector.startEager();
  if (isAuditRequired) await store.open().catch(() => undefined);
  warnings.begin();
  return host;
}

/** Lets people at other processes answer, too: loaded for those who want that. */
async function humansElsewhere(options: HostOptions): Promise<(local: Human | undefined) => Human> {
  const { createJoinedHumans } = await import("./resident/join-resident.ts");
  return createJoinedHumans(options);
}
