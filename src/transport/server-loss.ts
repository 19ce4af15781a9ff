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

  const how = typeof signal === "string" ? `signal ${signal}` : `exit code ${exitCode}`;
  const end = `(${how} after ${(afterMs / 1_000).toFixed(1)} s)`;
  const options = { serverName, details: { ...details, afterMs: Math.round(afterMs) } };
  if (hasReceived) return createError("connection_lost", `the server stopped ${end}`, options);
  const hint = "its last lines on stderr usually say why; run the command by hand to see them all";
  return createError("start_exit", `the server stopped during start ${end}`, { ...options, hint });
}
