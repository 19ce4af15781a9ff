import type { Dispatcher, Pool } from "undici";

import { loadOnce } from "../../async/load-once.ts";
import type { McpError } from "../../errors/mcp-error.ts";
import { judgeHost } from "./blocked-address.ts";
import type { HttpProxy } from "./choose-proxy.ts";
import {
  GuardedConnector,
  type Passage,
  type ResolveHost,
  directRoute,
  resolveWithSystem,
} from "./guarded-connector.ts";
import type { NetworkPolicy } from "./network-policy.ts";

export interface GuardedOrigin {
  readonly origin: string;
  readonly policy: NetworkPolicy;
  /** From the name to the end of the TLS handshake; `0` means no limit. */
  readonly connectTimeoutMs: number;
  readonly resolve?: ResolveHost | undefined;
  /** For messages. */
  readonly serverName?: string | undefined;
}

/** The connections to one origin, all of them opened by the network guard. */
export interface GuardedPools {
  create(options: Pool.Options): Dispatcher;
  /** Destroys every pool and ends connection attempts with `reason`. */
  destroy(reason: McpError): Promise<void>;
}

const loadUndici = loadOnce(
  async () =>
    await Promise.all([
      import("undici/lib/dispatcher/pool.js"),
      import("undici/lib/core/connect.js"),
    ]),
);

/**
 * What makes guarded connections along the way that `proxy` prescribes. It throws for an origin that
 * shows by itself that the policy forbids it; through a proxy that is all there is to judge, since the
 * proxy alone knows which address it dials. Everything is loaded on first use, and what proxies need
 * only when there is one: a command that speaks to no remote server pays for nothing.
 */
export async function loadGuardedPools(
  proxy: HttpProxy | undefined,
): Promise<(settings: GuardedOrigin) => GuardedPools> {
  const [[{ default: PoolClass }, { default: buildConnect }], proxying] = await Promise.all([
    loadUndici(),
    proxy === undefined ? undefined : import("./proxy-route.ts"),
  ]);

  return ({ origin, policy, connectTimeoutMs, resolve = resolveWithSystem, serverName }) => {
    const refusal = judgeHost(new URL(origin).hostname, policy, serverName);
    if (refusal !== undefined) throw refusal;
    const parts = { resolve, connect: buildConnect({ timeout: 0 }) };
    const passage: Passage =
      proxy === undefined || proxying === undefined
        ? { origin, route: directRoute(policy, parts) }
        : proxying.proxyPassage(origin, proxy, parts);
    const connector = new GuardedConnector(passage.route, connectTimeoutMs);
    const pools: Pool[] = [];
    return {
      create(options) {
        const pool = new PoolClass(passage.origin, { ...options, connect: connector.connect });
        pools.push(pool);
        return passage.interceptor === undefined ? pool : pool.compose(passage.interceptor);
      },
      async destroy(reason) {
        await Promise.all(pools.map((pool) => pool.destroy()));
        // A destroyed pool leaves connection attempts to their timeout, which would hold the process.
        connector.cancel(reason);
      },
    };
  };
}
