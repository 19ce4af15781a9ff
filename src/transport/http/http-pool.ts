import type { Dispatcher } from "undici";

import type { Environment } from "../../config/variables/reference-values.ts";
import { createError } from "../../errors/families.ts";
import { chooseProxy } from "../../isolation/network/choose-proxy.ts";
import type { ResolveHost } from "../../isolation/network/guarded-connector.ts";
import { type GuardedPools, loadGuardedPools } from "../../isolation/network/guarded-pools.ts";
import type { NetworkPolicy } from "../../isolation/network/network-policy.ts";

/**
 * Calls beyond this many at once wait for a free connection to the same origin. Servers that bound the
 * connections of one client, as our own listener does at 50, still have room for streams.
 */
const maxCallConnections = 40;
/** A caller that gives up cancels many calls at once, and nobody waits for a cancellation to arrive. */
const maxCancellationConnections = 4;
const maxHeaderBytes = 16 * 1_024;

export interface OriginSettings {
  readonly origin: string;
  readonly connectTimeoutMs: number;
  /** What the connections may reach; made for the URL whose origin this is. */
  readonly policy: NetworkPolicy;
  /** The host's environment, which may name a proxy. */
  readonly hostEnv: Environment;
  /** For messages; servers of different names share connections all the same. */
  readonly serverName: string;
}

/** The pools of an origin's connections, by what they are for; see `OriginLease`. */
export type PoolName = "calls" | "streams" | "cancellations";

/** One user's share of the connections to an origin. */
export interface OriginLease {
  /** For calls; bounded. */
  readonly calls: Dispatcher;
  /**
   * For what must neither wait behind calls nor take one of their connections: streams that stay
   * open, and answers to the server, which a waiting call may depend on.
   */
  readonly streams: Dispatcher;
  /** For the messages that cancel requests, which must not wait behind them either; bounded. */
  readonly cancellations: Dispatcher;
  /** Idempotent; the last user's release destroys every connection. */
  release(): Promise<void>;
}

interface Origin {
  readonly calls: Dispatcher;
  readonly streams: Dispatcher;
  readonly cancellations: Dispatcher;
  readonly pools: GuardedPools;
  users: number;
}

/**
 * Servers on one origin share its connections; the last one to leave closes them. Those that may not
 * reach the same addresses, or not by the same proxy, never share any.
 */
export class OriginPools {
  readonly #origins = new Map<string, Origin>();
  readonly #resolve: ResolveHost | undefined;

  constructor(options: { readonly resolve?: ResolveHost } = {}) {
    this.#resolve = options.resolve;
  }

  /** Throws `blocked_address` for an origin that needs no resolving to be refused. */
  async acquire(settings: OriginSettings): Promise<OriginLease> {
    const { origin: target, connectTimeoutMs, policy } = settings;
    const proxy = chooseProxy(new URL(target), settings.hostEnv);
    const createPools = await loadGuardedPools(proxy);
    const key = JSON.stringify([
      target,
      connectTimeoutMs,
      [policy.namedBy, policy.loopback, policy.privateNetwork],
      [proxy?.url.origin, proxy?.authorization],
    ]);
    let origin = this.#origins.get(key);
    if (origin === undefined) {
      origin = openOrigin(createPools({ ...settings, resolve: this.#resolve }));
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
      await origin.pools.destroy(createError("closed", "the connection was closed"));
    };
    return {
      calls: origin.calls,
      streams: origin.streams,
      cancellations: origin.cancellations,
      release: () => (released ??= release()),
    };
  }
}

/** The connections of this process. */
export const originPools = new OriginPools();

function openOrigin(pools: GuardedPools): Origin {
  // One request per connection at a time: a request is never written behind another one, so none is
  // ever sent again because its neighbour failed.
  const options = { pipelining: 1, maxHeaderSize: maxHeaderBytes };
  return {
    calls: pools.create({ ...options, connections: maxCallConnections }),
    streams: pools.create(options),
    cancellations: pools.create({ ...options, connections: maxCancellationConnections }),
    pools,
    users: 0,
  };
}
