import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";

import { productInfo } from "../host/product-info.ts";
import type { JsonObject } from "../text/json-object.ts";

/** A call of a tool, as it came. */
export interface ServedCall {
  readonly name: string;
  readonly input: unknown;
  readonly meta: JsonObject;
  /** Aborts when the client cancels the call or goes. */
  readonly signal: AbortSignal;
}

export interface ToolServerOptions {
  readonly name: string;
  /** Tool definitions as MCP lists them; asked again for every list. */
  readonly list: () => readonly JsonObject[];
  /** The result as MCP answers it. */
  readonly run: (call: ServedCall) => Promise<JsonObject>;
  /** Calls back when the list may have changed; gives the way to stop that. */
  readonly onListChange: (changed: () => void) => () => void;
}

/** What agent frameworks ask of an MCP server in their own process. */
export interface ToolServer {
  /** Serves the client at the other end until the transport closes. Any number at the same time. */
  connect(transport: Transport): Promise<void>;
}

interface Request {
  readonly id: string | number;
  readonly method: string;
  readonly params?: JsonObject | undefined;
}

/** Revisions with the same tools; a client that asks for another one is offered the first. */
const versions: readonly unknown[] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

const methodNotFound = { error: { code: -32_601, message: "Method not found" } };
const internalError = { error: { code: -32_603, message: "Internal error" } };

/** Tools as an MCP server without a process or a port: it holds no state but the calls in progress. */
export function createToolServer(options: ToolServerOptions): ToolServer {
  return {
    async connect(transport) {
      const running = new Map<unknown, AbortController>();
      const send = (message: JsonObject): void => {
        // A client that has gone needs no answer.
        transport.send({ jsonrpc: "2.0", ...message } as JSONRPCMessage).catch(() => {});
      };
      const unsubscribe = options.onListChange(() =>
        send({ method: "notifications/tools/list_changed" }),
      );
      const { onclose } = transport;
      transport.onclose = () => {
        onclose?.();
        unsubscribe();
        for (const controller of running.values()) controller.abort();
      };
      transport.onmessage = (message) => {
        const { id, method, params } = message as Partial<Request>;
        if (method === "notifications/cancelled") running.get(params?.["requestId"])?.abort();
        if (id === undefined || method === undefined) return;
        void answer(options, { id, method, params }, running)
          .catch(() => internalError)
          .then((reply) => {
            if (reply !== undefined) send({ id, ...reply });
          });
      };
      await transport.start();
    },
  };
}

async function answer(
  options: ToolServerOptions,
  { id, method, params = {} }: Request,
  running: Map<unknown, AbortController>,
): Promise<JsonObject | undefined> {
  switch (method) {
    case "initialize": {
      const asked = params["protocolVersion"];
      const protocolVersion = versions.includes(asked) ? asked : versions[0];
      const serverInfo = { name: options.name, version: productInfo.version };
      const capabilities = { tools: { listChanged: true } };
      return { result: { protocolVersion, capabilities, serverInfo } };
    }
    case "ping":
      return { result: {} };
    case "tools/list":
      return { result: { tools: options.list() } };
    case "tools/call": {
      const controller = new AbortController();
      running.set(id, controller);
      const { signal } = controller;
      const { name, arguments: input = {}, _meta } = params;
      const meta = { ...(_meta as JsonObject | undefined) };
      const result = await options.run({ name: String(name), input, meta, signal });
      running.delete(id);
      // Who cancelled a request does not wait for its answer.
      return signal.aborted ? undefined : { result };
    }
    default:
      return methodNotFound;
  }
}
