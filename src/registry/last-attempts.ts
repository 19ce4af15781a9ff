import { toJson } from "../config/parse/to-json.ts";
import { stateAfterFailure } from "../connection/connection-error.ts";
import { type ErrorCode, errorTable } from "../errors/error-codes.ts";
import { createError } from "../errors/families.ts";
import type { McpError } from "../errors/mcp-error.ts";
import type { EventBus } from "../events/event-bus.ts";
import type { ServerState, ServerStateEvent } from "../events/host-event.ts";
import type { Clock } from "../ports/clock.ts";
import type { HostStore } from "../store/host-store.ts";
import type { StoredFailure } from "../store/rows/failure-rows.ts";
import { canonicalHash } from "../text/canonical-hash.ts";
import { serverText } from "../text/untrusted/bounded-text.ts";
import type { RegisteredServer, ServerRegistry } from "./server-registry.ts";

export interface LastAttemptsOptions {
  readonly store: HostStore;
  readonly registry: ServerRegistry;
  readonly events: EventBus;
  readonly clock: Clock;
}

/** What the last attempt of any process to connect a server came to, where that was a failure. */
export interface FailedAttempt {
  readonly state: ServerState;
  readonly error: McpError;
  readonly failedAt: number;
}

interface Outcome extends Pick<ServerStateEvent, "state" | "at"> {
  readonly error: ServerStateEvent["error"] | undefined;
}

/** The states in which a failure leaves a server. Others are no outcome, or nobody's failure. */
const failedStates: ReadonlySet<ServerState> = new Set(["disconnected", "error", "needs_auth"]);
const maxMessageLength = 500;

/**
 * Remembers which servers could not be connected, for every process that shares the store: a failure stays until the
 * next success, until the entry is another one, or until it is removed. Whether a server is connected is never taken
 * from the store: the process that wrote so may be gone. Servers that code has given are known to no other process.
 */
export class LastAttempts {
  readonly #options: LastAttemptsOptions;
  /** The last outcome of this host, by server name. */
  readonly #seen = new Map<string, Outcome>();
  /** Names of servers whose outcome has not been written. */
  readonly #unwritten = new Set<string>();

  constructor(options: LastAttemptsOptions) {
    this.#options = options;
    options.events.on("server-state", (event) => this.#note(event));
  }

  /** The failures that the store knows of these servers, unless this host has seen something newer. */
  async of(servers: readonly RegisteredServer[]): Promise<ReadonlyMap<string, FailedAttempt>> {
    const { store, clock } = this.#options;
    const found = new Map<string, FailedAttempt>();
    if (servers.length === 0) return found;
    // That the store cannot be opened is told elsewhere.
    const stored = await store.read(({ failures }) => failures.list(), []).catch(() => []);
    for (const failure of stored) {
      const { serverName, failedAt, code } = failure;
      const server = servers.find(({ config }) => config.name === serverName);
      if (server === undefined || !isAbout(failure, server) || !isErrorCode(code)) continue;
      const own = this.#seen.get(serverName);
      const state = stateAfterFailure(code);
      if ((own !== undefined && own.at >= failedAt) || !failedStates.has(state)) continue;
      found.set(serverName, {
        state,
        error: createError(code, failure.message, { serverName }),
        failedAt: Math.min(failedAt, clock.now()),
      });
    }
    return found;
  }

  /** Forgets what is known of a server that is no longer wanted. */
  async forget({ consentId, config: { name } }: RegisteredServer): Promise<void> {
    this.#unwritten.delete(name);
    const connectedAt = Number.MAX_SAFE_INTEGER;
    const ended = [{ consentId, serverName: name, connectedAt }];
    await this.#options.store.read(({ failures }) => failures.end(ended), undefined);
  }

  #note({ serverName, state, error, at }: ServerStateEvent): void {
    const { store, registry } = this.#options;
    if (state !== "connected" && !failedStates.has(state)) return;
    this.#seen.set(serverName, { state, error, at });
    if (registry.find(serverName)?.config.provenance.layer === "code") return;
    // Where there is no store, there is nothing in it to be ended.
    if (!store.isPersistent || (state === "connected" && !store.exists)) return;
    const isWaiting = this.#unwritten.size > 0;
    this.#unwritten.add(serverName);
    if (!isWaiting)
      store.writeLater("which servers failed", () => {
        const { failed, connected } = this.#take();
        return async ({ failures }) => {
          await failures.save(failed);
          await failures.end(connected);
        };
      });
  }

  #take() {
    const outcomes = [...this.#unwritten].flatMap((name) => {
      const server = this.#options.registry.find(name);
      const outcome = this.#seen.get(name);
      if (server === undefined || outcome === undefined) return [];
      const { consentId } = server;
      return [{ consentId, serverName: name, server, ...outcome }];
    });
    this.#unwritten.clear();
    return {
      connected: outcomes
        .filter(({ state }) => state === "connected")
        .map(({ consentId, serverName, at }) => ({ consentId, serverName, connectedAt: at })),
      failed: outcomes.flatMap(({ consentId, serverName, server, error, at }) =>
        error === undefined
          ? []
          : [
              {
                consentId,
                serverName,
                entry: entryOf(server),
                code: error.code,
                message: serverText(error.message, maxMessageLength),
                failedAt: at,
              },
            ],
      ),
    };
  }
}

function isAbout({ consentId, entry }: StoredFailure, server: RegisteredServer): boolean {
  return server.consentId === consentId && entryOf(server) === entry;
}

/** Names everything that the entry says; secrets count by the id beside it. */
function entryOf({ config }: RegisteredServer): string {
  return canonicalHash(toJson(config, { secrets: "mask" }));
}

function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(errorTable, code);
}
