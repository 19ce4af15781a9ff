import type { AuthConfig, HttpTransportConfig } from "../../config/keys/server-config.ts";
import { resolveServer } from "../../config/parse/expand-variables.ts";
import { McpError } from "../../errors/mcp-error.ts";
import { type FetchedDocument, firstOf } from "../../isolation/network/fetch-document.ts";
import { guardedFetch } from "../../isolation/network/guarded-fetch.ts";
import { configuredUrlPolicy, hostKind } from "../../isolation/network/network-policy.ts";
import { legacyVersions } from "../../protocol/wire/protocol-versions.ts";
import { isJsonObject, type JsonObject } from "../../text/json-object.ts";
import { bearer } from "../../transport/create-transport.ts";
import { restUrl, type RestEndpoint } from "../../transport/dialects/rest-dialect.ts";
import { type ContractRun, counted, fail, type Judged, pass, skip, warn } from "./contract-run.ts";
import type { RuleId } from "./rule-texts.ts";

type Results = AsyncGenerator<readonly [RuleId, Judged]>;

/** One HTTP request, outside of any connection. */
interface Exchange {
  readonly method: "GET" | "POST" | "DELETE";
  readonly url?: URL;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
  /** The time for all of it, where it may be less than an answer has. */
  readonly timeoutMs?: number;
}

/** The response, or why there is none: a server that keeps the request open is not an error. */
type Response = FetchedDocument | McpError;

const maxBytes = 1_024 * 1_024;

/** Speaks plain HTTP to the address of an entry, with its headers and credentials. */
class HttpProbe {
  readonly url: URL;
  readonly #run: ContractRun;
  readonly #transport: HttpTransportConfig<string>;
  readonly #auth: AuthConfig<string>;

  constructor(run: ContractRun) {
    const { transport, auth } = resolveServer(run.config, run.parts.hostEnv);
    this.#run = run;
    this.#transport = transport as HttpTransportConfig<string>;
    this.#auth = auth;
    this.url = new URL(this.#transport.url);
  }

  async send(exchange: Exchange): Promise<Response> {
    const { method, url = this.url, headers = {}, body } = exchange;
    const { parts, config, signal } = this.#run;
    const timeoutMs = Math.min(this.#run.timeoutMs, exchange.timeoutMs ?? Infinity);
    try {
      return await guardedFetch(url, {
        method,
        headers: {
          ...this.#transport.headers,
          ...bearer(this.#auth),
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        ...(signal === undefined ? {} : { signal }),
        policy: configuredUrlPolicy(this.#transport.url, this.#transport.allowPrivateNetwork),
        hostEnv: parts.hostEnv,
        maxBytes,
        idleTimeoutMs: timeoutMs,
        totalTimeoutMs: timeoutMs,
        clock: parts.clock,
        serverName: config.name,
      });
    } catch (error) {
      if (McpError.is(error) && error.code !== "cancelled") return error;
      throw error;
    }
  }

  /** Posts a message as a client of the legacy era does. */
  post(body: object, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
    const accept = "application/json, text/event-stream";
    return this.send({ method: "POST", body, headers: { accept, ...headers } });
  }
}

function statusText(response: Response): string {
  return McpError.is(response) ? response.message : `status ${response.status}`;
}

function hasStatus(response: Response, ...statuses: readonly number[]): boolean {
  return !McpError.is(response) && statuses.includes(response.status);
}

/** The JSON-RPC message in a response, be it JSON or the first event of a stream with data. */
function messageIn({ headers, text }: FetchedDocument): JsonObject | undefined {
  const isStream = firstOf(headers["content-type"])?.startsWith("text/event-stream") === true;
  const body = isStream ? (/^data: ?(\{.*)$/m.exec(text)?.[1] ?? "") : text;
  try {
    const message: unknown = JSON.parse(body);
    return isJsonObject(message) ? message : undefined;
  } catch {
    return undefined;
  }
}

/** Tries the rules of Streamable HTTP, as a client of the legacy era: the modern one has no sessions. */
export async function* judgeStreamableHttp(run: ContractRun): Results {
  const probe = new HttpProbe(run);
  const initialize = {
    jsonrpc: "2.0",
    id: 1,
    method: "initialize",
    params: {
      protocolVersion: legacyVersions[0],
      capabilities: {},
      clientInfo: run.parts.clientInfo,
    },
  };
  const first = await probe.post(initialize);
  yield ["accept", await judgeAccept(probe, initialize, first)];
  const message = McpError.is(first) ? undefined : messageIn(first);
  const result = message?.["result"];
  if (McpError.is(first) || !isJsonObject(result)) {
    const none = skip("it has no initialize, and thus no sessions");
    yield ["notification-status", none];
    yield ["session-id", none];
    yield ["session-unknown", none];
    yield ["session-end", none];
  } else {
    const version = { "mcp-protocol-version": String(result["protocolVersion"]) };
    const id = firstOf(first.headers["mcp-session-id"]);
    const session = id === undefined ? version : { ...version, "mcp-session-id": id };
    const noted = await probe.post(
      { jsonrpc: "2.0", method: "notifications/initialized" },
      session,
    );
    yield ["notification-status", judgeNotification(noted)];
    yield* judgeSession(probe, { id, version });
  }
  yield ["origin", await judgeOrigin(probe, { method: "POST", body: initialize })];
}

async function judgeAccept(probe: HttpProbe, request: object, first: Response): Promise<Judged> {
  if (McpError.is(first)) return fail(first.message);
  const type = firstOf(first.headers["content-type"]) ?? "none";
  if (first.status < 300 && !/^(?:application\/json|text\/event-stream)\b/i.test(type))
    return fail(`the content type of an answer is ${type}`);
  const refused = await probe.post(request, { accept: "image/png" });
  const evidence = `${type}; for Accept: image/png ${statusText(refused)}`;
  if (McpError.is(refused) || refused.status >= 500) return fail(evidence);
  return hasStatus(refused, 400, 406) ? pass(evidence) : warn(evidence);
}

function judgeNotification(response: Response): Judged {
  if (McpError.is(response)) return fail(response.message);
  const { status, text } = response;
  if (status === 202 && text === "") return pass("status 202");
  if (status >= 200 && status < 300)
    return warn(`status ${status}${text === "" ? "" : " with a body"}`);
  return fail(`status ${status}`);
}

interface OpenSession {
  /** Undefined: the server keeps no sessions. */
  readonly id: string | undefined;
  readonly version: Readonly<Record<string, string>>;
}

async function* judgeSession(probe: HttpProbe, { id, version }: OpenSession): Results {
  if (id === undefined) {
    const none = skip("it keeps no sessions");
    yield ["session-id", none];
    yield ["session-unknown", none];
    yield ["session-end", none];
    return;
  }
  yield [
    "session-id",
    /^[\x21-\x7E]+$/.test(id)
      ? pass(`${id.length} characters`)
      : fail("its id holds characters that are not visible ASCII"),
  ];
  const ping = { jsonrpc: "2.0", id: 2, method: "ping" };
  const stray = await probe.post(ping, { ...version, "mcp-session-id": "no-such-session" });
  yield [
    "session-unknown",
    hasStatus(stray, 404)
      ? pass("status 404")
      : hasStatus(stray, 400)
        ? // Clients begin a new session at 404, and only then.
          warn("status 400, at which clients do not begin anew")
        : fail(statusText(stray)),
  ];
  const session = { ...version, "mcp-session-id": id };
  const ended = await probe.send({ method: "DELETE", headers: session });
  yield ["session-end", await judgeEnd(probe, ended, { ping, session })];
}

async function judgeEnd(
  probe: HttpProbe,
  ended: Response,
  { ping, session }: { readonly ping: object; readonly session: Readonly<Record<string, string>> },
): Promise<Judged> {
  if (hasStatus(ended, 405)) return pass("it refuses DELETE with 405");
  if (McpError.is(ended) || ended.status >= 300) return fail(`DELETE: ${statusText(ended)}`);
  const after = await probe.post(ping, session);
  const evidence = `DELETE: ${statusText(ended)}; afterwards ${statusText(after)}`;
  return hasStatus(after, 404) ? pass(evidence) : fail(evidence);
}

const foreignOrigin = "http://plugboard.example";
/** A refusal is a whole answer; a stream that is opened has no end to wait for. */
const refusalMs = 3_000;

/**
 * A web page can make a browser send requests to this machine under a name of its own (DNS rebinding), and its origin
 * is how a server tells.
 */
async function judgeOrigin(probe: HttpProbe, exchange: Exchange): Promise<Judged> {
  if (hostKind(probe.url.hostname) !== "loopback")
    return skip("its address is not one of this machine");
  const accept = "application/json, text/event-stream";
  const headers = { accept, origin: foreignOrigin };
  const answer = await probe.send({ ...exchange, headers, timeoutMs: refusalMs });
  const isOpen = McpError.is(answer, "timeout");
  const evidence = `Origin: ${foreignOrigin}: ${isOpen ? "it opens a stream" : statusText(answer)}`;
  if (hasStatus(answer, 403)) return pass(evidence);
  if (!McpError.is(answer) && answer.status >= 400 && answer.status < 500) return warn(evidence);
  return fail(evidence);
}

/** Tries the one rule of HTTP+SSE that the connection itself does not show. */
export async function* judgeSse(run: ContractRun): Results {
  yield ["origin", await judgeOrigin(new HttpProbe(run), { method: "GET" })];
}

/** Tries the three endpoints of a REST service. */
export async function* judgeRest(run: ContractRun): Results {
  const probe = new HttpProbe(run);
  const get = (endpoint: RestEndpoint): Promise<Response> =>
    probe.send({ method: "GET", url: restUrl(probe.url, endpoint) });
  const health = await get("health");
  const { status } = bodyOf(health) ?? {};
  // A service without the endpoint is known by its tools.
  const isMissing = hasStatus(health, 404);
  const said = `${statusText(health)}, ${JSON.stringify({ status })}`;
  const isWell = hasStatus(health, 200) && status === "ok";
  yield ["health", isWell ? pass(said) : isMissing ? warn(said) : fail(said)];

  const list = await get("tools");
  const { tools } = bodyOf(list) ?? {};
  const isList = hasStatus(list, 200) && Array.isArray(tools);
  yield [
    "rest-tools",
    isList ? pass(counted(tools.length, "tool")) : fail(`${statusText(list)}, no list "tools"`),
  ];

  const call = await probe.send({
    method: "POST",
    url: restUrl(probe.url, "call"),
    body: { name: "plugboard_no_such_tool", arguments: {} },
  });
  const { error } = bodyOf(call) ?? {};
  const evidence = `${statusText(call)}${error === undefined ? ', no "error"' : ""}`;
  yield ["rest-error", typeof error === "string" ? pass(evidence) : fail(evidence)];
}

function bodyOf(response: Response): JsonObject | undefined {
  return McpError.is(response) ? undefined : messageIn(response);
}
