import type { Socket } from "node:net";

import type { Dispatcher, Pool, buildConnector } from "undici";

import { createError } from "../errors/families.ts";

/** Calls beyond this many at once wait for a free connection to the same origin. */
const maxCallConnections = 64;
const maxHeaderBytes = 16 * 1_024;

export interface OriginSettings {
  readonly origin: string;
  readonly connectTimeoutMs: number;
}

/** One user's share of the connections to an origin. */
export interface OriginLease {
  /** For calls; bounded. */
  readonly calls: Dispatcher;
  /**
   * For what must neither wait behind calls nor take one of their connections: streams that stay
   * open, and messages that a waiting call may depend on (answers to the server, cancellations).
   */
  readonly streams: Dispatcher;
  /** Idempotent; the last user's release destroys every connection. */
  release(): Promise<void>;
}

interface Origin {
  readonly calls: Pool;
  readonly streams: Pool;
  readonly connecting: Set<Socket>;
  users: number;
}

/** Servers on one origin share its connections; the last one to leave closes them. */
export class OriginPools {
  readonly #origins = new Map<string, Origin>();

  async acquire(settings: OriginSettings): Promise<OriginLease> {
    const createOrigin = await loadOriginFactory();
    const key = `${settings.origin} ${settings.connectTimeoutMs}`;
    let origin = this.#origins.get(key);
    if (origin === undefined) {
      origin = createOrigin(settings);
      this.#origins.set(key, origin);
    }
    origin.users += 1;
    return this.#lease(key, origin);
  }

  #lease(key: string, origin: Origin): OriginLease {
    let released: Promise<void> | undefined;
    const release = async (): Promise<void> => {
      origin.users -= 1;
      if (origin.users > 0) return;
      this.#origins.delete(key);
      await destroyOrigin(origin);
    };
    return {
      calls: origin.calls,
      streams: origin.streams,
      release: () => (released ??= release()),
    };
  }
}

/** The connections of this process. */
export const originPools = new OriginPools();

/** Loaded on first use: a command that speaks to no remote server never pays for it. */
async function loadOriginFactory(): Promise<(settings: OriginSettings) => Origin> {
  const [{ default: PoolClass }, { default: buildConnect }] = await Promise.all([
    import("undici/lib/dispatcher/pool.js"),
    import("undici/lib/core/connect.js"),
  ]);
  // Every connection to a server is opened here and nowhere else: what judges addresses goes here.
  return ({ origin, connectTimeoutMs }) => {
    const connecting = new Set<Socket>();
    const connect = cancellable(buildConnect({ timeout: connectTimeoutMs }), connecting);
    // One request per connection at a time: a request is never written behind another one, so none
    // is ever sent again because its neighbour failed.
    const options = { connect, pipelining: 1, maxHeaderSize: maxHeaderBytes };
    return {
      calls: new PoolClass(origin, { ...options, connections: maxCallConnections }),
      streams: new PoolClass(origin, options),
      connecting,
      users: 0,
    };
  };
}

async function destroyOrigin({ calls, streams, connecting }: Origin): Promise<void> {
  await Promise.all([calls.destroy(), streams.destroy()]);
  // A destroyed pool leaves connection attempts to their timeout, which would hold the process.
  for (const socket of connecting)
    socket.destroy(createError("closed", "the connection was closed"));
}

function cancellable(
  connect: buildConnector.connector,
  connecting: Set<Socket>,
): buildConnector.connector {
  // The declared type hides that undici's connector returns the socket it is opening.
  const open = connect as (...args: Parameters<typeof connect>) => Socket;
  return (options, callback) => {
    const socket = open(options, (...result) => {
      connecting.delete(socket);
      callback(...result);
    });
    connecting.add(socket);
  };
}
