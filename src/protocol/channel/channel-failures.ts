import { createError } from "../../errors/families.ts";
import { McpError, type RpcError } from "../../errors/mcp-error.ts";
import { durationText } from "../../text/duration-text.ts";
import { isJsonObject, type JsonObject } from "../../text/json-object.ts";
import { maskSecrets } from "../../text/secrets/mask-secrets.ts";
import { serverText } from "../../text/untrusted/bounded-text.ts";
import type { RequestId } from "../wire/json-rpc.ts";

/** The request that failed, for the text and the details of an error. */
export interface Exchange {
  /** Undefined when no server took part. */
  readonly serverName: string | undefined;
  readonly method: string;
  /** Values that are masked in the error, even where the server wrote them. */
  readonly secrets?: readonly string[] | undefined;
}

/** The server's own error, `data` kept whole but for known secrets, its text made harmless. */
export function rpcFailure(
  error: RpcError,
  { serverName, method, secrets = [] }: Exchange,
): McpError {
  const safe = maskSecrets(error, secrets);
  const rpc: RpcError = { ...safe, message: serverText(safe.message, 2_000) };
  const reason = rpc.message === "" ? "" : `: ${serverText(rpc.message)}`;
  return createError("rpc_error", `${method} was answered with error ${rpc.code}${reason}`, {
    serverName,
    details: { method, rpc },
  });
}

/** An answer that breaks JSON-RPC itself. */
export function malformedAnswer(reason: string, { serverName, method }: Exchange): McpError {
  return createError("protocol_violation", `${method} got a malformed answer: ${reason}`, {
    serverName,
    details: { method, reason },
  });
}

/** An answer that is JSON-RPC but not what the method promises. */
export function invalidResult(
  reason: string,
  { serverName, method }: Exchange,
  details: JsonObject = {},
): McpError {
  return createError("invalid_result", `${method} got an unusable result: ${reason}`, {
    serverName,
    details: { method, reason, ...details },
  });
}

/** The error for a `start` of the transport that threw. */
export function startFailure(cause: unknown, serverName: string): McpError {
  if (McpError.is(cause)) return cause;
  return createError("unreachable", "the transport could not be opened", { serverName, cause });
}

/**
 * The error for a `send` of the transport that threw. Our transports throw typed errors already; a transport
 * handed over in code may be the SDK's, whose HTTP errors carry the status in `data`.
 */
export function sendFailure(cause: unknown, { serverName, method }: Exchange): McpError {
  if (McpError.is(cause)) return cause;
  const status = statusOf(cause);
  if (status === 401 || status === 403)
    return createError("auth_required", `the server answered ${method} with HTTP ${status}`, {
      serverName,
      details: { method, status },
      cause,
    });
  if (status !== undefined)
    return createError("http_error", `the server answered ${method} with HTTP ${status}`, {
      serverName,
      details: { method, status },
      cause,
    });
  return createError("connection_lost", `${method} could not be sent`, {
    serverName,
    details: { method },
    cause,
  });
}

function statusOf(cause: unknown): number | undefined {
  const data = cause instanceof Error && "data" in cause ? cause.data : undefined;
  const status = isJsonObject(data) ? data["status"] : undefined;
  return typeof status === "number" ? status : undefined;
}

/** An answer to no request of ours, where that is no longer tolerated. */
export function mismatchFailure(
  expected: readonly RequestId[],
  got: RequestId,
  serverName: string,
): McpError {
  const shown = expected.slice(0, 5).map((id) => JSON.stringify(id));
  const list = expected.length > shown.length ? `${shown.join(", ")}, …` : shown.join(" or ");
  const received = serverText(JSON.stringify(got), 60);
  return createError(
    "protocol_violation",
    `Response ID mismatch: expected ${list === "" ? "none" : list}, got ${received}`,
    { serverName, details: { expected: expected.slice(0, 5), got: received } },
  );
}

/** The error for a transport that closed by itself and does not say why. */
export function lostFailure(serverName: string): McpError {
  return createError("connection_lost", "the server closed the connection", { serverName });
}

export function closedFailure(serverName: string): McpError {
  return createError("closed", "the connection has been closed", { serverName });
}

export function cancelledFailure(method: string, serverName: string): McpError {
  return createError("cancelled", `${method} was cancelled`, { serverName, details: { method } });
}

/** The limit that a request has met. */
export interface Expiry {
  readonly limitMs: number;
  /** The time for the whole request is over, not the time for the next sign of life. */
  readonly isTotal: boolean;
}

export function timeoutFailure(
  { limitMs, isTotal }: Expiry,
  { serverName, method }: Exchange,
): McpError {
  const limit = durationText(limitMs);
  const message = isTotal
    ? `${method} did not finish within ${limit}, progress included`
    : `no answer to ${method} within ${limit}`;
  return createError("timeout", message, {
    serverName,
    details: { method, timeoutMs: limitMs, isTotal },
  });
}

/** The server sends notifications that nobody handles, and no answer. */
export function unhandledFailure(limit: number, serverName: string): McpError {
  return createError(
    "protocol_violation",
    `the server sent more than ${limit} notifications that nobody asked for instead of an answer`,
    { serverName, details: { limit } },
  );
}

/** The server itself ended a request that was meant to stay open. */
export function withdrawnFailure({ serverName, method }: Exchange): McpError {
  return createError("connection_lost", `the server ended ${method}`, {
    serverName,
    details: { method },
  });
}

/** A copy of the failure with further details. */
export function withDetails(error: McpError, details: JsonObject): McpError {
  return createError(error.code, error.message, {
    serverName: error.serverName,
    details: { ...error.details, ...details },
    hint: error.hint,
    retryable: error.retryable,
    cause: error,
  });
}
