import { type McpServerFactory, createMcpHandler } from "@modelcontextprotocol/server";

import type { FetchHandler } from "../../listener/body-cap.ts";
import type { ListenerLimits } from "../../listener/listener-limits.ts";
import { listenOnLoopback } from "../../listener/loopback-listener.ts";
import { modernEnvelope } from "../../protocol/era/handshake.ts";
import { isJsonObject, type JsonObject } from "../../text/json-object.ts";
import { HttpHeaders } from "../../transport/http/http-headers.ts";
import type { ServedConnection } from "./serve-transport.ts";
import type { ServedHandler } from "./served-handler.ts";

export interface ServeRestOptions {
  /** The default 0 lets the system choose. */
  readonly port?: number | undefined;
  /** The status that goes with an `error`; services in the wild use 200 as well. */
  readonly errorStatus?: number | undefined;
  readonly limits?: Partial<ListenerLimits> | undefined;
}

export interface RestServer extends ServedConnection {
  /** `http://127.0.0.1:<port>`: what an entry with `"transport": "rest"` names. */
  readonly url: string;
  readonly port: number;
}

/**
 * Serves the factory's tools as a plain REST service on 127.0.0.1: `GET /health`, `GET /tools` and
 * `POST /tools/call`. The dialect knows tools only; what else the server offers is not reachable.
 */
export async function serveRest(
  factory: McpServerFactory,
  options: ServeRestOptions = {},
): Promise<RestServer> {
  const { port, limits } = options;
  const handler = createRestHandler(factory, options);
  const listener = await listenOnLoopback({ port, limits, fetch: handler.fetch });
  return {
    url: listener.url,
    port: listener.port,
    async close() {
      await handler.close();
      await listener.close();
    },
  };
}

export function createRestHandler(
  factory: McpServerFactory,
  { errorStatus = 404 }: Pick<ServeRestOptions, "errorStatus">,
): ServedHandler {
  const { fetch, close } = createMcpHandler(factory, { legacy: "reject" });
  return {
    paths: ["", "/health", "/tools", "/tools/call"],
    fetch: async (request) => await answer(fetch, request, errorStatus),
    close,
  };
}

async function answer(
  serve: FetchHandler,
  request: Request,
  errorStatus: number,
): Promise<Response> {
  const { pathname } = new URL(request.url);
  switch (`${request.method} ${pathname}`) {
    case "GET /health":
      return Response.json({ status: "ok" });
    case "GET /tools":
      return Response.json({ tools: await listTools(serve, request.signal) });
    case "POST /tools/call": {
      const call: unknown = await request.json().catch(() => undefined);
      if (!isJsonObject(call)) return Response.json({ error: "Bad request" }, { status: 400 });
      const { name, arguments: args } = call;
      const params = { name, arguments: args };
      const body = restBody(await ask(serve, "tools/call", params, request.signal));
      return Response.json(body, { status: "error" in body ? errorStatus : 200 });
    }
    default:
      return Response.json({ error: "Not found" }, { status: 404 });
  }
}

interface RpcResponse {
  readonly result?: JsonObject;
  readonly error?: { readonly message: string };
}

/** One request to the MCP server behind the service; `signal` tells it that nobody waits any more. */
async function ask(
  serve: FetchHandler,
  method: string,
  params: JsonObject,
  signal: AbortSignal,
): Promise<RpcResponse> {
  const _meta = modernEnvelope({ clientInfo: { name: "rest", version: "0" }, capabilities: {} });
  const message = { jsonrpc: "2.0" as const, id: 1, method, params: { ...params, _meta } };
  const headers = new Headers();
  const fields = new HttpHeaders([]).forMessage(message);
  for (let index = 0; index < fields.length; index += 2)
    headers.set(fields[index] ?? "", fields[index + 1] ?? "");
  const body = JSON.stringify(message);
  const init = { method: "POST", headers, body, signal };
  const response = await serve(new Request("http://localhost/", init));
  return (await response.json()) as RpcResponse;
}

/** All pages as one list: the dialect has no pages. */
async function listTools(serve: FetchHandler, signal: AbortSignal): Promise<unknown[]> {
  const tools: unknown[] = [];
  for (let cursor: unknown; ;) {
    const params = cursor === undefined ? {} : { cursor };
    const { result } = await ask(serve, "tools/list", params, signal);
    tools.push(...((result?.["tools"] ?? []) as unknown[]));
    cursor = result?.["nextCursor"];
    if (cursor === undefined) return tools;
  }
}

/** One text is the dialect's own `result` or `error`; anything richer stays as MCP has it. */
function restBody({ result = {}, error }: RpcResponse): JsonObject {
  if (error !== undefined) return { error: error.message };
  const { content, structuredContent, isError } = result;
  const [first, ...more] = (content ?? []) as readonly JsonObject[];
  const text = first?.["type"] === "text" && more.length === 0 ? first["text"] : undefined;
  if (text === undefined || structuredContent !== undefined) return result;
  return isError === true ? { error: text } : { result: text };
}
