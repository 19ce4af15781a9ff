import { guardMethods, object, optional, text } from "../errors/check-arguments.ts";
import { createError } from "../errors/families.ts";
import { McpError, type RpcError } from "../errors/mcp-error.ts";
import { keepAliveWhileAwaited } from "../ports/keep-alive.ts";
import { closeAtProgramEnd } from "../ports/program-end.ts";
import type { ProtocolClient } from "../protocol/protocol-client.ts";
import { TransportMessage } from "../protocol/wire/transport-message.ts";
import type { JsonObject } from "../text/json-object.ts";
import {
  type DirectOptions,
  type DirectServer,
  checkDirectArguments,
  directConfig,
  openDirectly,
} from "./open-directly.ts";
import { type WireIdGenerator, WireIds, WireIdTransport } from "./wire-ids.ts";

/** One server at the level of messages: requests go out, response messages come back. */
export interface Wire extends AsyncDisposable {
  readonly serverName: string;
  readonly connected: boolean;
  /** Starts or contacts the server and performs the handshake. Idempotent while connected. */
  connect(): Promise<void>;
  /**
   * The response to this request, with the id that was on the wire. An error of the server, and an HTTP status from 400 on, is a
   * message with `error` set; `not_connected`, `timeout` and a lost connection are thrown.
   */
  sendRequest(method: string, params?: JsonObject): Promise<TransportMessage>;
  /** Idempotent; requests under way are rejected, a child process ends. */
  disconnect(): Promise<void>;
}

export interface WireOptions extends DirectOptions {
  /** Makes the id of each request; a UUID by default. */
  readonly idGenerator?: WireIdGenerator | undefined;
}

/** A wire to the server an entry describes, not yet connected. */
export function openWire(server: DirectServer, options: WireOptions = {}): Wire {
  checkDirectArguments("openWire", server, options);
  return new DirectWire(server, options);
}

interface Opening {
  readonly client: Promise<ProtocolClient>;
  /** Aborted when it is no longer wanted. */
  readonly stop: AbortController;
}

class DirectWire implements Wire {
  readonly serverName: string;
  readonly #server: DirectServer;
  readonly #options: WireOptions;
  readonly #ids: WireIds;
  #opening: Opening | undefined;
  #client: ProtocolClient | undefined;

  constructor(server: DirectServer, options: WireOptions) {
    this.serverName = directConfig(server).name;
    this.#server = server;
    this.#options = options;
    this.#ids = new WireIds(options.idGenerator);
  }

  get connected(): boolean {
    return this.#client !== undefined;
  }

  async connect(): Promise<void> {
    this.#opening ??= this.#begin();
    await this.#opening.client;
  }

  async sendRequest(method: string, params: JsonObject = {}): Promise<TransportMessage> {
    const client = this.#client;
    if (client === undefined)
      throw createError("not_connected", `${this.serverName} is not connected`, {
        serverName: this.serverName,
        hint: "call connect() first",
      });
    // Nothing is answered from memory here, so the request is on its way when this returns.
    const answer = client.request(method, params, { fresh: true });
    const id = this.#ids.last;
    try {
      return TransportMessage.response(id, await answer);
    } catch (error) {
      const said = errorAnswer(id, error);
      if (said === undefined) throw error;
      return said;
    }
  }

  async disconnect(): Promise<void> {
    const opening = this.#opening;
    this.#opening = undefined;
    this.#client = undefined;
    opening?.stop.abort();
    const client = await opening?.client.catch(() => undefined);
    await client?.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.disconnect();
  }

  #begin(): Opening {
    const stop = new AbortController();
    return { stop, client: this.#open(stop.signal) };
  }

  async #open(stop: AbortSignal): Promise<ProtocolClient> {
    const { signal: given } = this.#options;
    const signal = given === undefined ? stop : AbortSignal.any([given, stop]);
    try {
      const { client } = await openDirectly(
        this.#server,
        { ...this.#options, signal },
        { wrap: (transport) => new WireIdTransport(transport, this.#ids) },
      );
      // It is closed by who did not want it any longer.
      if (stop.aborted) return client;
      this.#client = client;
      const closed = closeAtProgramEnd(() => this.disconnect());
      client.onclose = () => {
        closed();
        if (this.#client !== client) return;
        this.#client = undefined;
        this.#opening = undefined;
      };
      return client;
    } catch (error) {
      if (stop.aborted)
        throw createError("closed", "the wire was disconnected while it was being connected", {
          serverName: this.serverName,
        });
      this.#opening = undefined;
      throw error;
    }
  }
}

guardMethods(DirectWire.prototype, "wire", {
  sendRequest: { takes: { method: text, params: optional(object) }, fails: "rejects" },
});

keepAliveWhileAwaited<Wire>(DirectWire.prototype, {
  connect: true,
  sendRequest: true,
  disconnect: true,
});

/** What the server itself said, as a message; undefined for failures that are not an answer. */
function errorAnswer(id: string | number, error: unknown): TransportMessage | undefined {
  if (!McpError.is(error)) return undefined;
  const rpc = error.details["rpc"] as RpcError | undefined;
  if (rpc !== undefined) return TransportMessage.errorResponse(id, rpc.code, rpc.message, rpc.data);
  const httpStatus = error.details["status"];
  if (typeof httpStatus !== "number") return undefined;
  return TransportMessage.errorResponse(id, httpStatus, error.message, { httpStatus });
}
