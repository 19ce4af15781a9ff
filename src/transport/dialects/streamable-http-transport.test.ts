import type { ServerResponse } from "node:http";

import { describe, expect, it } from "vitest";

import {
  ScriptedServer,
  answerPlainly,
  answerTo,
  openEvents,
  sendJson,
} from "../../../tests/fixtures/http/scripted-server.ts";
import {
  ImpatientClock,
  createWire,
  initialize,
  openWire,
} from "../../../tests/fixtures/http/wire.ts";
import type { Logger } from "../../ports/logger.ts";
import { silentLogger } from "../../ports/logger.ts";

const modernMeta = { "io.modelcontextprotocol/protocolVersion": "2026-07-28" };

function withSession(id: string): Promise<ScriptedServer> {
  return ScriptedServer.start((request, response) => {
    if (request.message.method === "initialize") response.setHeader("mcp-session-id", id);
    return answerPlainly(request, response);
  });
}

describe("what is sent", () => {
  it("SHT-05, B-K2: both content types are accepted, so a server that insists on it answers", async () => {
    await using server = await ScriptedServer.start((request, response) => {
      const accept = request.headers.accept ?? "";
      const isEnough = accept.includes("application/json") && accept.includes("text/event-stream");
      if (!isEnough) return response.writeHead(406).end();
      return answerPlainly(request, response);
    });
    await using wire = await openWire(server.url);
    await wire.request("ping");
    expect(server.requests[0]?.headers["content-type"]).toBe("application/json");
  });

  it("B-K2, B-K3: the address is used exactly as configured, query and trailing slash included", async () => {
    await using server = await ScriptedServer.start(answerPlainly);
    await using wire = await openWire(`${server.origin}/a/mcp/?exaApiKey=k%20y&x=1`);
    await wire.request("ping");
    expect(server.requests[0]?.target).toBe("/a/mcp/?exaApiKey=k%20y&x=1");
    expect(wire.transport.evidence.target).toBe(`${server.origin}/a/mcp/?…`);
  });

  it("SHT-01, SHT-02, AUT-11, B-K2, B-N22: configured headers go with every request", async () => {
    await using server = await ScriptedServer.start((request, response) => {
      response.setHeader("mcp-session-id", "s");
      return answerPlainly(request, response);
    });
    const headers = { Authorization: "Bearer secret", "X-Api-Key": "k" };
    const wire = await openWire(server.url, { headers });
    await initialize(wire);
    await wire.notify("notifications/initialized");
    await server.until(() => server.requests.some(({ method }) => method === "GET"));
    await wire.transport.close();
    expect(server.requests.map(({ method }) => method)).toEqual(["POST", "POST", "GET", "DELETE"]);
    for (const request of server.requests) {
      expect(request.headers.authorization).toBe("Bearer secret");
      expect(request.headers["x-api-key"]).toBe("k");
    }
  });

  it("AUT-01: without credentials no authorization header is sent", async () => {
    await using server = await ScriptedServer.start(answerPlainly);
    await using wire = await openWire(server.url);
    await wire.request("ping");
    expect(server.requests[0]?.headers.authorization).toBeUndefined();
  });

  it("AUT-02, B-K4: a token that was stored with its scheme does not get it twice", async () => {
    await using server = await ScriptedServer.start(answerPlainly);
    await using wire = await openWire(server.url, {
      headers: { authorization: "Bearer Bearer secret" },
    });
    await wire.request("ping");
    expect(server.requests[0]?.headers.authorization).toBe("Bearer secret");
  });

  it("SHT-02: headers that belong to the transport cannot be configured, and this is said", async () => {
    const warnings: unknown[] = [];
    const logger: Logger = { ...silentLogger, warn: (_message, fields) => warnings.push(fields) };
    await using server = await ScriptedServer.start(answerPlainly);
    await using wire = await openWire(server.url, {
      logger,
      headers: { "Mcp-Session-Id": "mine", Host: "evil.test", accept: "text/html", "X-Ok": "1" },
    });
    await wire.request("ping");
    const { headers } = server.requests[0] ?? {};
    expect(headers?.["mcp-session-id"]).toBeUndefined();
    expect(headers?.host).toBe(new URL(server.origin).host);
    expect(headers?.["x-ok"]).toBe("1");
    expect(warnings).toEqual([
      { serverName: "api", ignored: ["Mcp-Session-Id", "Host", "accept"] },
    ]);
  });

  it("SHT-02: a caller may add parameter headers to one request and nothing else", async () => {
    await using server = await ScriptedServer.start(answerPlainly);
    await using wire = await openWire(server.url, { headers: { authorization: "Bearer a" } });
    await wire.request(
      "tools/call",
      { name: "t", _meta: modernMeta },
      { headers: { "Mcp-Param-Region": "eu", authorization: "Bearer b", "mcp-method": "x" } },
    );
    const { headers } = server.requests[0] ?? {};
    expect(headers?.["mcp-param-region"]).toBe("eu");
    expect(headers?.authorization).toBe("Bearer a");
    expect(headers?.["mcp-method"]).toBe("tools/call");
  });

  it.each([
    ["no URL", "nowhere"],
    ["another scheme", "file:///etc/passwd"],
    ["credentials in it", "http://user:pw@127.0.0.1/"],
  ])("SHT-01: an address that is %s is refused", (_what, url) => {
    expect(() => createWire(url)).toThrow(expect.objectContaining({ code: "config_invalid" }));
  });

  it("SHT-01: a header value that HTTP cannot carry is refused without being shown", () => {
    const headers = { "x-key": "top\r\nsecret" };
    const create = (): unknown => createWire("http://127.0.0.1/", { headers });
    expect(create).toThrow(expect.objectContaining({ code: "config_invalid" }));
    expect(create).not.toThrow(/secret/);
  });
});

describe("what is answered", () => {
  it("SHT-04, B-K2, B-N24: an answer in an event stream is read", async () => {
    await using server = await ScriptedServer.start((request, response) => {
      openEvents(response);
      response.end(`event: message\ndata: ${answerTo(request, { tools: [] })}\n\n`);
    });
    await using wire = await openWire(server.url);
    expect((await wire.request("tools/list")).result).toEqual({ tools: [] });
  });

  it("SHT-04: what the server says on a stream before the answer is delivered in order", async () => {
    await using server = await ScriptedServer.start((request, response) => {
      openEvents(response);
      const progress = { jsonrpc: "2.0", method: "notifications/progress", params: {} };
      const question = { jsonrpc: "2.0", id: "q", method: "elicitation/create", params: {} };
      for (const message of [progress, question])
        response.write(`data: ${JSON.stringify(message)}\n\n`);
      response.end(`data: ${answerTo(request)}\n\n`);
    });
    await using wire = await openWire(server.url);
    await wire.request("tools/call");
    expect(wire.received.map(({ method }) => method)).toEqual([
      "notifications/progress",
      "elicitation/create",
      undefined,
    ]);
  });

  it("SHT-09: a message of a stream arrives while the stream is still open", async () => {
    let finish: (() => void) | undefined;
    await using server = await ScriptedServer.start((request, response) => {
      openEvents(response);
      response.write('data: {"jsonrpc":"2.0","method":"notifications/message"}\n\n');
      finish = () => response.end(`data: ${answerTo(request)}\n\n`);
    });
    await using wire = await openWire(server.url);
    const answer = wire.request("tools/call");
    await wire.until((received) => received.length === 1);
    finish?.();
    await answer;
  });

  it.each([202, 204, 200])(
    "SHT-05: a notification may be answered with %i and nothing",
    async (status) => {
      await using server = await ScriptedServer.start((_request, response) =>
        response.writeHead(status).end(),
      );
      await using wire = await openWire(server.url);
      await wire.notify("notifications/initialized");
      await wire.transport.send({ jsonrpc: "2.0", id: 1, result: {} });
    },
  );

  it("SHT-04: a byte order mark before the JSON does no harm", async () => {
    await using server = await ScriptedServer.start((request, response) =>
      sendJson(response, `\uFEFF${answerTo(request)}`),
    );
    await using wire = await openWire(server.url);
    await wire.request("ping");
  });

  it("SHT-05: a notification answered with a stream that never ends is done all the same", async () => {
    await using server = await ScriptedServer.start((_request, response) => {
      response.on("close", () => server.note("cut off"));
      openEvents(response);
    });
    await using wire = await openWire(server.url, { clock: new ImpatientClock() });
    await wire.notify("notifications/cancelled");
    await server.until(() => server.notes.length === 1);
  });

  it.each([202, 204])("F2: a request answered with %i fails instead of waiting", async (status) => {
    await using server = await ScriptedServer.start((_request, response) =>
      response.writeHead(status).end(),
    );
    await using wire = await openWire(server.url);
    await expect(wire.request("ping")).rejects.toMatchObject({
      code: "protocol_violation",
      details: { status },
    });
  });

  it.each([400, 404, 500])(
    "TRN-03: the server's own error for this request is a message, even with HTTP %i",
    async (status) => {
      await using server = await ScriptedServer.start((request, response) => {
        const error = { code: -32_601, message: "Method not found" };
        sendJson(
          response,
          JSON.stringify({ jsonrpc: "2.0", id: request.message.id, error }),
          status,
        );
      });
      await using wire = await openWire(server.url);
      expect((await wire.request("server/discover")).error?.code).toBe(-32_601);
    },
  );

  it("TRN-03: an error without an id stays an HTTP error that quotes it", async () => {
    await using server = await ScriptedServer.start((_request, response) => {
      const message = "Bad Request: \u001B[31mno session";
      const error = { code: -32_000, message, data: { supported: ["x"] } };
      sendJson(response, JSON.stringify({ jsonrpc: "2.0", id: null, error }), 400);
    });
    await using wire = await openWire(server.url);
    await expect(wire.request("server/discover")).rejects.toMatchObject({
      code: "http_error",
      details: {
        status: 400,
        rpc: { code: -32_000, message: "Bad Request: no session", data: { supported: ["x"] } },
      },
    });
    expect(wire.received).toEqual([]);
  });

  it.each([
    ["the answer to another request", { jsonrpc: "2.0", id: 999, result: {} }],
    ["an id of another type", { jsonrpc: "2.0", id: "1", result: {} }],
    ["a notification", { jsonrpc: "2.0", method: "notifications/message" }],
    ["no message at all", {}],
    ["a number", 5],
  ])("A9: a request answered with %s fails at once", async (_what, body) => {
    await using server = await ScriptedServer.start((_request, response) =>
      sendJson(response, JSON.stringify(body)),
    );
    await using wire = await openWire(server.url);
    await expect(wire.request("ping")).rejects.toMatchObject({ code: "protocol_violation" });
  });

  it("A11: a message nested too deep is refused before it is built", async () => {
    await using server = await ScriptedServer.start((request, response) => {
      const deep = "[".repeat(300) + "]".repeat(300);
      sendJson(response, `{"jsonrpc":"2.0","id":${request.message.id},"result":{"a":${deep}}}`);
    });
    await using wire = await openWire(server.url);
    await expect(wire.request("ping")).rejects.toMatchObject({ code: "protocol_violation" });
    expect(wire.received).toEqual([]);
  });

  it("A11: a large message nested too deep in its last bytes is refused, too", async () => {
    await using server = await ScriptedServer.start((request, response) => {
      const text = "x".repeat(200_000);
      const deep = "[".repeat(300) + "]".repeat(300);
      const result = `{"t":"${text}","a":${deep}}`;
      sendJson(response, `{"jsonrpc":"2.0","id":${request.message.id},"result":${result}}`);
    });
    await using wire = await openWire(server.url);
    await expect(wire.request("ping")).rejects.toMatchObject({ code: "protocol_violation" });
  });

  it("A11: a large message nested too deep is refused while it comes, before its end", async () => {
    await using server = await ScriptedServer.start((request, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      const text = "x".repeat(200_000);
      const deep = "[".repeat(300);
      // Nothing follows: the refusal cannot wait for the end.
      response.write(
        `{"jsonrpc":"2.0","id":${request.message.id},"result":{"t":"${text}","a":${deep}`,
      );
    });
    await using wire = await openWire(server.url);
    await expect(wire.request("ping")).rejects.toMatchObject({ code: "protocol_violation" });
  });

  it("a large message arrives whole, whatever pieces it comes in", async () => {
    const text = 'ä\\"['.repeat(40_000);
    await using server = await ScriptedServer.start((request, response) => {
      const body = JSON.stringify({ jsonrpc: "2.0", id: request.message.id, result: { text } });
      const bytes = Buffer.from(body);
      response.writeHead(200, { "content-type": "application/json" });
      for (let at = 0; at < bytes.length; at += 7_001)
        response.write(bytes.subarray(at, at + 7_001));
      response.end();
    });
    await using wire = await openWire(server.url);
    expect(await wire.request("ping")).toMatchObject({ result: { text } });
  });

  it("A3: events that are no message are counted and do not disturb", async () => {
    await using server = await ScriptedServer.start((request, response) => {
      openEvents(response);
      response.write("data: hello\n\nevent: other\ndata: {}\n\n: comment\n\n");
      response.end(`data: ${answerTo(request)}\n\n`);
    });
    await using wire = await openWire(server.url);
    await wire.request("ping");
    expect(wire.received).toHaveLength(1);
    expect(wire.transport.evidence.junkMessages).toBe(1);
  });

  it("HTP-09: 200 calls at once each get their own answer", async () => {
    await using server = await ScriptedServer.start((request, response) =>
      sendJson(response, answerTo(request, { echo: request.message.params })),
    );
    await using wire = await openWire(server.url);
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, index) => wire.request("tools/call", { index })),
    );
    expect(answers.map(({ result }) => result)).toEqual(
      Array.from({ length: 200 }, (_, index) => ({ echo: { index } })),
    );
  });

  it.each([
    ["alone", (answer: string) => answer],
    ["in a batch", (answer: string) => `[${answer}]`],
  ])("F7: no stream can answer another request that waits, %s", async (_name, wrap) => {
    const waiting: { readonly id: unknown; readonly response: ServerResponse }[] = [];
    const write = (response: ServerResponse, text: string) => response.write(`data: ${text}\n\n`);
    const answer = (id: unknown, by: unknown) =>
      JSON.stringify({ jsonrpc: "2.0", id, result: { by } });
    await using server = await ScriptedServer.start(({ message: { id } }, response) => {
      openEvents(response);
      waiting.push({ id, response });
      const [one, other] = waiting;
      if (one === undefined || other === undefined) return;
      write(one.response, wrap(answer(other.id, one.id)));
      write(other.response, wrap(answer(one.id, other.id)));
      for (const { id, response } of waiting) write(response, answer(id, id));
    });
    await using wire = await openWire(server.url);
    const answers = await Promise.all([wire.request("tools/call"), wire.request("tools/call")]);
    expect(answers.map(({ result }) => result)).toEqual([{ by: 1 }, { by: 2 }]);
    expect(wire.transport.evidence.junkMessages).toBeGreaterThan(0);
  });

  it("F7: an answer that nobody waits for reaches the protocol, which counts such things", async () => {
    await using server = await ScriptedServer.start((request, response) => {
      openEvents(response);
      response.write('data: {"jsonrpc":"2.0","id":77,"result":{}}\n\n');
      response.end(`data: ${answerTo(request)}\n\n`);
    });
    await using wire = await openWire(server.url);
    await wire.request("tools/call");
    expect(wire.received.map(({ id }) => id)).toEqual([77, 1]);
  });

  it("MSG-11: a batch without measure is refused", async () => {
    await using server = await ScriptedServer.start((_request, response) => {
      sendJson(response, `[${"{},".repeat(1_000)}{}]`);
    });
    await using wire = await openWire(server.url);
    await expect(wire.request("tools/call")).rejects.toMatchObject({
      code: "protocol_violation",
      message: "the server sent a batch of 1001 messages",
    });
    expect(wire.received).toEqual([]);
  });

  it("MSG-11: a batch is handed on as a whole, and ends the call it answers", async () => {
    await using server = await ScriptedServer.start((request, response) => {
      const notification = '{"jsonrpc":"2.0","method":"notifications/message"}';
      sendJson(response, `[${notification},${answerTo(request)}]`);
    });
    await using wire = await openWire(server.url);
    await wire.transport.send({ jsonrpc: "2.0", id: 1, method: "ping" });
    expect(wire.received).toHaveLength(1);
    expect(wire.received[0]).toHaveLength(2);
  });
});

describe("sessions", () => {
  it.each(["a.b-c_d", "eyJhbGciOi.eyJzdWIi.c2ln", "~!{}|^`"])(
    "SHT-06, B-N24: any visible ASCII is a session id (%s)",
    async (id) => {
      await using server = await withSession(id);
      await using wire = await openWire(server.url);
      await initialize(wire);
      await wire.request("ping");
      expect(server.posts("ping")[0]?.headers["mcp-session-id"]).toBe(id);
      expect(wire.transport.evidence.sessionId).toBe(id);
    },
  );

  it("SHT-06: an id that no header may hold is not taken over", async () => {
    await using server = await withSession("caf\u00E9 1");
    await using wire = await openWire(server.url);
    await initialize(wire);
    expect(wire.transport.sessionId).toBeUndefined();
  });

  it("SHT-06: initialize never carries a session, and its answer replaces the old one", async () => {
    let count = 0;
    await using server = await ScriptedServer.start((request, response) => {
      count += 1;
      if (count === 1) response.setHeader("mcp-session-id", "first");
      return answerPlainly(request, response);
    });
    await using wire = await openWire(server.url);
    await initialize(wire);
    await initialize(wire);
    expect(server.requests[1]?.headers["mcp-session-id"]).toBeUndefined();
    expect(wire.transport.sessionId).toBeUndefined();
  });

  it("SHT-06: a session the server forgot is reported as such, and initialize starts a new one", async () => {
    let known = "one";
    await using server = await ScriptedServer.start((request, response) => {
      const id = request.headers["mcp-session-id"];
      if (request.message.method === "initialize") response.setHeader("mcp-session-id", known);
      else if (id !== known) return sendJson(response, '{"error":"Session not found"}', 404);
      return answerPlainly(request, response);
    });
    await using wire = await openWire(server.url);
    await initialize(wire);
    known = "two";
    await expect(wire.request("tools/call")).rejects.toMatchObject({
      code: "connection_lost",
      details: { sessionLost: true },
    });
    expect(wire.transport.failure).toBeUndefined();
    await initialize(wire);
    await wire.request("ping");
    expect(wire.transport.sessionId).toBe("two");
  });

  it("SHT-06: 404 without a session is an HTTP error", async () => {
    await using server = await ScriptedServer.start((_request, response) =>
      response.writeHead(404).end(),
    );
    await using wire = await openWire(server.url);
    await expect(wire.request("ping")).rejects.toMatchObject({ code: "http_error" });
  });

  it.each([405, 404, 500])(
    "SHT-06: closing tolerates HTTP %i for the end of the session",
    async (status) => {
      await using server = await ScriptedServer.start((request, response) => {
        if (request.method === "DELETE") return response.writeHead(status).end();
        response.setHeader("mcp-session-id", "s");
        return answerPlainly(request, response);
      });
      const wire = await openWire(server.url);
      await initialize(wire);
      await wire.transport.close();
      expect(server.requests.at(-1)?.method).toBe("DELETE");
    },
  );

  it("SHT-06: a server that does not answer the end of the session does not hold up closing", async () => {
    await using server = await ScriptedServer.start((request, response) => {
      if (request.method === "DELETE") return;
      response.setHeader("mcp-session-id", "s");
      answerPlainly(request, response);
    });
    const wire = await openWire(server.url, { clock: new ImpatientClock() });
    await initialize(wire);
    await wire.transport.close();
    await server.until(() => server.sockets.size === 0);
  });
});

describe("life", () => {
  it("ERR-12: sending before start and after close is refused", async () => {
    await using server = await ScriptedServer.start(answerPlainly);
    const wire = createWire(server.url);
    await expect(wire.request("ping")).rejects.toMatchObject({ code: "not_connected" });
    await wire.transport.start();
    await wire.transport.close();
    await expect(wire.request("ping")).rejects.toMatchObject({ code: "closed" });
    await expect(wire.transport.start()).resolves.toBeUndefined();
    expect(server.requests).toEqual([]);
  });

  it("TRN-07: closing ends calls in flight, once, and leaves no connection", async () => {
    await using server = await ScriptedServer.start((request, response) => {
      if (request.message.method === "stream") openEvents(response);
    });
    const wire = await openWire(server.url);
    const calls = [wire.request("silent"), wire.request("stream")];
    const ends = calls.map((call) => expect(call).rejects.toMatchObject({ code: "closed" }));
    await server.until(() => server.requests.length === 2);
    await Promise.all([wire.transport.close(), wire.transport.close()]);
    await Promise.all(ends);
    await wire.transport.close();
    expect(wire.closeCount).toBe(1);
    expect(wire.transport.failure).toBeUndefined();
    await server.until(() => server.sockets.size === 0);
  });

  it("TRN-07: closing while starting is safe", async () => {
    await using server = await ScriptedServer.start(answerPlainly);
    const wire = createWire(server.url);
    const starting = wire.transport.start();
    await wire.transport.close();
    await expect(starting).rejects.toMatchObject({ code: "closed" });
  });

  it("TRN-07: closing from within a message handler is safe", async () => {
    await using server = await ScriptedServer.start(answerPlainly);
    const wire = await openWire(server.url);
    let closing: Promise<void> | undefined;
    wire.transport.onmessage = () => {
      closing = wire.transport.close();
    };
    await wire.transport.send({ jsonrpc: "2.0", id: 1, method: "ping" }).catch(() => undefined);
    await closing;
    expect(wire.closeCount).toBe(1);
  });

  it("ERR-18: what a message handler throws is reported and disturbs nothing", async () => {
    await using server = await ScriptedServer.start(answerPlainly);
    await using wire = await openWire(server.url);
    const errors: Error[] = [];
    wire.transport.onerror = (error) => errors.push(error);
    wire.transport.onmessage = () => {
      throw new Error("handler");
    };
    await wire.transport.send({ jsonrpc: "2.0", id: 1, method: "ping" });
    expect(errors.map(({ message }) => message)).toEqual(["handler"]);
  });

  it("PRO-22: an aborted request is cut off, before and after the headers", async () => {
    await using server = await ScriptedServer.start((request, response) => {
      response.on("close", () => server.note("cut off"));
      if (request.message.method === "stream") openEvents(response);
    });
    await using wire = await openWire(server.url);
    const abort = new AbortController();
    const options = { requestSignal: abort.signal };
    const calls = [wire.request("silent", {}, options), wire.request("stream", {}, options)];
    const ends = calls.map((call) => expect(call).rejects.toMatchObject({ code: "cancelled" }));
    await server.until(() => server.requests.length === 2);
    abort.abort();
    await Promise.all(ends);
    await server.until(() => server.notes.length === 2);
    await expect(wire.request("ping", {}, options)).rejects.toMatchObject({ code: "cancelled" });
    expect(server.requests).toHaveLength(2);
  });

  it("PRO-22: a request aborted while it waits for a connection is never sent", async () => {
    const held: (() => void)[] = [];
    await using server = await ScriptedServer.start((request, response) => {
      held.push(() => sendJson(response, answerTo(request)));
    });
    await using wire = await openWire(server.url);
    const running = Array.from({ length: 40 }, () => wire.request("running"));
    await server.until(() => server.requests.length === 40);
    const abort = new AbortController();
    const waiting = wire.request("waiting", {}, { requestSignal: abort.signal });
    abort.abort();
    await expect(waiting).rejects.toMatchObject({ code: "cancelled" });
    for (const release of held) release();
    await Promise.all(running);
    const last = wire.request("last");
    await server.until(() => server.posts("last").length === 1);
    held.at(-1)?.();
    await last;
    expect(server.posts("waiting")).toEqual([]);
  });

  it("A19: answers to the server do not wait behind calls", async () => {
    const held: (() => void)[] = [];
    await using server = await ScriptedServer.start((request, response) => {
      if (request.message.method === undefined) return response.writeHead(202).end();
      return held.push(() => sendJson(response, answerTo(request)));
    });
    await using wire = await openWire(server.url);
    const running = Array.from({ length: 40 }, () => wire.request("running"));
    await server.until(() => server.requests.length === 40);
    await wire.transport.send({ jsonrpc: "2.0", id: "q", result: {} });
    for (const release of held) release();
    await Promise.all(running);
  });

  it("SHT-10: a stream that stays open after its answer gives its connection back", async () => {
    await using server = await ScriptedServer.start((request, response) => {
      response.on("close", () => server.note("cut off"));
      openEvents(response);
      response.write(`data: ${answerTo(request)}\n\n`);
    });
    await using wire = await openWire(server.url, { clock: new ImpatientClock() });
    await wire.request("tools/call");
    await server.until(() => server.notes.length === 1);
  });
});
