import type { Transport } from "@modelcontextprotocol/client";

import type { TransportKind } from "../config/keys/server-config.ts";
import type { McpError } from "../errors/mcp-error.ts";
import type { OutputCause } from "./reading/output-cause.ts";

/**
 * A transport the host opened itself. Beyond the SDK's interface it can say why it ended and what it
 * saw, so that an error can name the exit code and the last lines of stderr.
 */
export interface HostTransport extends Transport {
  readonly kind: TransportKind;
  /** Why the connection ended by itself; undefined while it is open and after `close()`. */
  readonly failure: McpError | undefined;
  readonly evidence: TransportEvidence;
  /** Looks for the reason of a failure in what the process printed. */
  findCause?(): PrintedCause | undefined;
  /** Wants `SendOptions.stream` of a request and no signal. */
  readonly takesStreams?: boolean | undefined;
  /** Called while a message is being delivered that is dropped because too many come. */
  slowDown?(): void;
  /** The text of the message that `onmessage` is being called with, where it was the whole text. */
  readonly messageText?: string | undefined;
}

/** The reason a process gave, and where it did. */
export interface PrintedCause extends OutputCause {
  readonly stream: "stdout" | "stderr";
}

/** What a transport observed, for error messages and `logs`; grows while the transport lives. */
export interface TransportEvidence {
  /** `command args…` or the URL, without secrets. */
  readonly target: string;
  readonly pid?: number | undefined;
  readonly exitCode?: number | null | undefined;
  readonly signal?: string | null | undefined;
  /** The last complete lines the process wrote to stderr: neutralized, redacted, bounded. */
  readonly stderrTail?: readonly string[] | undefined;
  /** The first lines on stdout that were no JSON-RPC message, as safe to show. */
  readonly stdoutHead?: readonly string[] | undefined;
  /** Lines on stdout (or events) that were no JSON-RPC message. */
  readonly junkMessages: number;
  readonly sessionId?: string | undefined;
}
