import type { Limits } from "../config/keys/limits.ts";
import type { HttpTransportConfig, ServerConfig } from "../config/keys/server-config.ts";
import { resolveServer } from "../config/parse/expand-variables.ts";
import { McpError } from "../errors/mcp-error.ts";
import type { Clock } from "../ports/clock.ts";
import type { Logger } from "../ports/logger.ts";
import { withDetails } from "../protocol/channel/channel-failures.ts";
import type { ConnectProtocol, ProtocolClient } from "../protocol/protocol-client.ts";
import type { InputHandlers } from "../protocol/wire/input-handlers.ts";
import type { ProtocolEra } from "../protocol/wire/protocol-versions.ts";
import type { CreateTransport } from "../transport/create-transport.ts";
import type { HostTransport } from "../transport/host-transport.ts";
import { printedCauseOf } from "../transport/stdio/server-loss.ts";
import { describeFailure, describeStartFailure } from "./connection-error.ts";
import {
  DialectMemory,
  type DialectProbe,
  explainMissingStream,
  isOtherDialect,
  noDialectError,
  prefersLegacy,
  refuseWithoutStream,
} from "./http-dialects.ts";
import type { StartGates } from "./start-gate.ts";

const packageRunners: ReadonlySet<string> = new Set(["npx", "uvx", "bunx", "pnpx", "pipx"]);

/** The parts that every connection is made with, whoever opens it. */
export interface ConnectionParts {
  readonly config: ServerConfig;
  readonly clientInfo: { readonly name: string; readonly version: string };
  readonly limits: Limits;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly hostEnv: Readonly<Record<string, string | undefined>>;
  /** The dialects that addresses turned out to speak; without it each connection finds out anew. */
  readonly dialects?: DialectMemory | undefined;
  /** The gates at which processes and addresses wait for their turn; without them none waits. */
  readonly startGates?: StartGates | undefined;
  readonly createTransport: CreateTransport;
  readonly connectProtocol: ConnectProtocol;
  /** Makes, at each opening, the handlers of what the server asks of us; none by default. */
  readonly inputHandlers?: (() => InputHandlers) | undefined;
}

export interface OpenOptions {
  readonly connectTimeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Called when a process has started or an address is about to be asked; once for each attempt. */
  readonly onStarted?: (() => void) | undefined;
  readonly knownEra?: ProtocolEra | undefined;
  /** The server is known to end whether it is asked for its era or not. */
  readonly isProbeHarmless?: boolean | undefined;
}

export interface OpenedConnection {
  readonly client: ProtocolClient;
  readonly transport: HostTransport;
  /** Values that the server was given and nobody else may see. */
  readonly secrets: readonly string[];
}

/**
 * Starts or contacts the server and negotiates; `http` becomes the dialect that the address speaks. On
 * failure nothing stays open, and the error says what was seen.
 */
export async function openConnection(
  parts: ConnectionParts,
  options: OpenOptions,
): Promise<OpenedConnection> {
  const { config, startGates } = parts;
  const { transport } = config;
  if (!("url" in transport)) return await connectInEra(parts, options);
  const contact = (): Promise<OpenedConnection> =>
    transport.kind === "http"
      ? tryDialects(parts, transport, options)
      : connectInEra(parts, options);
  // The time for all dialects begins with its turn.
  return await (startGates === undefined
    ? contact()
    : startGates.addresses.run(contact, options.signal));
}

/** Tries one dialect after the other, all within the one deadline. */
async function tryDialects(
  parts: ConnectionParts,
  transport: HttpTransportConfig,
  options: OpenOptions,
): Promise<OpenedConnection> {
  const { config, clock, dialects = new DialectMemory() } = parts;
  const startedAt = clock.monotonic();
  const probes: DialectProbe[] = [];
  for (const dialect of dialects.order(transport)) {
    const elapsedMs = clock.monotonic() - startedAt;
    const connectTimeoutMs =
      options.connectTimeoutMs === 0 ? 0 : Math.max(options.connectTimeoutMs - elapsedMs, 1);
    const probed = { ...config, transport: { ...transport, kind: dialect } };
    try {
      const opened = await connectInEra(
        { ...parts, config: probed },
        { ...options, connectTimeoutMs },
      );
      dialects.remember(transport, dialect);
      return opened;
    } catch (error) {
      if (!McpError.is(error) || !isOtherDialect(error)) throw error;
      probes.push({ dialect, error });
    }
  }
  throw describeFailure(noDialectError(config.name, transport, probes), config);
}

/**
 * Connects in the era that the server speaks. Some old servers exit at the first request they do not know,
 * the era probe: they are started once more without it.
 */
async function connectInEra(
  parts: ConnectionParts,
  options: OpenOptions,
): Promise<OpenedConnection> {
  if (prefersLegacy(parts.config.transport))
    return await connectOnce(parts, { ...options, knownEra: "legacy" });
  try {
    return await connectOnce(parts, options);
  } catch (error) {
    if (options.isProbeHarmless === true || !mayHaveDiedOfProbe(error)) throw error;
  }
  try {
    return await connectOnce(parts, { ...options, knownEra: "legacy" });
  } catch (error) {
    throw McpError.is(error) ? withDetails(error, { diedWithoutProbe: true }) : error;
  }
}

/** Whether the era probe may have ended the process. One that printed another reason would end of it again. */
function mayHaveDiedOfProbe(error: unknown): boolean {
  if (!McpError.is(error) || error.details["diedOfProbe"] !== true) return false;
  const cause = printedCauseOf(error);
  return cause === undefined || cause.kind === "request-refused";
}

/** Starts or contacts the server and negotiates. A process waits for its turn first; the time for both begins after that. */
function connectOnce(parts: ConnectionParts, options: OpenOptions): Promise<OpenedConnection> {
  const { config, clientInfo, limits, clock, logger, hostEnv, startGates } = parts;
  const connect = async (): Promise<OpenedConnection> => {
    let transport: HostTransport | undefined;
    try {
      transport = await parts.createTransport(config, { limits, clock, logger, hostEnv });
      const { secrets, credentials } = transport.masked ?? resolveServer(config, hostEnv);
      const client = await parts.connectProtocol(transport, {
        serverName: config.name,
        protocol: config.protocol,
        strict: config.strict,
        clientInfo,
        limits,
        clock,
        logger,
        inputHandlers: parts.inputHandlers?.(),
        secrets,
        credentials,
        ...options,
      });
      await refuseWithoutStream(config, client);
      return { client, transport, secrets };
    } catch (error) {
      throw describeStartFailure(explainMissingStream(config, error), config, transport);
    }
  };
  return startGates === undefined || config.transport.kind !== "stdio"
    ? connect()
    : startGates.processes.run(connect, options.signal);
}

/** Time for start and handshake. The first start of a package runner may include a download. */
export function connectDeadlineMs(
  config: ServerConfig,
  limits: Limits,
  hasConnectedOnce: boolean,
): number {
  if (config.connectTimeoutMs !== undefined) return config.connectTimeoutMs;
  if (!hasConnectedOnce && config.transport.kind === "stdio") {
    const executable = config.transport.command.split(/[/\\]/).at(-1) ?? "";
    if (packageRunners.has(executable.replace(/\.(?:cmd|exe)$/i, "")))
      return limits.packageRunnerConnectTimeoutMs;
  }
  return limits.connectTimeoutMs;
}
