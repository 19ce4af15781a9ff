import { type ServerConfig, definitionOf } from "../config/server-config.ts";
import type { ErrorCode } from "../errors/error-codes.ts";
import { createError } from "../errors/families.ts";
import { McpError } from "../errors/mcp-error.ts";
import type { ServerState } from "../events/host-event.ts";
import type { HostTransport } from "../transport/host-transport.ts";
import { asStartExit } from "../transport/server-loss.ts";

/**
 * A failure of a connection with the facts a person needs to mend it: which server, where it is
 * defined, what was started, what it printed. Facts the error already carries stay as they are.
 */
export function describeFailure(
  cause: unknown,
  config: ServerConfig,
  transport?: HostTransport,
): McpError {
  const error = McpError.is(cause)
    ? cause
    : createError("connection_lost", "the connection failed unexpectedly", { cause });
  const evidence = transport?.evidence;
  const found = {
    transport: config.transport.kind,
    ...definitionOf(config.provenance),
    ...(evidence === undefined ? {} : { target: evidence.target }),
    ...(evidence?.stderrTail?.length ? { stderrTail: evidence.stderrTail } : {}),
  };
  return createError(error.code, error.message, {
    serverName: config.name,
    details: { ...found, ...error.details },
    hint: error.hint,
    retryable: error.retryable,
    cause: error,
  });
}

/** The same for a connection that was not ready yet: a process that ended is a start that failed, at any moment. */
export function describeStartFailure(
  cause: unknown,
  config: ServerConfig,
  transport?: HostTransport,
): McpError {
  return describeFailure(McpError.is(cause) ? asStartExit(cause) : cause, config, transport);
}

/** What is not listed no retry mends without a change: the server is in `error`. */
const statesAfter: Partial<Record<ErrorCode, ServerState>> = {
  auth_required: "needs_auth",
  not_approved: "pending",
  server_disabled: "disabled",
  cancelled: "idle",
  closed: "idle",
  unreachable: "disconnected",
  connection_lost: "disconnected",
  start_exit: "disconnected",
  start_timeout: "disconnected",
  timeout: "disconnected",
  http_error: "disconnected",
};

/** The state a server is left in by a failure of its connection. */
export function stateAfterFailure(code: ErrorCode): ServerState {
  return statesAfter[code] ?? "error";
}
