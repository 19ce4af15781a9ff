import type { Transport, TransportSendOptions } from "@modelcontextprotocol/client";

import type { Limits } from "../../config/keys/limits.ts";
import { createError } from "../../errors/families.ts";
import { McpError } from "../../errors/mcp-error.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Logger } from "../../ports/logger.ts";

/** What a transport is told about a message. One that was made elsewhere looks at the SDK's members only. */
export interface SendOptions extends TransportSendOptions {
  /** The JSON of the message, where it is known already. */
  readonly text?: string | undefined;
  /** The stream of a request, in place of `requestSignal`, for a transport that takes it. */
  readonly stream?: RequestStream | undefined;
}

/**
 * The stream of a single request, for the transport that opens it. It does what an `AbortSignal` does,
 * whose making and hearing is a noticeable part of a whole HTTP call.
 */
export class RequestStream {
  /** Called once, when the stream is no longer wanted. */
  listener: { handleEvent(): void } | undefined;
  /** The listener sets it when nothing of the request had left, so that the server has never heard of it. */
  isUnsent = false;
  #isAborted = false;

  get isAborted(): boolean {
    return this.#isAborted;
  }

  abort(): void {
    if (this.#isAborted) return;
    this.#isAborted = true;
    this.listener?.handleEvent();
  }
}

/** Why a transport ended by itself. A host's knows; any other has only ended. */
export function endFailure(transport: Transport, serverName: string): McpError {
  const { failure } = transport as { readonly failure?: unknown };
  if (McpError.is(failure)) return failure;
  return createError("connection_lost", "the server closed the connection", { serverName });
}

/** The text of the message that is being delivered. A host's transport may know; any other does not. */
export function messageTextOf(transport: Transport): string | undefined {
  const { messageText } = transport as { readonly messageText?: unknown };
  return typeof messageText === "string" ? messageText : undefined;
}

/** What ends the stream of one request. A host's transport takes a lighter thing than a signal. */
export function openStream(transport: Transport): RequestStream | AbortController {
  const { takesStreams } = transport as { readonly takesStreams?: unknown };
  return takesStreams === true ? new RequestStream() : new AbortController();
}

/** Tells a transport that what it reads at the moment is dropped; one that cannot slow down goes on. */
export function slowReading(transport: Transport): void {
  const { slowDown } = transport as { readonly slowDown?: unknown };
  if (typeof slowDown === "function") slowDown.call(transport);
}

export interface CloseOptions {
  readonly serverName: string;
  readonly limits: Limits;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Resolves when the transport has closed, with whatever success, or has had time enough. */
export function closeTransport(transport: Transport, options: CloseOptions): Promise<void> {
  const { clock, limits, logger, serverName } = options;
  return new Promise((resolve) => {
    // Ours keep to the grace by themselves; one handed over in code may never finish closing.
    const timer = clock.schedule(2 * limits.stopGraceMs, resolve);
    const closing = (async () => await transport.close())();
    closing
      .catch((error: unknown) =>
        logger.warn("the transport did not close cleanly", { serverName, error: String(error) }),
      )
      .finally(() => {
        timer.cancel();
        resolve();
      });
  });
}
