import {
  type JSONRPCMessage,
  type McpServerFactory,
  type RequestId,
  Server,
  type Transport,
} from "@modelcontextprotocol/server";

import { isJsonObject } from "../text/json-object.ts";
import { invalidParams } from "./invalid-params.ts";
import { createPager } from "./pager.ts";
import { textResult } from "./tool-result.ts";

export interface RecordedCall {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** Aborts when the client cancels the call or goes. */
  readonly signal: AbortSignal;
}

export interface RecordedServerOptions {
  /** Tool definitions as some server once listed them; sent unchanged, however odd they are. */
  readonly tools: readonly unknown[];
  /**
   * The result of a call, sent unchanged; `undefined` stands for a result without content. Without
   * this function a call is answered with its arguments as text.
   * An error it throws becomes a JSON-RPC error, with the error's `code` when that is an integer.
   */
  readonly answers?: ((call: RecordedCall) => unknown) | undefined;
  /** At most this many tools per list answer; without it the list is one page. */
  readonly pageSize?: number | undefined;
  readonly name?: string | undefined;
}

/** A fake server that lists a recorded tool list and answers its calls, in both eras. */
export function createRecordedServer(options: RecordedServerOptions): McpServerFactory {
  const { tools, answers = echoArguments, name = "recorded" } = options;
  const paginate = createPager(options.pageSize);
  const names = new Set(tools.map(nameOf));

  return () => {
    const server = new ExactServer({ name, version: "1.0.0" }, { capabilities: { tools: {} } });
    server.setRequestHandler("tools/list", ({ params }, { mcpReq }) => {
      const { items, ...rest } = paginate(tools, params?.cursor);
      server.replaceResult(mcpReq.id, { tools: items, ...rest });
      return { tools: [] };
    });
    server.setRequestHandler("tools/call", async ({ params }, { mcpReq }) => {
      if (!names.has(params.name)) throw invalidParams(`Unknown tool: ${params.name}`);
      const call = { name: params.name, arguments: params.arguments ?? {}, signal: mcpReq.signal };
      const result = await answers(call);
      if (result !== undefined) server.replaceResult(mcpReq.id, result);
      return { content: [] };
    });
    return server;
  };
}

function nameOf(tool: unknown): unknown {
  return typeof tool === "object" && tool !== null && "name" in tool ? tool.name : undefined;
}

function echoArguments(call: RecordedCall): unknown {
  return textResult(JSON.stringify(call.arguments));
}

/**
 * The SDK checks and rewrites results on their way out. Handlers of this server return a valid stand-in
 * and name the real result, which takes its place when the answer is sent: the members of the stand-in
 * that the era requires stay unless the real result has its own.
 */
class ExactServer extends Server {
  readonly #results = new Map<RequestId, unknown>();

  replaceResult(id: RequestId, result: unknown): void {
    this.#results.set(id, result);
  }

  override async connect(transport: Transport): Promise<void> {
    const send = transport.send.bind(transport);
    transport.send = (message, options) => send(this.#exact(message), options);
    await super.connect(transport);
  }

  #exact(message: JSONRPCMessage): JSONRPCMessage {
    if (!("result" in message) || !this.#results.has(message.id)) return message;
    const result = this.#results.get(message.id);
    this.#results.delete(message.id);
    const sent = isJsonObject(result) ? { ...message.result, ...result } : result;
    return { ...message, result: sent } as JSONRPCMessage;
  }
}
