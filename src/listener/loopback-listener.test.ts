import { once } from "node:events";
import { request as httpRequest } from "node:http";
import { type Socket, connect, createServer } from "node:net";
import { networkInterfaces } from "node:os";
import { text } from "node:stream/consumers";

import { afterEach, describe, expect, it, vi } from "vitest";

import { McpConfigError } from "../errors/families.ts";
import {
  type LoopbackListener,
  type LoopbackListenerOptions,
  listenOnLoopback,
} from "./loopback-listener.ts";

const globalsBefore = [globalThis.Request, globalThis.Response];

const open: { close(): Promise<void> }[] = [];
const sockets: Socket[] = [];

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await Promise.all(open.splice(0).map((listener) => listener.close()));
});

async function listen(options: Partial<LoopbackListenerOptions> = {}): Promise<LoopbackListener> {
  const listener = await listenOnLoopback({ fetch: () => new Response("ok"), ...options });
  open.push(listener);
  return listener;
}

async function openSocket({ port }: LoopbackListener, host = "127.0.0.1"): Promise<Socket> {
  const socket = connect({ port, host });
  sockets.push(socket);
  socket.on("error", () => {});
  await once(socket, "connect");
  return socket;
}

/** Everything the listener sends back until it ends the connection. */
async function exchange(listener: LoopbackListener, head: string): Promise<string> {
  const socket = await openSocket(listener);
  socket.write(head);
  return await text(socket);
}

function head(listener: LoopbackListener, ...lines: string[]): string {
  return ["GET / HTTP/1.1", `Host: 127.0.0.1:${listener.port}`, ...lines, "", ""].join("\r\n");
}

function statusOf(answer: string): number {
  return Number(answer.split(" ")[1]);
}

async function echo(request: Request): Promise<Response> {
  return new Response(await request.text());
}

function endless(): Response {
  return new Response(new ReadableStream({ start: (stream) => stream.enqueue(Buffer.from("x")) }));
}

/** A promise to wait on and the function that settles it. */
function signal(): { readonly wait: Promise<void>; readonly fire: () => void } {
  let fire!: () => void;
  const wait = new Promise<void>((resolve) => (fire = resolve));
  return { wait, fire };
}

describe("where it listens", () => {
  it("H6: is reachable on 127.0.0.1 and on no other address of the machine", async () => {
    const listener = await listen();
    expect(listener.url).toBe(`http://127.0.0.1:${listener.port}`);
    expect(await (await fetch(listener.url)).text()).toBe("ok");

    const others = Object.values(networkInterfaces())
      .flatMap((list) => list ?? [])
      .filter(({ address, scopeid }) => address !== "127.0.0.1" && !scopeid)
      .map(({ address }) => address);
    for (const address of others)
      await expect(openSocket(listener, address)).rejects.toMatchObject({ code: "ECONNREFUSED" });
  });

  it("names the port and the way out when another program has it", async () => {
    const taken = createServer().listen(0, "127.0.0.1");
    await once(taken, "listening");
    const { port } = taken.address() as { port: number };
    try {
      const error: unknown = await listenOnLoopback({ port, fetch: () => new Response() }).catch(
        (thrown: unknown) => thrown,
      );
      expect(error).toBeInstanceOf(McpConfigError);
      expect(error).toMatchObject({
        code: "config_invalid",
        message: `Port ${port} on 127.0.0.1 is already in use by another program.`,
        hint: "Choose another port, or port 0 to let the system pick a free one.",
        details: { port },
      });
    } finally {
      taken.close();
    }
  });

  it("refuses a port number that does not exist", async () => {
    await expect(listen({ port: 70_000 })).rejects.toMatchObject({ code: "config_invalid" });
  });
});

describe("whom it answers", () => {
  it.each(["127.0.0.1", "localhost", "LOCALHOST", "[::1]"])(
    "H1: Host %s with the right port is answered",
    async (name) => {
      const listener = await listen();
      const answer = await exchange(
        listener,
        `GET / HTTP/1.1\r\nHost: ${name}:${listener.port}\r\nConnection: close\r\n\r\n`,
      );
      expect(statusOf(answer)).toBe(200);
    },
  );

  it.each([
    ["a foreign name", (port: number) => `Host: evil.test:${port}\r\n`],
    ["a rebinding name", (port: number) => `Host: 127.0.0.1.evil.test:${port}\r\n`],
    ["another port", (port: number) => `Host: 127.0.0.1:${port + 1}\r\n`],
    ["no port", () => "Host: 127.0.0.1\r\n"],
    ["an empty host", () => "Host:\r\n"],
    ["no host", () => ""],
    ["two hosts", (port: number) => `Host: 127.0.0.1:${port}\r\nHost: evil.test\r\n`],
  ])("H1: a request with %s is refused before the handler", async (_name, hostLines) => {
    const handler = vi.fn(() => new Response("ok"));
    const listener = await listen({ fetch: handler });
    const answer = await exchange(listener, `GET / HTTP/1.1\r\n${hostLines(listener.port)}\r\n`);
    expect(statusOf(answer)).toBe(421);
    expect(handler).not.toHaveBeenCalled();
  });

  it("H1: a target in absolute form cannot smuggle another host into the URL", async () => {
    const handler = vi.fn(() => new Response("ok"));
    const listener = await listen({ fetch: handler });
    const own = `Host: 127.0.0.1:${listener.port}`;
    const answer = await exchange(listener, `GET http://evil.test/ HTTP/1.1\r\n${own}\r\n\r\n`);
    expect(statusOf(answer)).toBe(400);
    expect(handler).not.toHaveBeenCalled();
  });

  it.each([
    ["https://evil.test"],
    ["null"],
    ["http://127.0.0.1"],
    ["https://127.0.0.1:{port}"],
    ["http://localhost:{port}"],
    ["http://127.0.0.1:{port}.evil.test"],
  ])("H1: Origin %s is refused on 127.0.0.1", async (origin) => {
    const handler = vi.fn(() => new Response("ok"));
    const listener = await listen({ fetch: handler });
    const line = `Origin: ${origin.replace("{port}", String(listener.port))}`;
    expect(statusOf(await exchange(listener, head(listener, line)))).toBe(403);
    expect(handler).not.toHaveBeenCalled();
  });

  it("H1: its own origin and an expressly allowed one are answered", async () => {
    const listener = await listen({ allowedOrigins: ["https://app.example"] });
    for (const origin of [listener.url, "https://app.example"]) {
      const answer = await exchange(
        listener,
        head(listener, `Origin: ${origin}`, "Connection: close"),
      );
      expect(statusOf(answer)).toBe(200);
    }
  });
});

describe("what it reads", () => {
  const limits = { maxBodyBytes: 1_000 };

  it("H5: a declared length over the cap is answered 413 without calling the handler", async () => {
    const handler = vi.fn(echo);
    const { url } = await listen({ fetch: handler, limits });
    const answer = await fetch(url, { method: "POST", body: "x".repeat(1_001) });
    expect(answer.status).toBe(413);
    expect(handler).not.toHaveBeenCalled();
  });

  it("a body of exactly the cap reaches the handler, declared or chunked", async () => {
    const { url } = await listen({ fetch: echo, limits });
    const body = "x".repeat(1_000);
    expect(await (await fetch(url, { method: "POST", body })).text()).toBe(body);
    const stream = new Blob([body]).stream();
    const chunked = await fetch(url, { method: "POST", body: stream, duplex: "half" });
    expect(await chunked.text()).toBe(body);
  });

  it("H5: an endless chunked body is answered 413 as soon as it passes the cap, and then cut", async () => {
    let bodyError: unknown;
    const listener = await listen({
      limits,
      fetch: async (request) => {
        bodyError = await request.text().catch((error: unknown) => error);
        return new Response("read it all");
      },
    });
    const sending = httpRequest({ host: "127.0.0.1", port: listener.port, method: "POST" });
    sending.on("error", () => {});
    const pump = (): void => {
      while (!sending.destroyed && sending.write("x".repeat(500)));
    };
    sending.on("drain", pump);
    const cut = new Promise((resolve) => sending.once("close", resolve));
    pump();

    const [answer] = (await once(sending, "response")) as [{ statusCode: number; resume(): void }];
    answer.resume();
    expect(answer.statusCode).toBe(413);
    await cut;
    expect(bodyError).toBeInstanceOf(RangeError);
  });

  it("a handler that never reads its chunked body can still answer", async () => {
    const { url } = await listen({ limits });
    const body = new Blob(["x".repeat(900)]).stream();
    const answer = await fetch(url, { method: "POST", body, duplex: "half" });
    expect(await answer.text()).toBe("ok");
  });

  it("H5: headers over 8 KiB are answered 431", async () => {
    const listener = await listen();
    const answer = await exchange(listener, head(listener, `X-Big: ${"x".repeat(9_000)}`));
    expect(statusOf(answer)).toBe(431);
  });

  it("H5: a client that never finishes its headers is answered 408 and cut", async () => {
    const listener = await listen({ limits: { headersTimeoutMs: 50, connectionCheckMs: 20 } });
    expect(statusOf(await exchange(listener, "GET / HTTP/1.1\r\nHost:"))).toBe(408);
  });

  it("H5: a client that never finishes its body is answered 408 and cut", async () => {
    const limits = { headersTimeoutMs: 50, requestTimeoutMs: 50, connectionCheckMs: 20 };
    const listener = await listen({ fetch: echo, limits });
    const half = head(listener, "Content-Length: 10").replace("GET", "POST");
    expect(statusOf(await exchange(listener, `${half}12345`))).toBe(408);
  });
});

describe("how many it serves", () => {
  it("H5: sockets that never finish a request make room for a client that does", async () => {
    const listener = await listen({ limits: { maxConnectionsPerAddress: 4 } });
    const closings: Promise<unknown>[] = [];
    for (let index = 0; index < 12; index += 1) {
      const socket = await openSocket(listener);
      closings.push(once(socket, "close"));
      socket.resume();
      socket.write("GET / HTTP/1.1\r\nHost:");
    }
    const answer = await fetch(listener.url);
    expect(await answer.text()).toBe("ok");
    // Four places: three slow sockets and the client; the nine before them had to go.
    await Promise.all(closings.slice(0, 9));
  });

  it("H5: when every place of an address is busy, one more connection is refused", async () => {
    const release = signal();
    let running = 0;
    const bothRunning = signal();
    const listener = await listen({
      limits: { maxConnectionsPerAddress: 2 },
      fetch: async () => {
        running += 1;
        if (running === 2) bothRunning.fire();
        await release.wait;
        return new Response("done");
      },
    });
    const answers = [1, 2].map(async () => {
      const socket = await openSocket(listener);
      socket.write(head(listener, "Connection: close"));
      return await text(socket);
    });
    await bothRunning.wait;

    const refused = await openSocket(listener);
    refused.resume();
    await once(refused, "close");
    release.fire();
    expect((await Promise.all(answers)).map(statusOf)).toEqual([200, 200]);
  });

  it("H5: one more than the total is refused", async () => {
    const listener = await listen({ limits: { maxConnections: 1 } });
    const first = await openSocket(listener);
    const second = await openSocket(listener);
    second.resume();
    await once(second, "close");
    first.write(head(listener));
    await once(first, "data");
  });
});

describe("what it answers", () => {
  it("an error of the handler becomes a 500 that says nothing, and is reported", async () => {
    const onError = vi.fn();
    const failure = new Error("secret detail");
    const { url } = await listen({ fetch: () => Promise.reject(failure), onError });
    const answer = await fetch(url);
    expect(answer.status).toBe(500);
    expect(await answer.text()).toBe("Internal error.\n");
    expect(onError).toHaveBeenCalledWith(failure);
  });

  it("a body that fails half-way cuts the connection instead of ending like a whole one", async () => {
    const printed = vi.spyOn(console, "error");
    const onError = vi.fn();
    const failure = new Error("secret detail");
    const { url } = await listen({
      onError,
      fetch: () => {
        const chunks = [() => new TextEncoder().encode("first half"), () => undefined];
        return new Response(
          new ReadableStream({
            pull(controller) {
              const chunk = chunks.shift()?.();
              if (chunk === undefined) controller.error(failure);
              else controller.enqueue(chunk);
            },
          }),
        );
      },
    });
    await expect(fetch(url).then((answer) => answer.text())).rejects.toThrow();
    expect(onError).toHaveBeenCalledWith(failure);
    expect(printed).not.toHaveBeenCalled();
    printed.mockRestore();
  });

  it("the request's signal aborts when the client goes", async () => {
    const started = signal();
    const aborted = signal();
    const listener = await listen({
      fetch: async (request) => {
        request.signal.addEventListener("abort", aborted.fire);
        started.fire();
        await aborted.wait;
        return new Response();
      },
    });
    const socket = await openSocket(listener);
    socket.write(head(listener));
    await started.wait;
    socket.destroy();
    await aborted.wait;
  });

  it("does not replace the global Request and Response", async () => {
    await listen();
    expect(globalThis.Request).toBe(globalsBefore[0]);
    expect(globalThis.Response).toBe(globalsBefore[1]);
  });
});

describe("how it closes", () => {
  it("ends idle connections at once and refuses new ones", async () => {
    const listener = await listen({ limits: { closeGraceMs: 60_000 } });
    const silent = await openSocket(listener);
    const unfinished = await openSocket(listener);
    unfinished.write("GET / HTTP/1.1\r\nHost:");
    const keptAlive = await openSocket(listener);
    keptAlive.write(head(listener));
    await once(keptAlive, "data");

    const ends = [silent, unfinished, keptAlive].map((socket) => {
      socket.resume();
      return once(socket, "close");
    });
    await listener.close();
    await Promise.all(ends);
    await expect(openSocket(listener)).rejects.toMatchObject({ code: "ECONNREFUSED" });
  });

  it("lets a running answer end and then ends its connection", async () => {
    const started = signal();
    const release = signal();
    const listener = await listen({
      limits: { closeGraceMs: 60_000, keepAliveTimeoutMs: 60_000 },
      fetch: async () => {
        started.fire();
        await release.wait;
        return new Response("whole");
      },
    });
    const answer = exchange(listener, head(listener));
    await started.wait;
    const closed = listener.close();
    release.fire();
    expect(await answer).toMatch(/^HTTP\/1.1 200 .*whole$/s);
    await closed;
  });

  it("cuts an answer that outlives the grace, and may be called twice", async () => {
    const listener = await listen({ limits: { closeGraceMs: 20 }, fetch: endless });
    const body = (await fetch(listener.url)).text();
    const outcome = expect(body).rejects.toThrow();
    const closed = listener.close();
    expect(listener.close()).toBe(closed);
    await closed;
    await outcome;
  });
});
