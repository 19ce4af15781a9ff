import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";

import type { ServerConfig } from "../config/keys/server-config.ts";
import { parseServerEntry } from "../config/parse/parse-config.ts";
import { McpError } from "../errors/mcp-error.ts";
import type { RequestStream, SendOptions } from "../protocol/wire/channel-transport.ts";
import type { HostTransport, TransportEvidence } from "./host-transport.ts";

/**
 * A `Transport` of the SDK, made elsewhere, as the host expects its own. It knows neither the text of
 * its messages nor how to read more slowly, and the stream of a request ends by a signal.
 */
export function adoptTransport(transport: Transport, serverName: string): HostTransport {
  return new AdoptedTransport(transport, serverName);
}

class AdoptedTransport implements HostTransport {
  readonly kind = "memory";
  readonly evidence: TransportEvidence;
  readonly #transport: Transport;
  #onmessage: HostTransport["onmessage"];

  constructor(transport: Transport, serverName: string) {
    this.#transport = transport;
    this.evidence = { target: serverName, junkMessages: 0 };
  }

  get onmessage(): HostTransport["onmessage"] {
    return this.#onmessage;
  }

  /** What the SDK passes beside a message is left out: the text of a message would be in its place. */
  set onmessage(handler: HostTransport["onmessage"]) {
    this.#onmessage = handler;
    this.#transport.onmessage = (message) => this.#onmessage?.(message);
  }

  get onclose(): HostTransport["onclose"] {
    return this.#transport.onclose;
  }

  set onclose(handler: HostTransport["onclose"]) {
    this.#transport.onclose = handler;
  }

  get onerror(): HostTransport["onerror"] {
    return this.#transport.onerror;
  }

  set onerror(handler: HostTransport["onerror"]) {
    this.#transport.onerror = handler;
  }

  /** A transport made elsewhere has only ended, unless it says why in the host's own terms. */
  get failure(): McpError | undefined {
    const { failure } = this.#transport as { readonly failure?: unknown };
    return McpError.is(failure) ? failure : undefined;
  }

  get hasPerRequestStream(): boolean {
    return this.#transport.hasPerRequestStream === true;
  }

  start(): Promise<void> {
    return this.#transport.start();
  }

  send(message: JSONRPCMessage, options?: SendOptions): Promise<void> {
    const { stream, headers } = options ?? {};
    if (stream === undefined) return this.#transport.send(message);
    const requestSignal = signalOf(stream);
    return this.#transport.send(message, { requestSignal, ...(headers && { headers }) });
  }

  close(): Promise<void> {
    return this.#transport.close();
  }

  setProtocolVersion(version: string): void {
    this.#transport.setProtocolVersion?.(version);
  }
}

/** A signal that is aborted together with the stream. */
function signalOf(stream: RequestStream): AbortSignal {
  const controller = new AbortController();
  stream.listener = { onAbort: () => controller.abort() };
  if (stream.isAborted) controller.abort();
  return controller.signal;
}

export function isTransport(value: object): value is Transport {
  return (
    "start" in value &&
    typeof value.start === "function" &&
    "send" in value &&
    typeof value.send === "function"
  );
}

/** The entry of a server that is reached through a transport made elsewhere. */
export function adoptedConfig(name: string): ServerConfig {
  const base = parseServerEntry(name, { enabled: false }, { provenance: { layer: "code" } });
  return Object.freeze({ ...base, enabled: true, transport: { kind: "memory" as const } });
}
