import { Agent } from "undici";
import { describe, expect, it } from "vitest";

import {
  type RecordedRequest,
  type Respond,
  ScriptedServer,
  sendJson,
} from "../../../tests/fixtures/http/scripted-server.ts";
import {
  createWire,
  initialize,
  openWire as openAnyWire,
  type Wire,
  type WireMessage,
  type WireOptions,
} from "../../../tests/fixtures/http/wire.ts";
import { openWire as openDirectWire } from "../../connection/open-wire.ts";
import { type Logger, silentLogger } from "../../ports/logger.ts";

const kind = "rest";

function openWire(url: string, options?: WireOptions): Promise<Wire> {
  return openAnyWire(url, { ...options, kind });
}

/** A healthy service; `respond` answers what is not `/health`. */
function startService(respond: Respond): Promise<ScriptedServer> {
  return ScriptedServer.start((request, response) =>
    pathOf(request).endsWith("/health")
      ? sendJson(response, '{"status":"ok"}')
      : respond(request, response),
  );
}

const answerWithNothing: Respond = (request, response) =>
  sendJson(response, request.method === "GET" ? '{"tools":[]}' : '{"result":"x"}');

function pathOf({ target }: RecordedRequest): string {
  return new URL(target, "http://host").pathname;
}

function lines(server: ScriptedServer): string[] {
  return server.requests.map(({ method, target }) => `${method} ${target}`);
}

/** What a call brings when `/tools/call` is answered with this text. */
async function callAnsweredWith(
  body: string,
  options: { readonly status?: number; readonly wire?: WireOptions } = {},
): Promise<WireMessage & { readonly text?: string | undefined }> {
  await using server = await startService((_request, response) =>
    sendJson(response, body, options.status),
  );
  await using wire = await openWire(server.origin, options.wire);
  let text: string | undefined;
  const { onmessage } = wire.transport;
  wire.transport.onmessage = (message, messageText) => {
    text = messageText;
    onmessage?.(message);
  };
  return { ...(await wire.request("tools/call", { name: "t" })), text };
}

function recordWarnings(): { readonly logger: Logger; readonly warnings: string[] } {
  const warnings: string[] = [];
  return { warnings, logger: { ...silentLogger, warn: (message) => warnings.push(message) } };
}

describe("the handshake", () => {
  it("RST-06: a healthy service is introduced by its address", async () => {
    await using server = await startService(answerWithNothing);
    await using wire = await openWire(server.origin);
    const { result } = await initialize(wire);
    expect(result).toEqual({
      protocolVersion: "2025-11-25",
      capabilities: { tools: {} },
      serverInfo: { name: new URL(server.origin).host, version: "unknown" },
    });
    expect(lines(server)).toEqual(["GET /health", "GET /tools"]);
  });

  it.each([
    ['{"status":"degraded"}', "it says: degraded"],
    ['{"status":"ok","error":"no database"}', "it says: no database"],
    ['{"status":false}', "it says: false"],
    ["{}", "it says nothing about its status"],
  ])("RST-06: one that answers %s is not responsive", async (body, reason) => {
    await using server = await ScriptedServer.start((_request, response) =>
      sendJson(response, body),
    );
    await using wire = await openWire(server.origin);
    await expect(initialize(wire)).rejects.toMatchObject({
      code: "unreachable",
      message: `the server is not well (GET /health): ${reason}`,
    });
  });

  it.each([
    [500, "http_error"],
    [503, "http_error"],
    [401, "auth_required"],
  ])("RST-06: HTTP %i is not responsive either", async (status, code) => {
    await using server = await ScriptedServer.start((_request, response) =>
      response.writeHead(status).end(),
    );
    await using wire = await openWire(server.origin);
    await expect(initialize(wire)).rejects.toMatchObject({ code, details: { status } });
    expect(lines(server)).toEqual(["GET /health"]);
  });

  it("RST-06: a ping is a health check", async () => {
    await using server = await startService(() => {});
    await using wire = await openWire(server.origin);
    expect(await wire.request("ping")).toMatchObject({ result: {} });
    expect(lines(server)).toEqual(["GET /health"]);
  });

  it("RST-13: without a health check the tools tell, and this is said once", async () => {
    const { logger, warnings } = recordWarnings();
    await using server = await ScriptedServer.start((request, response) =>
      request.target === "/tools"
        ? sendJson(response, '{"tools":[]}')
        : response.writeHead(404).end(),
    );
    await using wire = await openWire(server.origin, { logger });
    await initialize(wire);
    await wire.request("ping");
    expect(lines(server)).toEqual(["GET /health", "GET /tools", "GET /health", "GET /tools"]);
    expect(warnings).toEqual([expect.stringContaining("no /health")]);
  });

  it("RST-13: without either there is no service", async () => {
    const { logger, warnings } = recordWarnings();
    await using server = await ScriptedServer.start((_request, response) =>
      response.writeHead(404).end("Nothing here"),
    );
    await using wire = await openWire(server.origin, { logger });
    await expect(initialize(wire)).rejects.toMatchObject({
      code: "http_error",
      message: expect.stringContaining("answered GET /tools with HTTP 404: Nothing here") as string,
    });
    expect(warnings).toEqual([]);
  });

  it.each(["server/discover", "resources/list", "prompts/get", "logging/setLevel"])(
    "RST-10: %s is refused as unknown, and the service never hears of it",
    async (method) => {
      await using server = await startService(() => {});
      await using wire = await openWire(server.origin);
      expect(await wire.request(method)).toMatchObject({ error: { code: -32_601 } });
      await wire.notify("notifications/initialized");
      await wire.transport.send({ jsonrpc: "2.0", id: 5, result: {} });
      expect(server.requests).toEqual([]);
    },
  );
});

describe("addresses and headers", () => {
  it.each([
    ["", ["/health", "/tools", "/tools/call"]],
    ["/", ["/health", "/tools", "/tools/call"]],
    ["/base?x=1", ["/base/health?x=1", "/base/tools?x=1", "/base/tools/call?x=1"]],
    ["/a/b/?k=a%20b", ["/a/b/health?k=a%20b", "/a/b/tools?k=a%20b", "/a/b/tools/call?k=a%20b"]],
  ])("RST-12: endpoints lie below %j, its query stays", async (suffix, targets) => {
    await using server = await startService(answerWithNothing);
    await using wire = await openWire(server.origin + suffix);
    await initialize(wire);
    await wire.request("tools/list");
    await wire.request("tools/call", { name: "t", arguments: {} });
    expect(new Set(server.requests.map(({ target }) => target))).toEqual(new Set(targets));
  });

  it("RST-02, RST-07, AUT-11: a call names tool and arguments; credentials go to all endpoints", async () => {
    await using server = await startService(answerWithNothing);
    const headers = { Authorization: "Bearer secret", "X-Team": "core" };
    await using wire = await openWire(server.origin, { headers });
    await initialize(wire);
    await wire.request("tools/call", {
      name: "t",
      arguments: { a: "ü" },
      _meta: { progressToken: 1 },
    });
    await wire.request("tools/call", { name: "t" });
    for (const request of server.requests) {
      expect(request.headers).toMatchObject({
        authorization: "Bearer secret",
        "x-team": "core",
        accept: "application/json",
      });
      expect(Object.keys(request.headers).filter((name) => name.startsWith("mcp-"))).toEqual([]);
    }
    const bodies = server.requests.map(({ body }) => body);
    expect(bodies).toEqual([
      "",
      "",
      '{"name":"t","arguments":{"a":"ü"}}',
      '{"name":"t","arguments":{}}',
    ]);
    expect(server.requests[2]?.headers["content-type"]).toBe("application/json");
  });

  it("AUT-01, AUT-02, B-K4: the entry decides whether a token goes along, its scheme written once", async () => {
    await using server = await startService(answerWithNothing);
    for (const auth of [{ type: "none" }, { type: "bearer", token: "Bearer abc" }] as const) {
      await using wire = openDirectWire({ url: server.origin, transport: kind, auth });
      await wire.connect();
    }
    const tokens = server.requests.map(({ headers }) => headers.authorization);
    expect(tokens).toEqual([undefined, undefined, "Bearer abc", "Bearer abc"]);
  });
});

describe("the list of tools", () => {
  it("RST-01: is passed on whole, as one page", async () => {
    const tools = [{ name: "a", description: "A", inputSchema: { type: "object" } }, { name: "b" }];
    await using server = await startService((_request, response) =>
      sendJson(response, JSON.stringify({ tools, nextCursor: "more" })),
    );
    await using wire = await openWire(server.origin);
    expect((await wire.request("tools/list")).result).toEqual({ tools });
  });

  it.each([
    ['{"tools":{}}', "invalid_result", 'its "tools" are not a list'],
    ["{}", "invalid_result", 'its "tools" are not a list'],
    ["[]", "invalid_result", "it is not an object"],
    ["", "invalid_result", "it is empty"],
    ['{"error":"no database"}', "rpc_error", "no database"],
    ["<title>Sign in</title>", "http_error", "instead of JSON: Sign in"],
  ])("RST-08: %j is an error with a reason", async (body, code, reason) => {
    await using server = await startService((_request, response) => sendJson(response, body));
    await using wire = await openWire(server.origin);
    const problem = { code, message: expect.stringContaining(reason) as string };
    await expect(wire.request("tools/list")).rejects.toMatchObject(problem);
    await expect(initialize(wire)).rejects.toMatchObject(problem);
  });
});

describe("a result", () => {
  it.each([
    ['{"result":"Hello"}', "Hello"],
    ['{"result":""}', ""],
    ['{ "result": 5 }', "5"],
    ['{"result":null}', "null"],
    ['{"result":[1, {"a": true}]}', '[1,{"a":true}]'],
    ['{"result":"fine","error":null}', "fine"],
  ])("RST-03, RST-11: %s has the text %j", async (body, text) => {
    const { result } = await callAnsweredWith(body);
    expect(result).toEqual({ content: [{ type: "text", text }] });
  });

  it("RST-11: an object is structured content, too", async () => {
    const { result } = await callAnsweredWith('{"result": {"sum": 5}}');
    expect(result).toEqual({
      content: [{ type: "text", text: '{"sum":5}' }],
      structuredContent: { sum: 5 },
    });
  });

  it("RST-11: a body with content blocks is the result itself", async () => {
    const body = {
      content: [
        { type: "text", text: "a" },
        { type: "image", mimeType: "image/png", data: "AA==" },
      ],
      structuredContent: { a: 1 },
      isError: true,
      _meta: { trace: "t" },
    };
    const { result, text } = await callAnsweredWith(JSON.stringify(body));
    expect(result).toEqual(body);
    expect(JSON.parse(text ?? "")).toEqual({ jsonrpc: "2.0", id: 1, result: body });
  });

  it("RST-11: digits that a number cannot hold are kept as they were written", async () => {
    const plain = await callAnsweredWith('{ "result" : 12345678901234567890 }');
    expect(plain.result).toEqual({ content: [{ type: "text", text: "12345678901234567890" }] });
    const object = await callAnsweredWith('{"result":{"id":12345678901234567890}}');
    expect(object.result?.["content"]).toEqual([
      { type: "text", text: '{"id":12345678901234567890}' },
    ]);
    // The protocol compares with this text what it was given.
    expect(object.text).toContain('"structuredContent":{"id":12345678901234567890}');
  });

  it("RST-11: where they cannot be kept there is a warning", async () => {
    const { logger, warnings } = recordWarnings();
    const body = '{"took":1,"result":12345678901234567890}';
    await callAnsweredWith(body, { wire: { logger } });
    expect(warnings).toEqual([expect.stringContaining("more digits")]);
  });
});

describe("an error", () => {
  it.each([200, 400, 404, 422, 500])(
    "RST-04, RST-05: the body says so, whatever the status (%i)",
    async (status) => {
      const { result } = await callAnsweredWith('{"error":"Unknown tool: x"}', { status });
      expect(result).toEqual({
        content: [{ type: "text", text: "Unknown tool: x" }],
        isError: true,
      });
    },
  );

  it.each([
    ['{"error":{"code":1,"message":"no"}}', "no"],
    ['{"error":{"reason":"no"}}', '{"reason":"no"}'],
    ['{"error":false,"result":"x"}', "false"],
    ['{"error":"","result":"x"}', ""],
  ])("RST-05: %s is told as %j", async (body, text) => {
    const { result } = await callAnsweredWith(body);
    expect(result).toEqual({ content: [{ type: "text", text }], isError: true });
  });

  it.each([
    [401, "auth_required", {}],
    [403, "auth_required", {}],
    [429, "http_error", { retryable: true }],
    [503, "http_error", { retryable: true }],
  ])("RST-05, F1: HTTP %i keeps its own meaning", async (status, code, more) => {
    await expect(callAnsweredWith('{"error":"later"}', { status })).rejects.toMatchObject({
      code,
      details: { status },
      ...more,
    });
  });

  it("RST-14, ERR-16: without JSON it is told by status and a harmless excerpt", async () => {
    const page = `<title>Bad\u001B[31m gateway of secret-1</title>${"x".repeat(500)}`;
    const failing = callAnsweredWith(page, { status: 502, wire: { secrets: ["secret-1"] } });
    const error = await failing.catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "http_error", details: { status: 502 } });
    const { message } = error as Error;
    expect(message).toContain("answered POST /tools/call with HTTP 502: Bad");
    expect(message).not.toContain("\u001B");
    expect(message).not.toContain("secret-1");
    expect(message.length).toBeLessThan(300);
  });

  it("RST-14: other JSON is quoted", async () => {
    const body = '{"detail":[{"msg":"Field required"}]}';
    await expect(callAnsweredWith(body, { status: 422 })).rejects.toMatchObject({
      code: "http_error",
      message: expect.stringContaining("HTTP 422") as string,
    });
  });

  it.each([
    ['{"foo":1}', "invalid_result", "it has neither a result nor an error"],
    ['{"content":"text"}', "invalid_result", "it has neither a result nor an error"],
    ['"text"', "invalid_result", "it is not an object"],
    ["", "invalid_result", "it is empty"],
    ["not json", "http_error", "instead of JSON: not json"],
  ])("RST-08: a success that holds %j is no result", async (body, code, reason) => {
    await expect(callAnsweredWith(body)).rejects.toMatchObject({
      code,
      message: expect.stringContaining(reason) as string,
    });
  });

  it.each([200, 500])("F4: nesting past the limit is refused (HTTP %i)", async (status) => {
    const depth = 100_000;
    const body = `{"error":${"[".repeat(depth)}${"]".repeat(depth)}}`;
    await expect(callAnsweredWith(body, { status })).rejects.toMatchObject({
      code: "protocol_violation",
    });
  });

  it("F4: size past the limit is refused, unless it is a refusal itself", async () => {
    const body = JSON.stringify({ result: "x".repeat(2_000) });
    const wire = { limits: { maxMessageBytes: 1_000 } };
    await expect(callAnsweredWith(body, { wire })).rejects.toMatchObject({ code: "too_large" });
    await expect(callAnsweredWith(body, { wire, status: 500 })).rejects.toMatchObject({
      code: "http_error",
      details: { status: 500 },
    });
  });
});

describe("the life of the transport", () => {
  it("HTP-07: a call is never redirected", async () => {
    await using server = await startService((_request, response) =>
      response.writeHead(307, { location: "/tools/call/" }).end(),
    );
    await using wire = await openWire(server.origin);
    await expect(wire.request("tools/call", { name: "t" })).rejects.toMatchObject({
      code: "http_error",
      details: { status: 307 },
    });
    expect(lines(server)).toEqual(["POST /tools/call"]);
  });

  it("F3, HTP-08, B-N23: a call whose fate is unknown is not repeated", async () => {
    await using server = await startService((_request, response) =>
      response.socket?.resetAndDestroy(),
    );
    await using wire = await openWire(server.origin);
    await expect(wire.request("tools/call", { name: "t" })).rejects.toMatchObject({
      code: "connection_lost",
    });
    expect(lines(server)).toEqual(["POST /tools/call"]);
  });

  it("F2: silence has a limit", async () => {
    await using server = await startService(() => {});
    await using wire = await openWire(server.origin, { limits: { callTimeoutMs: 50 } });
    await expect(wire.request("tools/call", { name: "t" })).rejects.toMatchObject({
      code: "timeout",
    });
  });

  it("PRO-22: aborting a request ends its exchange and no other", async () => {
    const answer: (() => void)[] = [];
    await using server = await startService((_request, response) => {
      answer.push(() => sendJson(response, '{"result":"x"}'));
      response.once("close", () => server.note("gone"));
    });
    await using wire = await openWire(server.origin);
    const abort = new AbortController();
    const aborted = wire.request("tools/call", { name: "a" }, { requestSignal: abort.signal });
    await server.until(() => server.requests.length === 1);
    const kept = wire.request("tools/call", { name: "b" });
    await server.until(() => server.requests.length === 2);
    abort.abort();
    await expect(aborted).rejects.toMatchObject({ code: "cancelled" });
    await server.until(() => server.notes.includes("gone"));
    answer[1]?.();
    expect((await kept).result).toEqual({ content: [{ type: "text", text: "x" }] });
    const late = wire.request("ping", {}, { requestSignal: abort.signal });
    await expect(late).rejects.toMatchObject({ code: "cancelled" });
  });

  it("TRN-05, TRN-07: nothing is sent before start or after close, and closing twice is safe", async () => {
    await using server = await startService(() => {});
    const wire = createWire(server.origin, { kind });
    await expect(wire.request("ping")).rejects.toMatchObject({ code: "not_connected" });
    await wire.transport.start();
    await wire.transport.start();
    const waiting = wire.request("tools/list");
    await server.until(() => server.requests.length === 1);
    const closing = [wire.transport.close(), wire.transport.close()];
    await expect(waiting).rejects.toMatchObject({ code: "closed" });
    await Promise.all(closing);
    expect(wire.closeCount).toBe(1);
    await expect(wire.request("ping")).rejects.toMatchObject({ code: "closed" });
    expect(wire.transport).toMatchObject({ kind, failure: undefined });
  });

  it("TRN-07: closing between the two exchanges of the handshake ends it there", async () => {
    await using server = await startService(answerWithNothing);
    const agent = new Agent();
    const dispatcher = new Agent();
    dispatcher.dispatch = (options, handler) =>
      agent.dispatch(options, {
        onRequestStart: (controller, context) => handler.onRequestStart?.(controller, context),
        onResponseStart: (...head) => handler.onResponseStart?.(...head),
        onResponseData: (...data) => handler.onResponseData?.(...data),
        onResponseError: (...error) => handler.onResponseError?.(...error),
        onResponseEnd: (...end) => {
          handler.onResponseEnd?.(...end);
          void wire.transport.close();
        },
      });
    const wire = await openWire(server.origin, { dispatcher });
    await expect(initialize(wire)).rejects.toMatchObject({ code: "closed" });
    expect(lines(server)).toEqual(["GET /health"]);
    await Promise.all([agent.close(), dispatcher.close()]);
  });

  it("TRN-04: what JSON cannot say is refused and never sent", async () => {
    await using server = await startService(() => {});
    await using wire = await openWire(server.origin);
    const args = { big: 1n };
    await expect(wire.request("tools/call", { name: "t", arguments: args })).rejects.toMatchObject({
      code: "invalid_arguments",
    });
    expect(server.requests).toEqual([]);
  });

  it("SSE-06, TRN-03: a status of 400 or more comes back as an error message", async () => {
    await using server = await startService((request, response) =>
      request.method === "GET"
        ? answerWithNothing(request, response)
        : response.writeHead(418).end("I am a teapot"),
    );
    await using wire = openDirectWire({ url: server.origin, transport: kind });
    await wire.connect();
    const answer = await wire.sendRequest("tools/call", { name: "x" });
    expect(answer.error).toMatchObject({ code: 418, data: { httpStatus: 418 } });
  });
});
