import type { Transport } from "@modelcontextprotocol/client";

import { describeTarget } from "../../approval/describe-target.ts";
import { loadOnce } from "../../async/load-once.ts";
import { formatOrigin } from "../../config/keys/config-problem.ts";
import type { Limits } from "../../config/keys/limits.ts";
import type { ServerConfig } from "../../config/keys/server-config.ts";
import { DialectMemory } from "../../connection/http-dialects.ts";
import type { ConnectionParts } from "../../connection/open-connection.ts";
import { ServerConnection } from "../../connection/server-connection.ts";
import {
  addressRoom,
  processRoom,
  StartGate,
  type StartGates,
} from "../../connection/start-gate.ts";
import type { EventBus } from "../../events/event-bus.ts";
import type { ServerLogEvent, ServerState } from "../../events/host-event.ts";
import type { LaunchGround } from "../../isolation/process/launch-folder.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Logger } from "../../ports/logger.ts";
import type {
  ConnectProtocol,
  ProtocolClient,
  ServerNotification,
} from "../../protocol/protocol-client.ts";
import type { ConnectionPurpose } from "../../registry/server-registry.ts";
import type { ConnectionQuestions } from "../../requests/connection-questions.ts";
import type { ServerQuestions } from "../../requests/server-questions.ts";
import { jsonHead } from "../../text/json-head.ts";
import { truncate } from "../../text/truncate.ts";
import { adoptTransport } from "../../transport/adopt-transport.ts";
import type { Authorize, CreateTransport } from "../../transport/create-transport.ts";
import { sanitizeLine } from "../../transport/reading/sanitize-line.ts";
import type { ServerLog, ServerLogs } from "../logs/server-logs.ts";
import type { EntryEnvironment, EntryReferences } from "./entry-references.ts";
import type { ServerSources } from "./server-sources.ts";

/** Loaded with the first start: most servers that are known are not connected. */
const loadTransports = loadOnce(
  async () => (await import("../../transport/create-transport.ts")).createTransport,
);

const maxLogChars = 1_000;

export interface ConnectionFactoryOptions {
  readonly sources: ServerSources;
  readonly references: EntryReferences;
  readonly questions: ServerQuestions;
  readonly limits: Limits;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly events: EventBus;
  /** Undefined where no logs are kept. */
  readonly logs: ServerLogs | undefined;
  readonly connectProtocol: ConnectProtocol;
  readonly clientInfo: { readonly name: string; readonly version: string };
  readonly protocolVersion: string | undefined;
  readonly reconnect: boolean;
  /** Where processes start. */
  readonly ground: LaunchGround;
  readonly authorize: Authorize;
}

/** Takes a client that is ready; `server` tells whose it is, see `ConnectionPurpose`. */
type ReadyListener = (client: ProtocolClient, server: ConnectionPurpose["server"]) => Promise<void>;

/** Makes the connections of a host: what they have in common, and who hears of what happens on them. */
export class ConnectionFactory {
  readonly #options: ConnectionFactoryOptions;
  readonly #dialects = new DialectMemory();
  readonly #startGates: StartGates;
  #onReady: ReadyListener | undefined;

  constructor(options: ConnectionFactoryOptions) {
    this.#options = options;
    this.#startGates = {
      processes: new StartGate(options.clock, processRoom),
      addresses: new StartGate(options.clock, addressRoom),
    };
  }

  /** Calls `listener`, the only one, before a connection counts as open: it opens if this resolves. */
  onReady(listener: ReadyListener): void {
    this.#onReady = listener;
  }

  /**
   * Gives the parts of connections that belong to nobody: no event tells of them, and what a server asks over one is
   * refused.
   */
  unattended({
    config,
    mayStart,
  }: Pick<ConnectionPurpose, "config" | "mayStart">): ConnectionParts {
    const { sources, references, protocolVersion, ground, authorize } = this.#options;
    const { limits, clock, logger, connectProtocol, clientInfo } = this.#options;
    const open = sources.current.transports.get(config.name);
    const { environment, fill } = references.of(config);
    return {
      config: { ...config, protocol: protocolVersion ?? config.protocol },
      limits,
      clock,
      logger,
      hostEnv: environment,
      connectProtocol,
      clientInfo,
      createTransport: guarded(
        open === undefined ? loadTransports : () => Promise.resolve(handedOver(open)),
        { mayStart, fill },
        { ground, authorize, log: undefined },
      ),
    };
  }

  create({ config: entry, owner, mayStart, server }: ConnectionPurpose): ServerConnection {
    const { sources, references, events, protocolVersion, reconnect } = this.#options;
    const { ground, authorize } = this.#options;
    const { limits, clock, logger, connectProtocol, clientInfo, logs } = this.#options;
    const { name } = entry;
    const log = logs?.of(name);
    let secrets: readonly string[] = [];
    const open = sources.current.transports.get(name);
    // Most servers that are known are not connected, and ask nothing.
    let questions: ConnectionQuestions | undefined;
    const ask = (): ConnectionQuestions =>
      (questions ??= this.#options.questions.forConnection(entry, owner));
    const { environment, fill } = references.of(entry);
    const connection = new ServerConnection({
      limits,
      clock,
      logger,
      hostEnv: environment,
      connectProtocol: (transport, opening) => {
        secrets = opening.secrets ?? [];
        return connectProtocol(transport, opening);
      },
      clientInfo,
      config: {
        ...entry,
        protocol: protocolVersion ?? entry.protocol,
        reconnect: reconnect && entry.reconnect,
      },
      dialects: this.#dialects,
      startGates: this.#startGates,
      createTransport: guarded(
        open === undefined ? loadTransports : () => Promise.resolve(handedOver(open)),
        { mayStart, fill },
        { ground, authorize, log },
      ),
      inputHandlers: () => ask().handlers(),
      onReady: (client) => this.#onReady?.(client, server) ?? Promise.resolve(),
      onFailure: (error) => log?.tell(`${error.code}: ${error.message}`, "error"),
      onState: (state, previous, error) => {
        if (log !== undefined) noteState(log, connection, { state, previous, secrets });
        const failure =
          error === undefined ? {} : { error: { code: error.code, message: error.message } };
        events.emit({
          type: "server-state",
          serverName: name,
          owner,
          state,
          previous,
          ...failure,
          at: clock.now(),
        });
      },
      onNotification: (notification) => {
        ask().heard(notification);
        if (notification.method !== "notifications/message") return;
        const { level, text } = readMessage(notification, secrets);
        log?.message(level, text);
        events.emit({ type: "server-log", serverName: name, owner, level, text, at: clock.now() });
      },
    });
    return connection;
  }
}

/** Reads a log message of a server as it may be shown and kept. */
function readMessage(
  { params }: ServerNotification,
  secrets: readonly string[],
): Pick<ServerLogEvent, "level" | "text"> {
  const { data, level } = params ?? {};
  // A message of a server may have ten megabytes: only the part that is shown is written and neutralized.
  const text = typeof data === "string" ? data : jsonHead(data ?? null, maxLogChars * 4);
  return {
    level: typeof level === "string" ? sanitizeLine(level, 32, secrets) : "info",
    text: sanitizeLine(text, maxLogChars, secrets),
  };
}

/** Notes in the log that a server is ready, or that the connection to one without a process ended. */
function noteState(
  log: ServerLog,
  { openClient, transportKind }: ServerConnection,
  change: {
    readonly state: ServerState;
    readonly previous: ServerState;
    readonly secrets: readonly string[];
  },
): void {
  const { state, previous, secrets } = change;
  if (state === "connected" && openClient !== undefined) {
    const { protocolVersion, serverInfo } = openClient;
    const identity = [serverInfo?.name, serverInfo?.version].filter((text) => text !== undefined);
    const facts = [transportKind, `MCP ${protocolVersion}`, identity.join(" ")];
    const told = facts.filter((fact) => fact !== "").join(", ");
    log.tell(sanitizeLine(`ready: ${told}`, maxLogChars, secrets));
  } else if (state === "idle" && previous === "connected" && transportKind !== "stdio")
    // The end of a process is told by its transport.
    log.tell("disconnected");
}

interface StartContext {
  readonly ground: LaunchGround;
  readonly authorize: Authorize;
  readonly log: ServerLog | undefined;
}

/** Asks once more whether the server may start, right before each start, also one that happens by itself. */
function guarded(
  load: () => Promise<CreateTransport>,
  { mayStart, fill }: Pick<ConnectionPurpose, "mayStart"> & Pick<EntryEnvironment, "fill">,
  { ground, authorize, log }: StartContext,
): CreateTransport {
  return async (config, context) => {
    if (fill !== undefined) {
      // Nobody is asked for the secrets of a server that may not start; and an answer takes its time.
      mayStart();
      await fill();
    }
    // Before the last look, so that nothing is waited for between that and the start.
    const create = await load();
    const checked = mayStart();
    log?.tell(startText(config));
    return await create(config, { ...context, ground, checked, authorize, output: log });
  };
}

/** What is started or contacted, and where that is written. */
function startText(config: ServerConfig): string {
  const { kind } = config.transport;
  const what = kind === "stdio" ? "starting" : `connecting (${kind})`;
  const target = truncate(describeTarget(config), maxLogChars);
  return `${what}: ${target}, from ${formatOrigin(config.provenance)}`;
}

/** Opens what code has given: a transport object can be opened once, a function makes a new one each time. */
function handedOver(open: () => Transport): CreateTransport {
  return (config) => Promise.resolve(adoptTransport(open(), config.name));
}
