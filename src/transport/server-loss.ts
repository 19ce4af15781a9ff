import { createError } from "../errors/families.ts";
import type { McpError } from "../errors/mcp-error.ts";
import type { TransportEvidence } from "./host-transport.ts";

export interface ServerLoss {
  readonly serverName: string;
  readonly evidence: TransportEvidence;
  /** How long the process ran; undefined while it still does. */
  readonly afterMs: number | undefined;
  readonly hasReceived: boolean;
  /** What a process that still runs has closed. */
  readonly closedPipe: "input" | "output";
}

/** The end of a server that nobody asked for, in the words of what was observed. */
export function serverLoss({ evidence, ...loss }: ServerLoss): McpError {
  const { serverName, afterMs, hasReceived, closedPipe } = loss;
  const { target, exitCode, signal, stderrTail } = evidence;
  const details = { transport: "stdio", command: target, exitCode, signal, stderrTail };
  if (afterMs === undefined)
    return createError("connection_lost", `the server closed its ${closedPipe} without stopping`, {
      serverName,
      details,
    });
  const exit = { ...details, afterMs: Math.round(afterMs) };
  const message = `the server stopped ${exitText(exit)}`;
  const error = createError("connection_lost", message, { serverName, details: exit });
  return hasReceived ? error : asStartExit(error);
}

/**
 * The loss of a server that was still being connected, as a failed start: whether it had said something
 * by then makes no difference to whoever waits for it. Any other error stays as it is.
 */
export function asStartExit(error: McpError): McpError {
  const { code, serverName, details } = error;
  if (code !== "connection_lost" || typeof details["afterMs"] !== "number") return error;
  return createError("start_exit", `the server stopped during start ${exitText(details)}`, {
    serverName,
    details,
    hint: "its last lines on stderr usually say why; run the command by hand to see them all",
    cause: error,
  });
}

/** `(exit code 1 after 0.8 s)` */
function exitText({ exitCode, signal, afterMs }: McpError["details"]): string {
  const how = typeof signal === "string" ? `signal ${signal}` : `exit code ${String(exitCode)}`;
  return `(${how} after ${(Number(afterMs) / 1_000).toFixed(1)} s)`;
}
