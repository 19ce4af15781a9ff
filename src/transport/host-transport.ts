import type { TransportKind } from "../config/keys/server-config.ts";
import type { McpError } from "../errors/mcp-error.ts";
import type { ChannelTransport } from "../protocol/wire/channel-transport.ts";
import type { OutputCause } from "./reading/output-cause.ts";

/**
 * A transport of the host. Beyond what the protocol needs, it tells what it saw of the server, so that
 * an error can name the exit code and the last lines of stderr.
 */
export interface HostTransport extends ChannelTransport {
  readonly kind: TransportKind;
  readonly failure: McpError | undefined;
  readonly evidence: TransportEvidence;
  /** What the server was given and nobody else may see, tokens that are renewed included; it changes while it lives. */
  readonly masked?: MaskedValues | undefined;
  /** The id of the server's process while it runs. */
  readonly pid?: number | undefined;
  /** The id that a Streamable HTTP server gave its session. */
  readonly sessionId?: string | undefined;
  /** Looks for the reason of a failure in what the process printed. */
  findCause?(): PrintedCause | undefined;
}

/** Values to be masked wherever they come back; `credentials` are masked in definitions of tools as well. */
export interface MaskedValues {
  readonly secrets: readonly string[];
  readonly credentials: readonly string[];
}

/** The reason a process gave, and where it did. */
export interface PrintedCause extends OutputCause {
  readonly stream: "stdout" | "stderr";
}

/** What was printed and could not be kept, in lines as far as they were counted and in bytes beyond that. */
export interface OmittedOutput {
  readonly lines: number;
  readonly bytes: number;
}

/** Takes what a process tells people, to keep it. Its methods must not throw, and nothing waits for them. */
export interface ProcessOutput {
  /** The file where it is kept. */
  readonly file: string;
  /**
   * Takes lines of stderr: neutralized, redacted, bounded. `omitted` was printed before them, faster than it can be
   * kept.
   */
  printed(lines: readonly string[], omitted: OmittedOutput): void;
  /** Takes the end of a process that was running until it was stopped. */
  stopped(end: { readonly exitCode: number | null; readonly signal: string | null }): void;
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
  /** The file that has more of what the process printed, where that is kept. */
  readonly logFile?: string | undefined;
  /** Lines on stdout (or events) that were no JSON-RPC message. */
  readonly junkMessages: number;
  readonly sessionId?: string | undefined;
}
