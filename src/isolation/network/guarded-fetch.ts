import { until } from "../../async/stop.ts";
import type { Environment } from "../../config/variables/reference-values.ts";
import { createError } from "../../errors/families.ts";
import { McpError } from "../../errors/mcp-error.ts";
import type { Clock } from "../../ports/clock.ts";
import { chooseProxy } from "./choose-proxy.ts";
import {
  type DocumentRequest,
  type Fail,
  type FetchedDocument,
  fetchDocument,
  firstOf,
} from "./fetch-document.ts";
import type { ResolveHost } from "./guarded-connector.ts";
import { loadGuardedPools } from "./guarded-pools.ts";
import { judgeRedirect } from "./judge-redirect.ts";
import type { NetworkPolicy } from "./network-policy.ts";

const maxRedirects = 3;
const maxHeaderBytes = 16 * 1_024;
const redirectStatuses: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

export interface GuardedFetchOptions extends DocumentRequest {
  readonly policy: NetworkPolicy;
  /** The host's environment, which may name a proxy. */
  readonly hostEnv: Environment;
  /** For all of it, redirects included. */
  readonly totalTimeoutMs: number;
  readonly clock: Clock;
  readonly signal?: AbortSignal;
  /** For messages. */
  readonly serverName?: string;
  readonly resolve?: ResolveHost;
}

/**
 * Fetches one small document over guarded connections of its own, whatever its status. A GET follows
 * up to three redirects within its origin; the redirect of any other method is returned like any answer,
 * since its body must not go anywhere else. Throws an `McpError` for everything that is no answer.
 */
export async function guardedFetch(
  url: URL,
  options: GuardedFetchOptions,
): Promise<FetchedDocument> {
  const { policy, idleTimeoutMs, resolve, serverName, signal } = options;
  const isPlain = url.username === "" && url.password === "";
  if (!isPlain || (url.protocol !== "http:" && url.protocol !== "https:"))
    throw createError("blocked_address", "refused an address that is not plain http: or https:", {
      serverName,
    });
  const proxy = chooseProxy(url, options.hostEnv);
  const createPools = await loadGuardedPools(proxy);
  const reach = { origin: url.origin, policy, resolve, serverName };
  const pools = createPools({ ...reach, connectTimeoutMs: idleTimeoutMs });
  const pool = pools.create({ connections: 1, pipelining: 1, maxHeaderSize: maxHeaderBytes });
  const fail: Fail = (code, problem, more) =>
    createError(code, `${url.host} ${problem}`, { ...more, serverName });

  const fetchFollowing = async (): Promise<FetchedDocument> => {
    let at = url;
    for (let steps = 0; steps <= maxRedirects; steps += 1) {
      const document = await fetchDocument(at, options, pool, fail);
      if (options.method !== "GET" || !redirectStatuses.has(document.status)) return document;
      const location = firstOf(document.headers["location"]);
      const next = judgeRedirect({ from: at, location, policy, serverName });
      if (McpError.is(next)) throw next;
      at = next;
    }
    throw fail("http_error", `redirects more than ${maxRedirects} times`);
  };

  try {
    return await until(fetchFollowing, {
      signals: [signal],
      cancelled: () => createError("cancelled", "the request was cancelled", { serverName }),
      clock: options.clock,
      afterMs: options.totalTimeoutMs,
      tooLate: () => fail("timeout", "did not answer in time"),
    });
  } finally {
    await pools.destroy(createError("closed", "the connection was closed"));
  }
}
