import { randomUUID } from "node:crypto";

import type { JSONRPCMessage } from "@modelcontextprotocol/client";

import { createError } from "../errors/families.ts";
import type { McpError } from "../errors/mcp-error.ts";
import type { SendOptions } from "../protocol/wire/channel-transport.ts";
import type { RequestId } from "../protocol/wire/json-rpc.ts";
import { isJsonObject, type JsonObject } from "../text/json-object.ts";
import type { HostTransport, PrintedCause } from "../transport/host-transport.ts";

const maxRemembered = 10_000;

/** `uuid`, `counter` (1, 2, 3, …), or a function that never returns the same id twice. */
export type WireIdGenerator = "uuid" | "counter" | (() => string | number);

/** The ids of one wire, over all of its connections. */
export class WireIds {
  readonly #next: () => unknown;
  #last: RequestId = "";

  constructor(generator: WireIdGenerator = "uuid") {
    this.#next = generatorOf(generator);
  }

  /** The id of the request that was sent last. */
  get last(): RequestId {
    return this.#last;
  }

  /** Throws `config_invalid` when the generator returns what is no id, or one that was used before. */
  create(isUsed: (id: RequestId) => boolean): RequestId {
    const id = this.#next();
    if (typeof id !== "string" && !(typeof id === "number" && Number.isFinite(id)))
      throw wrongGenerator("must return a string or a number");
    if (isUsed(id)) throw wrongGenerator("returned an id that another request had");
    this.#last = id;
    return id;
  }
}

function generatorOf(generator: WireIdGenerator): () => unknown {
  if (typeof generator === "function") return generator;
  if (generator === "uuid") return randomUUID;
  let count = 0;
  if (generator === "counter") return () => (count += 1);
  throw wrongGenerator('must be "uuid", "counter" or a function');
}

function wrongGenerator(problem: string): McpError {
  return createError("config_invalid", `"idGenerator" ${problem}`);
}

/**
 * A transport on which requests have ids of the caller's choice. The protocol's own ids are small numbers
 * for the sake of speed; here they are exchanged for those of `WireIds` on the way out, and back on the
 * way in. An id that was never sent matches no request, whatever the protocol's own ids are.
 */
export class WireIdTransport implements HostTransport {
  onmessage: HostTransport["onmessage"];
  readonly #transport: HostTransport;
  readonly #ids: WireIds;
  readonly #wireIds = new Map<RequestId, RequestId>();
  readonly #ownIds = new Map<RequestId, RequestId>();

  constructor(transport: HostTransport, ids: WireIds) {
    this.#transport = transport;
    this.#ids = ids;
    transport.onmessage = (message: unknown, text) =>
      this.onmessage?.(this.#incoming(message) as JSONRPCMessage, text);
  }

  get kind(): HostTransport["kind"] {
    return this.#transport.kind;
  }

  get failure(): McpError | undefined {
    return this.#transport.failure;
  }

  get evidence(): HostTransport["evidence"] {
    return this.#transport.evidence;
  }

  get pid(): number | undefined {
    return this.#transport.pid;
  }

  findCause(): PrintedCause | undefined {
    return this.#transport.findCause?.();
  }

  get hasPerRequestStream(): boolean {
    return this.#transport.hasPerRequestStream === true;
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

  slowDown(): void {
    this.#transport.slowDown?.();
  }

  setProtocolVersion(version: string): void {
    this.#transport.setProtocolVersion?.(version);
  }

  start(): Promise<void> {
    return this.#transport.start();
  }

  send(message: JSONRPCMessage, options?: SendOptions): Promise<void> {
    // A text that was made before holds the protocol's own id.
    const { text: _, ...rest } = options ?? {};
    return this.#transport.send(this.#outgoing(message), rest);
  }

  close(): Promise<void> {
    return this.#transport.close();
  }

  #outgoing(message: JSONRPCMessage): JSONRPCMessage {
    if (!("method" in message)) return message;
    if ("id" in message) {
      const id = this.#ids.create((given) => this.#ownIds.has(given));
      this.#remember(message.id, id);
      return { ...message, id };
    }
    if (message.method !== "notifications/cancelled") return message;
    const { requestId, ...params } = (message.params ?? {}) as JsonObject;
    const wireId = this.#wireIds.get(requestId as RequestId);
    if (wireId === undefined) return message;
    return { ...message, params: { ...params, requestId: wireId } };
  }

  #incoming(message: unknown): unknown {
    if (Array.isArray(message)) return message.map((item) => this.#incoming(item));
    if (!isJsonObject(message)) return message;
    if (message["method"] === undefined) {
      const { id } = message;
      return { ...message, id: this.#ownIds.get(id as RequestId) ?? unknownId(id) };
    }
    const { params } = message;
    if (message["method"] !== "notifications/cancelled" || !isJsonObject(params)) return message;
    const ownId = this.#ownIds.get(params["requestId"] as RequestId);
    return {
      ...message,
      params: { ...params, requestId: ownId ?? unknownId(params["requestId"]) },
    };
  }

  /** Answers that come late or twice are told from wrong ones by their ids, so these outlive the request. */
  #remember(ownId: RequestId, wireId: RequestId): void {
    this.#wireIds.set(ownId, wireId);
    this.#ownIds.set(wireId, ownId);
    if (this.#ownIds.size <= maxRemembered) return;
    const [[oldestWireId, oldestOwnId] = []] = this.#ownIds;
    if (oldestWireId !== undefined) this.#ownIds.delete(oldestWireId);
    if (oldestOwnId !== undefined) this.#wireIds.delete(oldestOwnId);
  }
}

/** A number might be one of the protocol's own ids by chance; no text ever is. */
function unknownId(id: unknown): unknown {
  return typeof id === "number" ? String(id) : id;
}
