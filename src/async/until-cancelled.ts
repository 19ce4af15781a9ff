import { createError } from "../errors/families.ts";
import type { McpError } from "../errors/mcp-error.ts";
import * as ports from "./until-aborted.ts";

/** `promise`, or `cancelled` as soon as `signal` aborts; the work behind the promise goes on. */
export function untilAborted<T>(
  promise: Promise<T>,
  signal: AbortSignal | undefined,
  serverName?: string,
): Promise<T> {
  if (signal === undefined) return promise;
  return ports.untilAborted(promise, signal, () => cancelledByCaller(serverName));
}

export function cancelledByCaller(serverName?: string): McpError {
  return createError("cancelled", "cancelled by the caller", { serverName });
}
