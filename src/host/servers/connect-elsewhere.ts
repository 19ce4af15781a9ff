import { consentModes } from "../../policy/decide-consent.ts";
import type { RegisteredServer, ServerRegistry } from "../../registry/server-registry.ts";
import type { HostStore } from "../../store/host-store.ts";
import type { StoredConnectRequest } from "../../store/rows/connect-request-rows.ts";
import type { ConnectElsewhereOptions } from "../host.ts";
import type { ServerConnector } from "./connect-servers.ts";
import { noStore } from "./edit-errors.ts";

export interface ConnectRequestsOptions {
  readonly store: HostStore;
  readonly registry: ServerRegistry;
  readonly connector: Pick<ServerConnector, "connect" | "reconnect">;
}

/**
 * Requests to connect a server, which hosts leave in the store for all other hosts that share it. A host follows
 * those that are made while it runs, for a server that is defined for it as it is for the one that asked and that
 * may start. What becomes of the attempt is an event of the host that made it; nobody is told of it.
 */
export class ConnectRequests {
  readonly #options: ConnectRequestsOptions;
  /** The ids of requests that need no attention; undefined while the store could not be read. */
  #known: ReadonlySet<string> | undefined;
  readonly #own = new Set<string>();

  constructor(options: ConnectRequestsOptions) {
    this.#options = options;
  }

  async send(
    { config, consentId }: RegisteredServer,
    request: ConnectElsewhereOptions,
  ): Promise<void> {
    const { store } = this.#options;
    const { name: serverName } = config;
    if (!store.isPersistent) throw noStore(serverName);
    const content = { ...request };
    const id = await store.write((opened) =>
      opened.connectRequests.put({ consentId, serverName, content }),
    );
    if (id !== undefined) this.#own.add(id);
  }

  /** Notes which requests were made before this host runs: those are not followed. */
  async begin(): Promise<void> {
    this.#known = idsOf(await this.#list());
  }

  /** Follows the requests that were made since it was last called, without waiting for the connections. */
  async follow(): Promise<void> {
    const requests = await this.#list();
    const known = this.#known ?? idsOf(requests);
    this.#known = idsOf(requests);
    for (const request of requests)
      if (!known.has(request.id) && !this.#own.has(request.id)) this.#connect(request);
  }

  #connect({ consentId, serverName, content }: StoredConnectRequest): void {
    const { registry, connector } = this.#options;
    const options = readOptions(content);
    const server = registry.find(serverName);
    if (options === undefined || server?.consentId !== consentId) return;
    // Nobody is asked for approval here: whoever sent the request could not answer.
    if (registry.obstacle(server) !== undefined) return;
    const { reconnect = false, ...connect } = options;
    const attempt = reconnect
      ? connector.reconnect(serverName, connect)
      : connector.connect(serverName, connect);
    // The server's state tells why it failed.
    attempt.catch(() => undefined);
  }

  #list(): Promise<readonly StoredConnectRequest[]> {
    const none: readonly StoredConnectRequest[] = [];
    return this.#options.store.read(({ connectRequests }) => connectRequests.list(), none);
  }
}

function idsOf(requests: readonly StoredConnectRequest[]): ReadonlySet<string> {
  return new Set(requests.map(({ id }) => id));
}

/** Undefined for a request that is not understood as a whole: a part of it might allow more than was meant. */
function readOptions(
  content: StoredConnectRequest["content"],
): ConnectElsewhereOptions | undefined {
  const { reconnect, owner, shared, mode, ...others } = content;
  const knownMode = consentModes.find((known) => known === mode);
  const isUnderstood =
    Object.keys(others).length === 0 &&
    (reconnect === undefined || typeof reconnect === "boolean") &&
    (owner === undefined || typeof owner === "string") &&
    (shared === undefined || typeof shared === "boolean") &&
    (mode === undefined || knownMode !== undefined);
  return isUnderstood ? { reconnect, owner, shared, mode: knownMode } : undefined;
}
