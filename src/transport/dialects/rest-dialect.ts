import type { McpError } from "../../errors/mcp-error.ts";
import { findInexactNumber } from "../../protocol/wire/inexact-number.ts";
import { isJsonObject, type JsonObject } from "../../text/json-object.ts";
import type { HttpClient } from "../http/http-client.ts";
import { peerError, quote } from "../http/http-errors.ts";
import { contentError, statusError } from "../http/http-status.ts";
import type { RestResponse } from "./rest-exchange.ts";

/** The three endpoints of the dialect, below the configured address. */
const restPaths = {
  health: "/health",
  tools: "/tools",
  call: "/tools/call",
} as const;
export type RestEndpoint = keyof typeof restPaths;

const internalError = -32_603;

/** Adds an endpoint's path to that of the configured address and keeps the query. */
export function restUrl(base: URL, endpoint: RestEndpoint): URL {
  const url = new URL(base);
  url.pathname = base.pathname.replace(/\/$/, "") + restPaths[endpoint];
  return url;
}

/** Throws unless the health check of the service reports `"ok"`. */
export function requireHealth(client: HttpClient, response: RestResponse): void {
  const body = readBody(client, "health", response);
  const { status } = body;
  const error = errorOf(body);
  if (status === "ok" && error === undefined) return;
  const said = quote(client.peer, errorText(error ?? status ?? ""), 80);
  const problem = said === "" ? "it says nothing about its status" : `it says: ${said}`;
  throw peerError(client.peer, "unreachable", `the server is not well (GET /health): ${problem}`);
}

/** Reads the tools of a list. The tools themselves are not checked yet. */
export function readTools(client: HttpClient, response: RestResponse): readonly unknown[] {
  const body = readBody(client, "tools", response);
  const error = errorOf(body);
  if (error !== undefined) {
    const message = quote(client.peer, errorText(error));
    const rpc = { code: internalError, message };
    throw peerError(client.peer, "rpc_error", `GET /tools was answered with an error: ${message}`, {
      details: { rpc },
    });
  }
  const { tools } = body;
  if (Array.isArray(tools)) return tools;
  throw unusable(client, "tools", 'its "tools" are not a list');
}

/** The result of a tool in the form of MCP. */
export interface RestToolResult {
  readonly result: JsonObject;
  /** The JSON text of `result` as the server wrote it, if parsing may have lost digits of a number. */
  readonly text?: string;
}

/**
 * Reads the answer to `POST /tools/call`. A body with an `error` is a failure of the tool, whatever the
 * status; a status that asks for something else (sign in, wait) is an error of the exchange.
 */
export function readToolResult(client: HttpClient, response: RestResponse): RestToolResult {
  const refusal = refusalOf(client, "call", response);
  if (refusal !== undefined) {
    const isPlain = refusal.code === "http_error" && !refusal.retryable;
    const error = isPlain ? errorIn(client, response.text) : undefined;
    if (error === undefined) throw refusal;
    return textResult(errorText(error), true);
  }
  const body = readBody(client, "call", response);
  const error = errorOf(body);
  if (error !== undefined) return textResult(errorText(error), true);
  const value = body["result"];
  if (typeof value === "string") return textResult(value, false);
  if (value !== undefined) return jsonResult(client, value, response.text);
  if (Array.isArray(body["content"])) return { result: body, text: response.text };
  throw unusable(client, "call", "it has neither a result nor an error");
}

function textResult(text: string, isError: boolean): RestToolResult {
  return { result: { content: [{ type: "text", text }], ...(isError && { isError }) } };
}

/** Makes a result of a JSON value, with the server's own digits in the text where parsing loses some. */
function jsonResult({ logger, peer }: HttpClient, value: unknown, body: string): RestToolResult {
  const isInexact = findInexactNumber(body) !== undefined;
  const written = isInexact ? writtenResult(body) : undefined;
  if (isInexact && written === undefined)
    logger.warn("a result holds a number with more digits than can be kept", {
      serverName: peer.serverName,
    });
  const content = [{ type: "text", text: written ?? JSON.stringify(value) }];
  if (!isJsonObject(value)) return { result: { content } };
  const result = { content, structuredContent: value };
  if (written === undefined) return { result };
  const text = `{"content":${JSON.stringify(content)},"structuredContent":${written}}`;
  return { result, text };
}

/** Cuts the text of `result` out of a body that has no other member; undefined when it has others. */
function writtenResult(body: string): string | undefined {
  const [opening] = /^\s*\{\s*"result"\s*:/.exec(body) ?? [];
  if (opening === undefined) return undefined;
  const written = body.slice(opening.length, body.lastIndexOf("}")).trim();
  try {
    JSON.parse(written);
    return written;
  } catch {
    return undefined;
  }
}

/** Returns the `error` of a body. null counts as absent, because many serializers write it. */
function errorOf(body: JsonObject): unknown {
  return body["error"] ?? undefined;
}

/** Returns the `error` of a body of any type. */
function errorIn(client: HttpClient, text: string): unknown {
  const body = text.trimStart().startsWith("{") ? client.parse(text) : undefined;
  return isJsonObject(body) ? errorOf(body) : undefined;
}

/** Writes an error as text; it may be a string or, as in JSON-RPC, an object with a message. */
function errorText(error: unknown): string {
  const message = isJsonObject(error) ? error["message"] : error;
  return typeof message === "string" ? message : JSON.stringify(error);
}

function readBody(client: HttpClient, endpoint: RestEndpoint, response: RestResponse): JsonObject {
  const refusal = refusalOf(client, endpoint, response);
  if (refusal !== undefined) throw refusal;
  const body = client.parse(response.text);
  if (isJsonObject(body)) return body;
  if (body !== undefined) throw unusable(client, endpoint, "it is not an object");
  if (response.text.trim() === "") throw unusable(client, endpoint, "it is empty");
  throw contentError(client.peer, response.head, response.text, "JSON");
}

function refusalOf(
  client: HttpClient,
  endpoint: RestEndpoint,
  { head, text }: RestResponse,
): McpError | undefined {
  if (head.status < 300) return undefined;
  const { peer, clock } = client;
  const error = errorIn(client, text);
  return statusError(peer, {
    head,
    text: error === undefined ? text : errorText(error),
    what: requestLine(endpoint),
    hadSession: false,
    now: clock.now(),
  });
}

function unusable({ peer }: HttpClient, endpoint: RestEndpoint, reason: string): McpError {
  const message = `${requestLine(endpoint)} got an unusable answer: ${reason}`;
  return peerError(peer, "invalid_result", message, { details: { reason } });
}

function requestLine(endpoint: RestEndpoint): string {
  return `${endpoint === "call" ? "POST" : "GET"} ${restPaths[endpoint]}`;
}
