import { createError } from "../../errors/families.ts";
import type { McpError } from "../../errors/mcp-error.ts";
import { truncate } from "../../text/truncate.ts";
import type { PrintedCause, TransportEvidence } from "../host-transport.ts";

export interface ServerLoss {
  readonly serverName: string;
  readonly evidence: TransportEvidence;
  /** Why it ended, as far as the process said so. */
  readonly cause: PrintedCause | undefined;
  /** How long the process ran; undefined while it still does. */
  readonly afterMs: number | undefined;
  readonly hasReceived: boolean;
  /** What a process that still runs has closed. */
  readonly closedPipe: "input" | "output";
}

const maxSummaryChars = 200;

/** The end of a server that nobody asked for, in the words of what was observed. */
export function serverLoss({ evidence, cause: printedCause, ...loss }: ServerLoss): McpError {
  const { serverName, afterMs, hasReceived, closedPipe } = loss;
  const { target, exitCode, signal, stderrTail } = evidence;
  const details = {
    transport: "stdio",
    command: target,
    exitCode,
    signal,
    stderrTail,
    printedCause,
  };
  if (afterMs === undefined)
    return createError("connection_lost", `the server closed its ${closedPipe} without stopping`, {
      serverName,
      details,
    });
  const ended = `the server stopped ${exitText({ exitCode, signal, afterMs })}`;
  const error = createError("connection_lost", withCause(ended, printedCause), {
    serverName,
    details: { ...details, afterMs: Math.round(afterMs), ended },
  });
  return hasReceived ? error : asStartExit(error);
}

/**
 * The loss of a server that was still being connected, as a failed start: whether it had said something
 * by then makes no difference to whoever waits for it. Any other error stays as it is.
 */
export function asStartExit(error: McpError): McpError {
  const { code, serverName, details } = error;
  const { exitCode, signal, afterMs } = details;
  if (code !== "connection_lost" || typeof afterMs !== "number") return error;
  const ended = `the server stopped during start ${exitText({ exitCode, signal, afterMs })}`;
  const cause = printedCauseOf(error);
  return createError("start_exit", withCause(ended, cause), {
    serverName,
    details: { ...details, ended },
    hint: cause?.advice ?? "run the command by hand to see what it does",
    cause: error,
  });
}

/** What the process said about its end, if it said anything. */
export function printedCauseOf({ details }: McpError): PrintedCause | undefined {
  return details["printedCause"] as PrintedCause | undefined;
}

/** A sentence about a process with the reason that it gave. */
export function withCause(sentence: string, cause: PrintedCause | undefined): string {
  return cause === undefined
    ? sentence
    : `${sentence}: ${truncate(cause.summary, maxSummaryChars)}`;
}

interface Exit {
  readonly exitCode: unknown;
  readonly signal: unknown;
  readonly afterMs: number;
}

/** `(exit code 1 after 0.8 s)` */
function exitText({ exitCode, signal, afterMs }: Exit): string {
  const how = typeof signal === "string" ? `signal ${signal}` : `exit code ${String(exitCode)}`;
  return `(${how} after ${(afterMs / 1_000).toFixed(1)} s)`;
}
