import { describe, expect, it } from "vitest";

import {
  type Respond,
  ScriptedServer,
  answerTo,
  openEvents,
  sendJson,
} from "../../../tests/fixtures/http/scripted-server.ts";
import {
  type SsePost,
  announcement,
  createSseWire,
  openSseWire,
  startSseServer,
} from "../../../tests/fixtures/http/sse-wire.ts";
import { ImpatientClock, WaitingClock } from "../../../tests/fixtures/http/wire.ts";
import { type Logger, silentLogger } from "../../ports/logger.ts";

const hello = '{"jsonrpc":"2.0","method":"notifications/message"}';

/** Accepts a message and answers requests on the stream, as MCP has it. */
const answerOnStream: SsePost = (request, response, streams) => {
  response.writeHead(202).end("Accepted");
  if (request.message.id !== undefined)
    streams.write(`event: message\ndata: ${answerTo(request)}\n\n`);
};

const answerInBody: SsePost = (request, response) => {
  if (request.message.id === undefined) return response.writeHead(202).end();
  return sendJson(response, answerTo(request));
};

const targets = (server: ScriptedServer): string[] =>
  server.requests.map(({ method, target }) => `${method} ${target}`);

describe("where messages go", () => {
  it("C-13, SSE-05: to the announced address, and the answer comes on the stream", async () => {
    await using server = await startSseServer(announcement, answerOnStream);
    await using wire = await openSseWire(server.sseUrl);
    expect((await wire.ask("ping")).result).toEqual({ ok: true });
    expect(targets(server)).toEqual(["GET /sse", "POST /message?sessionId=1"]);
  });

  it("C-13, SSE-04: to the derived one when nothing is announced in time", async () => {
    const clock = new ImpatientClock();
    await using server = await startSseServer(": hello\n\n", answerInBody);
    await using wire = await openSseWire(`${server.sseUrl}?key=k`, { clock });
    await wire.ask("ping");
    expect(targets(server)).toEqual(["GET /sse?key=k", "POST /message?key=k"]);
  });

  it("C-13: the time for an announcement begins with the stream, not with the request for it", async () => {
    const clock = new WaitingClock();
    await using server = await startSseServer(announcement, answerOnStream);
    const delaysMs: number[] = [];
    const schedule = clock.schedule.bind(clock);
    clock.schedule = (...[delayMs]: readonly number[]) => {
      delaysMs.push(delayMs ?? 0);
      return schedule();
    };
    await using wire = await openSseWire(server.sseUrl, { clock });
    expect(delaysMs).toEqual([10_000, 1_500]);
    await wire.ask("ping");
  });

  it("C-13: an announcement that comes later counts for the messages after it", async () => {
    const clock = new ImpatientClock();
    await using server = await startSseServer(": hello\n\n", (request, response, streams) => {
      if (request.target === "/message") streams.write(announcement);
      return answerOnStream(request, response, streams);
    });
    await using wire = await openSseWire(server.sseUrl, { clock });
    await wire.ask("ping");
    await wire.ask("ping");
    expect(targets(server).slice(1)).toEqual(["POST /message", "POST /message?sessionId=1"]);
  });

  it.each([
    ["derive", "/message"],
    ["/elsewhere?x=1", "/elsewhere?x=1"],
  ])("C-13: %s needs no announcement and ignores one", async (messageEndpoint, target) => {
    const foreign = "event: endpoint\ndata: http://evil.example/\n\n";
    await using server = await startSseServer(foreign + announcement, answerOnStream);
    const clock = new WaitingClock();
    await using wire = await openSseWire(server.sseUrl, { messageEndpoint, clock });
    await wire.ask("ping");
    expect(targets(server)[1]).toBe(`POST ${target}`);
  });

  it.each(["auto", "derive"])(
    "C-13: a server that holds its headers back until it has something to say works with %s",
    async (messageEndpoint) => {
      let flush = (): void => {};
      await using server = await ScriptedServer.start((request, response) => {
        if (request.method === "POST") {
          response.writeHead(202).end();
          return flush();
        }
        flush = () => {
          openEvents(response);
          response.write(`data: ${hello}\n\n`);
        };
        return server.note("GET");
      });
      const clock = new ImpatientClock();
      await using wire = await openSseWire(`${server.origin}/sse`, { messageEndpoint, clock });
      await wire.notify("notifications/initialized");
      await wire.until((received) => received.length === 1);
      expect(server.requests.at(-1)?.target).toBe("/message");
    },
  );

  it("SSE-14: an announced address of another origin is refused, and nothing is sent there", async () => {
    await using trap = await ScriptedServer.start((_request, response) => response.end());
    const foreign = `event: endpoint\ndata: ${trap.origin}/message\n\n`;
    await using server = await startSseServer(foreign, answerOnStream);
    const headers = { authorization: "Bearer secret" };
    const wire = createSseWire(server.sseUrl, { headers });
    await expect(wire.transport.start()).rejects.toMatchObject({
      name: "McpTransportError",
      code: "blocked_address",
      message: `the server wants messages sent to ${trap.origin}, which is not where it is itself`,
      serverName: "api",
    });
    await expect(wire.ask("ping")).rejects.toMatchObject({ code: "blocked_address" });
    await server.until(() => server.sockets.size === 0);
    expect(trap.requests).toEqual([]);
    expect(wire.closeCount).toBe(1);
  });

  it("SSE-14: a later announcement of another origin ends the connection", async () => {
    await using server = await startSseServer(announcement, answerOnStream);
    const wire = await openSseWire(server.sseUrl);
    await wire.ask("ping");
    const closed = new Promise<void>((resolve) => {
      wire.transport.onclose = resolve;
    });
    server.streams.write("event: endpoint\ndata: //evil.example/m\n\n");
    await closed;
    expect(wire.transport.failure).toMatchObject({ code: "blocked_address" });
    await expect(wire.ask("ping")).rejects.toMatchObject({ code: "blocked_address" });
  });
});

describe("what is sent", () => {
  it("SSE-02, AUT-11, B-K2: configured headers go with the GET and with every message", async () => {
    await using server = await startSseServer(announcement, answerOnStream);
    const headers = { Authorization: "Bearer secret", "X-Api-Key": "k" };
    await using wire = await openSseWire(server.sseUrl, { headers });
    await wire.ask("initialize");
    await wire.notify("notifications/initialized");
    expect(server.requests.map(({ method }) => method)).toEqual(["GET", "POST", "POST"]);
    for (const request of server.requests) {
      expect(request.headers.authorization).toBe("Bearer secret");
      expect(request.headers["x-api-key"]).toBe("k");
    }
    expect(server.requests[0]?.headers.accept).toBe("text/event-stream");
    expect(server.requests[1]?.headers["content-type"]).toBe("application/json");
  });

  it("AUT-01: without credentials no authorization header is sent", async () => {
    await using server = await startSseServer(announcement, answerOnStream);
    await using wire = await openSseWire(server.sseUrl);
    await wire.ask("ping");
    for (const { headers } of server.requests) expect(headers.authorization).toBeUndefined();
  });

  it("AUT-02: a token that was stored with its scheme does not get it twice", async () => {
    await using server = await startSseServer(announcement, answerOnStream);
    const headers = { authorization: "Bearer Bearer secret" };
    await using wire = await openSseWire(server.sseUrl, { headers });
    await wire.ask("ping");
    for (const request of server.requests)
      expect(request.headers.authorization).toBe("Bearer secret");
  });

  it("SSE-01: the log says that the transport is deprecated, once", async () => {
    const notes: string[] = [];
    const logger: Logger = { ...silentLogger, info: (message) => notes.push(message) };
    await using server = await startSseServer(announcement, answerOnStream);
    await using wire = await openSseWire(server.sseUrl, { logger });
    await wire.transport.start();
    await wire.ask("ping");
    expect(notes).toEqual(["the server is reached over HTTP+SSE, which MCP has deprecated"]);
  });

  it("B-K2: keys in the query are not shown", async () => {
    await using server = await startSseServer(announcement, answerOnStream);
    await using wire = await openSseWire(`${server.sseUrl}?key=k`);
    expect(wire.transport.evidence.target).toBe(`${server.sseUrl}?…`);
  });
});

describe("redirects", () => {
  const redirecting =
    (location: string, times = Number.POSITIVE_INFINITY): Respond =>
    (request, response) => {
      if (request.method === "POST") return response.writeHead(202).end();
      const count = Number(new URL(request.target, "http://h").searchParams.get("count"));
      if (count < times)
        return response.writeHead(307, { location: `${location}?count=${count + 1}` }).end();
      openEvents(response);
      return response.write("event: endpoint\ndata: in\n\n");
    };

  it("C-13: of the stream are followed within the origin, and relative addresses start from there", async () => {
    await using server = await ScriptedServer.start(redirecting("/v2/sse", 3));
    await using wire = await openSseWire(`${server.origin}/sse`);
    await wire.notify("notifications/initialized");
    expect(server.requests.at(-1)?.target).toBe("/v2/in");
    expect(server.requests).toHaveLength(5);
  });

  it("F6: a circle is left after three", async () => {
    await using server = await ScriptedServer.start(redirecting("/sse"));
    const wire = createSseWire(`${server.origin}/sse`);
    await expect(wire.transport.start()).rejects.toMatchObject({
      code: "http_error",
      details: { status: 307 },
    });
    expect(server.requests).toHaveLength(4);
  });

  it("F6: to another origin are not followed, and the origin is named", async () => {
    await using trap = await ScriptedServer.start((_request, response) => response.end());
    await using server = await ScriptedServer.start(redirecting(`${trap.origin}/sse`));
    const wire = createSseWire(`${server.origin}/sse`);
    await expect(wire.transport.start()).rejects.toMatchObject({
      code: "http_error",
      details: { status: 307, redirectOrigin: trap.origin },
    });
    expect(trap.requests).toEqual([]);
  });

  it("F6: of a message are not followed", async () => {
    await using server = await startSseServer(announcement, (_request, response) =>
      response.writeHead(307, { location: "/other" }).end(),
    );
    await using wire = await openSseWire(server.sseUrl);
    await expect(wire.ask("tools/call")).rejects.toMatchObject({ code: "http_error" });
    expect(server.requests).toHaveLength(2);
  });
});

describe("what is answered", () => {
  it("SSE-05: JSON in the body of the POST is the answer", async () => {
    await using server = await startSseServer(announcement, answerInBody);
    await using wire = await openSseWire(server.sseUrl);
    expect((await wire.ask("ping")).result).toEqual({ ok: true });
    await wire.notify("notifications/initialized");
  });

  it("SSE-05: events in the body of the POST are received", async () => {
    await using server = await startSseServer(announcement, (request, response) => {
      openEvents(response);
      response.end(`data: ${hello}\n\ndata: ${answerTo(request)}\n\n`);
    });
    await using wire = await openSseWire(server.sseUrl);
    expect((await wire.ask("ping")).result).toEqual({ ok: true });
    expect(wire.received).toHaveLength(2);
  });

  it.each<[string, SsePost]>([
    ["204", (_request, response) => response.writeHead(204).end()],
    ["202 with a word", (_request, response) => response.writeHead(202).end("Accepted")],
    [
      "200 with a word that calls itself HTML",
      (_request, response) => response.writeHead(200, { "content-type": "text/html" }).end("OK"),
    ],
    ["200 with other JSON", (_request, response) => sendJson(response, '{"status":"queued"}')],
    ["200 with no JSON", (_request, response) => sendJson(response, "queued")],
    ["200 with an empty body", (_request, response) => sendJson(response, "")],
    [
      "an event stream without the answer",
      (_request, response) => {
        openEvents(response);
        response.end(`data: ${hello}\n\n`);
      },
    ],
  ])("SSE-05: %s accepts the request, and the answer is awaited on the stream", async (_, post) => {
    await using server = await startSseServer(announcement, (request, response, streams) => {
      response.on("finish", () => server.note(answerTo(request)));
      return post(request, response, streams);
    });
    await using wire = await openSseWire(server.sseUrl);
    await wire.transport.send({ jsonrpc: "2.0", id: 1, method: "ping" });
    await server.until(() => server.notes.length === 1);
    server.streams.write(`data: ${server.notes[0]}\n\n`);
    await wire.until((received) => received.some(({ id }) => id === 1));
  });

  it("SSE-05: an answer on the stream counts though its POST was never answered", async () => {
    await using server = await startSseServer(announcement, (request, _response, streams) =>
      streams.write(`data: ${answerTo(request)}\n\n`),
    );
    await using wire = await openSseWire(server.sseUrl);
    await wire.ask("ping");
    await wire.ask("ping");
  });

  it("F2: a POST that stays open after its answer is taken back", async () => {
    await using server = await startSseServer(announcement, (request, response, streams) => {
      response.on("close", () => server.note("POST closed"));
      streams.write(`data: ${answerTo(request)}\n\n`);
    });
    await using wire = await openSseWire(server.sseUrl, { clock: new ImpatientClock() });
    await wire.ask("ping");
    await server.until(() => server.notes.includes("POST closed"));
  });

  it("SSE-05: many requests in flight are answered in any order", async () => {
    const waiting: string[] = [];
    await using server = await startSseServer(announcement, (request, response, streams) => {
      response.writeHead(202).end();
      waiting.push(`data: ${answerTo(request, { echo: request.message.params })}\n\n`);
      if (waiting.length === 100) streams.write(waiting.toReversed().join(""));
    });
    await using wire = await openSseWire(server.sseUrl);
    const numbers = Array.from({ length: 100 }, (_, index) => index);
    const answers = await Promise.all(numbers.map((n) => wire.ask("tools/call", { n })));
    expect(answers.map(({ result }) => result)).toEqual(numbers.map((n) => ({ echo: { n } })));
  });

  it("SSE-12: what the server says by itself arrives while nothing is asked", async () => {
    await using server = await startSseServer(announcement, answerOnStream);
    await using wire = await openSseWire(server.sseUrl);
    server.streams.write(`: still here\n\nevent: ping\ndata: 1\n\ndata: ${hello}\n\n`);
    await wire.until((received) => received.length === 1);
    expect(wire.received).toEqual([JSON.parse(hello)]);
    expect(wire.transport.evidence.junkMessages).toBe(0);
  });

  it("SSE-13: junk on the stream is counted and harms nothing", async () => {
    await using server = await startSseServer(announcement, answerOnStream);
    await using wire = await openSseWire(server.sseUrl);
    server.streams.write("data: not json\n\ndata: 42\n\n");
    await wire.ask("ping");
    expect(wire.transport.evidence.junkMessages).toBe(2);
  });
});
