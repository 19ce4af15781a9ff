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
  isOtherDialect,
  noDialectError,
  prefersLegacy,
} from "./http-dialects.ts";
import { explainMissingStream, refuseWithoutStream } from "./required-stream.ts";
import type { StartGate } from "./start-gate.ts";

/** What every connection is made with, whoever opens it. */
export interface ConnectionParts {
  readonly config: ServerConfig;
  readonly clientInfo: { readonly name: string; readonly version: string };
  readonly limits: Limits;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly hostEnv: Readonly<Record<string, string | undefined>>;
  /** What addresses turned out to speak; without it each connection finds out anew. */
  readonly dialects?: DialectMemory | undefined;
  /** Where processes wait for their turn to start; without it none waits. */
  readonly startGate?: StartGate | undefined;
  readonly createTransport: CreateTransport;
  readonly connectProtocol: ConnectProtocol;
  /** Asked at each opening who answers what the server asks of us; nobody by default. */
  readonly inputHandlers?: (() => InputHandlers) | undefined;
}

export interface OpenOptions {
  readonly connectTimeoutMs: number;
  readonly signal?: AbortSignal | undefined;
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
  const { transport } = parts.config;
  return "url" in transport && transport.kind === "http"
    ? await findDialect(parts, transport, options)
    : await open(parts, options);
}

/** Tries one dialect after the other, all within the one deadline. */
async function findDialect(
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
      const opened = await open({ ...parts, config: probed }, { ...options, connectTimeoutMs });
      dialects.remember(transport, dialect);
      return opened;
    } catch (error) {
      if (!McpError.is(error) || !isOtherDialect(error)) throw error;
      probes.push({ dialect, error });
    }
  }
  throw describeFailure(noDialectError(config.name, transport, probes), config);
}

async function open(parts: ConnectionParts, options: OpenOptions): Promise<OpenedConnection> {
  if (prefersLegacy(parts.config.transport))
    return await attempt(parts, { ...options, knownEra: "legacy" });
  try {
    return await attempt(parts, options);
  } catch (error) {
    if (options.isProbeHarmless === true || !mayHaveDiedOfProbe(error)) throw error;
  }
  // Some old servers exit at the first request they do not know: start once more without it.
  try {
    return await attempt(parts, { ...options, knownEra: "legacy" });
  } catch (error) {
    throw McpError.is(error) ? withDetails(error, { diedWithoutProbe: true }) : error;
  }
}

/** A process that gave a reason of its own for its end would end of it again. */
function mayHaveDiedOfProbe(error: unknown): boolean {
  if (!McpError.is(error) || error.details["diedOfProbe"] !== true) return false;
  const cause = printedCauseOf(error);
  return cause === undefined || cause.kind === "request-refused";
}

/** A process waits for its turn first; the time for start and handshake begins after that. */
function attempt(parts: ConnectionParts, options: OpenOptions): Promise<OpenedConnection> {
  const { startGate, config } = parts;
  return startGate === undefined || config.transport.kind !== "stdio"
    ? attemptNow(parts, options)
    : startGate.run(() => attemptNow(parts, options), options.signal);
}

async function attemptNow(parts: ConnectionParts, options: OpenOptions): Promise<OpenedConnection> {
  const { config, clientInfo, limits, clock, logger, hostEnv } = parts;
  let transport: HostTransport | undefined;
  try {
    transport = await parts.createTransport(config, { limits, clock, logger, hostEnv });
    const { secrets, credentials } = resolveServer(config, hostEnv);
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
}
