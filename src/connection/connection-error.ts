import { type ServerConfig, definitionOf } from "../config/keys/server-config.ts";
import type { ErrorCode } from "../errors/error-codes.ts";
import { createError } from "../errors/families.ts";
import { McpError } from "../errors/mcp-error.ts";
import type { ServerState } from "../events/host-event.ts";
import type { HostTransport } from "../transport/host-transport.ts";
import { asStartExit, withCause } from "../transport/stdio/server-loss.ts";

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
    ...(evidence?.stdoutHead?.length ? { stdoutHead: evidence.stdoutHead } : {}),
    ...(evidence?.logFile === undefined ? {} : { logFile: evidence.logFile }),
  };
  return createError(error.code, error.message, {
    serverName: config.name,
    details: { ...found, ...error.details },
    hint: error.hint,
    retryable: error.retryable,
    cause: error,
  });
}

/** Describes the failure of a connection that was not ready yet: a process that ended is a start that failed. */
export function describeStartFailure(
  cause: unknown,
  config: ServerConfig,
  transport?: HostTransport,
): McpError {
  if (!McpError.is(cause)) return describeFailure(cause, config, transport);
  return describeFailure(explainSilence(asStartExit(cause), transport), config, transport);
}

/** Adds the reason that a silent process printed, on either stream, to the error of its timeout. */
function explainSilence(error: McpError, transport: HostTransport | undefined): McpError {
  const { code, serverName, details, message } = error;
  if (code !== "start_timeout" && code !== "timeout") return error;
  const cause = transport?.findCause?.();
  if (cause === undefined) return error;
  const { unanswered } = details;
  const isText = cause.stream === "stdout" && typeof unanswered === "string";
  const sentence = isText ? unanswered : message;
  // Other lines, such as a greeting, are shown as they are and explain nothing.
  const isNamed = cause.kind !== "output";
  return createError(code, isNamed ? withCause(sentence, cause) : sentence, {
    serverName,
    details: { ...details, printedCause: cause },
    hint: isNamed ? cause.advice : error.hint,
    cause: error,
  });
}

/** The states after failures. No retry mends a failure that is not listed: the server is in `error`. */
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
