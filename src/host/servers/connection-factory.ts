import type { Transport } from "@modelcontextprotocol/client";

import type { Limits } from "../../config/keys/limits.ts";
import { DialectMemory } from "../../connection/http-dialects.ts";
import { ServerConnection } from "../../connection/server-connection.ts";
import { StartGate } from "../../connection/start-gate.ts";
import type { EventBus } from "../../events/event-bus.ts";
import type { ServerLogEvent } from "../../events/host-event.ts";
import type { LaunchGround } from "../../isolation/process/launch-folder.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Logger } from "../../ports/logger.ts";
import type {
  ConnectProtocol,
  ProtocolClient,
  ServerNotification,
} from "../../protocol/protocol-client.ts";
import type { ConnectionPurpose } from "../../registry/server-registry.ts";
import type { ServerQuestions } from "../../requests/server-questions.ts";
import { jsonHead } from "../../text/json-head.ts";
import { boundedLine } from "../../text/untrusted/bounded-text.ts";
import { adoptTransport } from "../../transport/adopt-transport.ts";
import { type CreateTransport, createTransport } from "../../transport/create-transport.ts";
import type { EntryEnvironment, EntryReferences } from "./entry-references.ts";
import type { ServerSources } from "./server-sources.ts";

const maxLogChars = 1_000;

export interface ConnectionFactoryOptions {
  readonly sources: ServerSources;
  readonly references: EntryReferences;
  readonly questions: ServerQuestions;
  readonly limits: Limits;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly events: EventBus;
  readonly connectProtocol: ConnectProtocol;
  readonly clientInfo: { readonly name: string; readonly version: string };
  readonly protocolVersion: string | undefined;
  readonly reconnect: boolean;
  /** Where processes start. */
  readonly ground: LaunchGround;
}

/** Takes a client that is ready; `server` tells whose it is, see `ConnectionPurpose`. */
type ReadyListener = (client: ProtocolClient, server: ConnectionPurpose["server"]) => Promise<void>;

/** Makes the connections of a host: what they have in common, and who hears of what happens on them. */
export class ConnectionFactory {
  readonly #options: ConnectionFactoryOptions;
  readonly #dialects = new DialectMemory();
  readonly #startGate: StartGate;
  #onReady: ReadyListener | undefined;

  constructor(options: ConnectionFactoryOptions) {
    this.#options = options;
    this.#startGate = new StartGate(options.clock);
  }

  /** Calls `listener`, the only one, before a connection counts as open: it opens if this resolves. */
  onReady(listener: ReadyListener): void {
    this.#onReady = listener;
  }

  create({ config: entry, owner, mayStart, server }: ConnectionPurpose): ServerConnection {
    const { sources, references, events, protocolVersion, reconnect, ground } = this.#options;
    const { limits, clock, logger, connectProtocol, clientInfo } = this.#options;
    const { name } = entry;
    const open = sources.current.transports.get(name);
    const questions = this.#options.questions.forConnection(entry, owner);
    const { environment, fill } = references.of(entry);
    return new ServerConnection({
      limits,
      clock,
      logger,
      hostEnv: environment,
      connectProtocol,
      clientInfo,
      config: {
        ...entry,
        protocol: protocolVersion ?? entry.protocol,
        reconnect: reconnect && entry.reconnect,
      },
      dialects: this.#dialects,
      startGate: this.#startGate,
      createTransport: guarded(
        open === undefined ? createTransport : handedOver(open),
        { mayStart, fill },
        ground,
      ),
      inputHandlers: () => questions.handlers(),
      onReady: (client) => this.#onReady?.(client, server) ?? Promise.resolve(),
      onState: (state, previous, error) => {
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
        questions.heard(notification);
        if (notification.method === "notifications/message")
          events.emit(logEvent({ serverName: name, owner, at: clock.now() }, notification));
      },
    });
  }
}

function logEvent(
  source: Pick<ServerLogEvent, "serverName" | "owner" | "at">,
  { params }: ServerNotification,
): ServerLogEvent {
  const { data, level } = params ?? {};
  // A message of a server may have ten megabytes: only the part that is shown is written and neutralized.
  const text = typeof data === "string" ? data : jsonHead(data ?? null, maxLogChars * 4);
  return {
    type: "server-log",
    ...source,
    level: typeof level === "string" ? boundedLine(level, 32) : "info",
    text: boundedLine(text, maxLogChars),
  };
}

/** Asks once more whether the server may start, right before each start, also one that happens by itself. */
function guarded(
  create: CreateTransport,
  { mayStart, fill }: Pick<ConnectionPurpose, "mayStart"> & Pick<EntryEnvironment, "fill">,
  ground: LaunchGround,
): CreateTransport {
  return async (config, context) => {
    if (fill !== undefined) {
      // Nobody is asked for the secrets of a server that may not start; and an answer takes its time.
      mayStart();
      await fill();
    }
    const checked = mayStart();
    return await create(config, { ...context, ground, checked });
  };
}

/** Opens what code has given: a transport object can be opened once, a function makes a new one each time. */
function handedOver(open: () => Transport): CreateTransport {
  return (config) => Promise.resolve(adoptTransport(open(), config.name));
}
