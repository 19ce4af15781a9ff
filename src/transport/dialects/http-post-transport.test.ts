import type { ServerResponse } from "node:http";

import { describe, expect, it } from "vitest";

import {
  ScriptedServer,
  answerPlainly,
  answerTo,
  openEvents,
  sendJson,
} from "../../../tests/fixtures/http/scripted-server.ts";
import { startDualEraServer } from "../../../tests/fixtures/http/sdk-server.ts";
import {
  createWire,
  initialize,
  openWire as openAnyWire,
  type Wire,
  type WireOptions,
} from "../../../tests/fixtures/http/wire.ts";
import { openWire as openDirectWire } from "../../connection/open-wire.ts";
import { type Logger, silentLogger } from "../../ports/logger.ts";

const kind = "http-post";

function openWire(url: string, options?: WireOptions): Promise<Wire> {
  return openAnyWire(url, { ...options, kind });
}

describe("what is sent", () => {
  it("HTP-01, B-K3: every message is POSTed to the address as configured", async () => {
    await using server = await ScriptedServer.start(answerPlainly);
    await using wire = await openWire(`${server.origin}/a/mcp/?k=1`);
    await initialize(wire);
    await wire.notify("notifications/initialized");
    const { result } = await wire.request("tools/call", { name: "x" });
    expect(result).toEqual({ ok: true });
    expect(server.requests.map(({ method, target }) => `${method} ${target}`)).toEqual([
      "POST /a/mcp/?k=1",
      "POST /a/mcp/?k=1",
      "POST /a/mcp/?k=1",
    ]);
    expect(JSON.parse(server.requests[2]?.body ?? "")).toEqual({
      jsonrpc: "2.0",
      id: 2,
      method: "tools/call",
      params: { name: "x" },
    });
  });

  it("HTP-01: a session is neither kept nor ended, and this is said", async () => {
    const warnings: string[] = [];
    const logger: Logger = { ...silentLogger, warn: (message) => warnings.push(message) };
    await using server = await ScriptedServer.start((request, response) => {
      response.setHeader("mcp-session-id", "s");
      return answerPlainly(request, response);
    });
    const wire = await openWire(server.url, { logger });
    await initialize(wire);
    await wire.notify("notifications/initialized");
    await wire.request("ping");
    await wire.transport.close();
    expect(server.requests.map(({ method }) => method)).toEqual(["POST", "POST", "POST"]);
    expect(server.requests.some(({ headers }) => "mcp-session-id" in headers)).toBe(false);
    expect(warnings).toEqual([expect.stringContaining("streamable-http")]);
  });

  it("HTP-01: the version goes along once it is agreed, and no other header of MCP", async () => {
    await using server = await ScriptedServer.start(answerPlainly);
    await using wire = await openWire(server.url);
    await initialize(wire);
    wire.transport.setProtocolVersion?.("2025-06-18");
    await wire.request("tools/call", { name: "x" });
    const names = server.requests.map(({ headers }) =>
      Object.keys(headers).filter((name) => name.startsWith("mcp-")),
    );
    expect(names).toEqual([[], ["mcp-protocol-version"]]);
  });

  it("AUT-11: configured headers go with every message", async () => {
    await using server = await ScriptedServer.start(answerPlainly);
    await using wire = await openWire(server.url, { headers: { "X-Api-Key": "k" } });
    await wire.request("ping");
    await wire.notify("notifications/initialized");
    expect(server.requests.map(({ headers }) => headers["x-api-key"])).toEqual(["k", "k"]);
  });

  it.each([
    ["no URL", "nowhere"],
    ["another scheme", "ftp://127.0.0.1/"],
    ["credentials in it", "http://user:pw@127.0.0.1/"],
  ])("HTP-05: an address that is %s is refused", (_what, url) => {
    expect(() => createWire(url, { kind })).toThrow(
      expect.objectContaining({ code: "config_invalid" }),
    );
  });
});

describe("what comes back", () => {
  it("HTP-01: an event stream in the body is read, what precedes the answer included", async () => {
    await using server = await ScriptedServer.start((request, response) => {
      openEvents(response);
      response.write('data: {"jsonrpc":"2.0","method":"notifications/message"}\n\n');
      response.end(`data: ${answerTo(request)}\n\n`);
    });
    await using wire = await openWire(server.url);
    const { result } = await wire.request("tools/call");
    expect(result).toEqual({ ok: true });
    expect(wire.received.map(({ method }) => method)).toEqual(["notifications/message", undefined]);
  });

  it("HTP-01: a stream that breaks is not fetched again", async () => {
    await using server = await ScriptedServer.start((_request, response) => {
      openEvents(response);
      response.end('id: 7\ndata: {"jsonrpc":"2.0","method":"notifications/message"}\n\n');
    });
    await using wire = await openWire(server.url);
    await expect(wire.request("tools/call")).rejects.toMatchObject({ code: "connection_lost" });
    expect(server.requests).toHaveLength(1);
  });

  it.each([200, 202, 204])("HTP-01: a notification may be answered with %i", async (status) => {
    await using server = await ScriptedServer.start((_request, response) =>
      response.writeHead(status).end(),
    );
    await using wire = await openWire(server.url);
    await wire.notify("notifications/initialized");
    expect(server.requests).toHaveLength(1);
  });

  it("HTP-09: answers find their requests in whatever order they come", async () => {
    const finish: (() => void)[] = [];
    await using server = await ScriptedServer.start((request, response) => {
      finish.push(() =>
        sendJson(response, answerTo(request, { n: request.message.params?.["n"] })),
      );
    });
    await using wire = await openWire(server.url);
    const requests = [1, 2, 3].map((n) => wire.request("tools/call", { n }));
    await server.until(() => finish.length === 3);
    for (const answer of finish.toReversed()) answer();
    const answers = await Promise.all(requests);
    expect(answers.map(({ result }) => result)).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
  });

  it("HTP-07: a redirect is not followed", async () => {
    await using server = await ScriptedServer.start((_request, response) =>
      response.writeHead(307, { location: "/elsewhere" }).end(),
    );
    await using wire = await openWire(server.url);
    await expect(wire.request("tools/call")).rejects.toMatchObject({
      code: "http_error",
      details: { status: 307 },
    });
    expect(server.requests).toHaveLength(1);
  });

  it.each([
    ["HTTP 500", (response) => response.writeHead(500).end("broken")],
    ["HTTP 429", (response) => response.writeHead(429, { "retry-after": "0" }).end()],
    ["a reset", (response) => response.socket?.resetAndDestroy()],
  ] satisfies [string, (response: ServerResponse) => unknown][])(
    "HTP-08, F1, F3, B-N23: after %s nothing is sent again",
    async (_what, respond) => {
      await using server = await ScriptedServer.start((_request, response) => respond(response));
      await using wire = await openWire(server.url);
      await expect(wire.request("tools/call")).rejects.toMatchObject({
        code: expect.stringMatching(/^(http_error|connection_lost)$/) as string,
      });
      expect(server.requests).toHaveLength(1);
    },
  );

  it("F2, F4: silence and size have their limits", async () => {
    await using server = await ScriptedServer.start((request, response) => {
      if (request.message.method === "silent") return;
      sendJson(response, JSON.stringify("x".repeat(2_000)));
    });
    await using impatient = await openWire(server.url, { limits: { callTimeoutMs: 50 } });
    await expect(impatient.request("silent")).rejects.toMatchObject({ code: "timeout" });
    await using wire = await openWire(server.url, { limits: { maxMessageBytes: 1_000 } });
    await expect(wire.request("large")).rejects.toMatchObject({ code: "too_large" });
  });
});

describe("the life of the transport", () => {
  it("PRO-22: aborting a request ends its exchange", async () => {
    await using server = await ScriptedServer.start((_request, response) => {
      response.once("close", () => server.note("gone"));
    });
    await using wire = await openWire(server.url);
    const abort = new AbortController();
    const calling = wire.request("tools/call", {}, { requestSignal: abort.signal });
    await server.until(() => server.requests.length === 1);
    abort.abort();
    await expect(calling).rejects.toMatchObject({ code: "cancelled" });
    await server.until(() => server.notes.includes("gone"));
  });

  it("HTP-04, TRN-05, TRN-07: nothing is sent before start or after close, and closing twice is safe", async () => {
    await using server = await ScriptedServer.start(() => {});
    const wire = createWire(server.url, { kind });
    await expect(wire.request("ping")).rejects.toMatchObject({ code: "not_connected" });
    await wire.transport.start();
    await wire.transport.start();
    const waiting = wire.request("ping");
    await server.until(() => server.requests.length === 1);
    const closing = [wire.transport.close(), wire.transport.close()];
    await expect(waiting).rejects.toMatchObject({ code: "closed" });
    await Promise.all(closing);
    expect(wire.closeCount).toBe(1);
    await expect(wire.request("ping")).rejects.toMatchObject({ code: "closed" });
    expect(wire.transport).toMatchObject({ kind, failure: undefined });
  });
});

describe("through the wire of the library", () => {
  it.each(["2026-07-28", "2025-11-25"])(
    "HTP-04, TRN-02: the official server answers, protocol %s",
    async (protocol) => {
      await using server = await startDualEraServer();
      await using wire = openDirectWire({ url: server.url, transport: kind, protocol });
      await wire.connect();
      const answer = await wire.sendRequest("tools/call", {
        name: "echo",
        arguments: { text: "hello" },
      });
      expect(answer.result).toMatchObject({ content: [{ type: "text", text: "hello" }] });
      expect(server.requests.every(({ method }) => method === "POST")).toBe(true);
    },
  );

  it("SSE-06, TRN-03: a status of 400 or more comes back as an error message", async () => {
    await using server = await ScriptedServer.start((request, response) => {
      const { method } = request.message;
      if (method === "server/discover") return response.writeHead(404).end();
      if (method === "tools/call") return response.writeHead(418).end("I am a teapot");
      const result = { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: {} };
      return method === "initialize"
        ? sendJson(response, answerTo(request, result))
        : response.writeHead(204).end();
    });
    await using wire = openDirectWire({ url: server.url, transport: kind });
    await wire.connect();
    const answer = await wire.sendRequest("tools/call", { name: "x" });
    expect(answer.error).toMatchObject({
      code: 418,
      message: expect.stringContaining("I am a teapot") as string,
      data: { httpStatus: 418 },
    });
  });
});
