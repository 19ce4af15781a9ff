import { lookup } from "node:dns/promises";
import { type Socket, isIP } from "node:net";

import type { Dispatcher, buildConnector } from "undici";

import { untilAborted } from "../../async/until-aborted.ts";
import { longestTimerMs } from "../../ports/clock.ts";
import { judgeAddresses, judgeHost } from "./blocked-address.ts";
import { dialAddresses } from "./dial-addresses.ts";
import { type NetworkPolicy, hostKind, withoutBrackets } from "./network-policy.ts";
import { allowPausing } from "./paused-reads.ts";

/** Every address of a name, both families. */
export type ResolveHost = (hostname: string) => Promise<readonly string[]>;

/** As every other program on this machine resolves names, `/etc/hosts` included. */
export const resolveWithSystem: ResolveHost = async (hostname) => {
  const found = await lookup(hostname, { all: true, order: "verbatim" });
  return found.map(({ address }) => address);
};

/** One way to reach a target: directly, or through a proxy. Rejects when `signal` is aborted. */
export type Route = (target: buildConnector.Options, signal: AbortSignal) => Promise<Socket>;

/** What every route is made of. */
export interface RouteParts {
  readonly resolve: ResolveHost;
  /** undici's own connector, with no timeout of its own. */
  readonly connect: buildConnector.connector;
}

/** How requests for an origin travel. */
export interface Passage {
  /** Whom the connections are to. */
  readonly origin: string;
  readonly route: Route;
  /** What is done to each request on its way. */
  readonly interceptor?: Dispatcher.DispatcherComposeInterceptor;
}

/**
 * Resolves the name once, judges every address, and dials only what was judged: a name that means
 * something else a moment later gains nothing. One forbidden address refuses the name as a whole,
 * because no honest name mixes them.
 */
export function directRoute(policy: NetworkPolicy, { resolve, connect }: RouteParts): Route {
  return async (target, signal) => {
    const refusal = judgeHost(target.hostname, policy);
    if (refusal !== undefined) throw refusal;
    const addresses = fixedAddresses(target.hostname);
    if (addresses !== undefined) return await dialAddresses(addresses, target, connect, signal);
    // Resolving itself cannot be stopped: an answer that comes after the end is dropped.
    const found = await untilAborted(resolve(target.hostname), signal);
    if (found.length === 0) throw systemError("ENOTFOUND");
    const refused = judgeAddresses(target.hostname, found, policy);
    if (refused !== undefined) throw refused;
    return await dialAddresses(found, target, connect, signal);
  };
}

/** Opens the connections of a pool along one route, each within `timeoutMs` from name to TLS. */
export class GuardedConnector {
  readonly #route: Route;
  readonly #timeoutMs: number;
  readonly #attempts = new Set<AbortController>();

  /** `timeoutMs` of `0` means no limit. */
  constructor(route: Route, timeoutMs: number) {
    this.#route = route;
    this.#timeoutMs = Math.min(timeoutMs, longestTimerMs);
  }

  /** For undici's `connect` option. */
  readonly connect: buildConnector.connector = (target, callback) => {
    const attempt = new AbortController();
    const giveUp = (): void => attempt.abort(systemError("ETIMEDOUT"));
    const timer = this.#timeoutMs > 0 ? setTimeout(giveUp, this.#timeoutMs).unref() : undefined;
    const settle = (...result: Parameters<typeof callback>): void => {
      clearTimeout(timer);
      this.#attempts.delete(attempt);
      callback(...result);
    };
    this.#attempts.add(attempt);
    this.#route(target, attempt.signal).then(
      (socket) => settle(null, letProcessEnd(stopAtOverflow(allowPausing(socket)))),
      (error: Error) => settle(error, null),
    );
  };

  /** Ends the attempts under way with `reason`; connections that are open stay so. */
  cancel(reason: Error): void {
    for (const attempt of this.#attempts) attempt.abort(reason);
  }
}

/**
 * A connection does not keep the process alive, whatever is open on it: a stream of news may stay open for ever. Whoever
 * waits for an answer holds the process. undici calls `ref` for every request.
 */
function letProcessEnd(socket: Socket): Socket {
  socket.unref();
  socket.ref = () => socket;
  return socket;
}

/** What needs no resolving: addresses, and the names that mean this machine. */
function fixedAddresses(hostname: string): readonly string[] | undefined {
  const host = withoutBrackets(hostname);
  if (isIP(host) !== 0) return [host];
  return hostKind(host) === "loopback" ? ["127.0.0.1", "::1"] : undefined;
}

/** In the form the system reports it, so that one place words all of them. */
function systemError(code: "ENOTFOUND" | "ETIMEDOUT"): Error {
  return Object.assign(new Error(code), { code });
}

/**
 * Makes undici's parser stop at once when the head of a response is too large. By itself it destroys the connection
 * and goes on through the bytes it holds, with a new error for every header in them: thousands of tiny ones held the
 * loop for 70 ms. What is thrown here ends the parsing, and undici takes it for the end of the connection it is.
 */
export function stopAtOverflow(socket: Socket): Socket {
  const destroy = socket.destroy.bind(socket);
  socket.destroy = (error?: NodeJS.ErrnoException): Socket => {
    destroy(error);
    if (error?.code === "UND_ERR_HEADERS_OVERFLOW") throw error;
    return socket;
  };
  return socket;
}
