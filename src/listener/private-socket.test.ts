import { once } from "node:events";
import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { type IncomingMessage, request } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";

import { describe, expect, it, onTestFinished } from "vitest";

import { listenOnSocket } from "./private-socket.ts";
import { SocketClient } from "./socket-client.ts";

const token = "0123456789abcdef";

async function serve(
  fetch: (request: Request) => Response | Promise<Response>,
): Promise<{ readonly path: string; close(): Promise<void> }> {
  const folder = await mkdtemp(path.join(tmpdir(), "socket-"));
  const file = path.join(folder, "s.sock");
  const socket = await listenOnSocket({ path: file, token, fetch });
  onTestFinished(async () => {
    await socket.close();
    await rm(folder, { recursive: true });
  });
  return { path: file, close: () => socket.close() };
}

function client(socket: { readonly path: string }, shown = token): SocketClient {
  const opened = new SocketClient({ path: socket.path, token: shown });
  onTestFinished(() => opened.close());
  return opened;
}

async function statusOf(file: string, headers: Readonly<Record<string, string>>): Promise<number> {
  const outgoing = request({ socketPath: file, path: "/", headers });
  outgoing.end();
  const [incoming] = (await once(outgoing, "response")) as [IncomingMessage];
  await text(incoming);
  return incoming.statusCode ?? 0;
}

describe("a private socket", () => {
  it("answers whoever has the token, and nobody else", async () => {
    const socket = await serve(() => Response.json({ hello: "there" }));
    const wanted = { method: "GET", path: "/" } as const;
    expect(await client(socket).send(wanted)).toEqual({ status: 200, body: { hello: "there" } });
    expect(await statusOf(socket.path, {})).toBe(401);
    expect(await statusOf(socket.path, { authorization: `Bearer ${token}x` })).toBe(401);
    expect(await statusOf(socket.path, { authorization: token })).toBe(401);
  });

  it("H2: refuses what a web page sends, even with the token", async () => {
    const socket = await serve(() => new Response("ok"));
    const authorization = `Bearer ${token}`;
    expect(await statusOf(socket.path, { authorization, origin: "https://evil.example" })).toBe(
      403,
    );
    expect(await statusOf(socket.path, { authorization, origin: "null" })).toBe(403);
  });

  it("is the user's alone, and takes the place of what a dead host left", async () => {
    const folder = await mkdtemp(path.join(tmpdir(), "socket-"));
    const file = path.join(folder, "s.sock");
    await writeFile(file, "left behind");
    const socket = await listenOnSocket({ path: file, token, fetch: () => new Response("ok") });
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    await socket.close();
    await expect(stat(file)).rejects.toMatchObject({ code: "ENOENT" });
    await rm(folder, { recursive: true });
  });

  it("takes as much as the arguments of a call", async () => {
    const socket = await serve(async (request) =>
      Response.json({ length: (await request.text()).length }),
    );
    const body = { filling: "x".repeat(10 * 1_024 * 1_024) };
    const answer = await client(socket).send({ method: "POST", path: "/", body });
    expect(answer).toEqual({ status: 200, body: { length: JSON.stringify(body).length } });
  });
});

describe("a client of a socket", () => {
  it("reads lines as they come, however they are cut", async () => {
    const socket = await serve(
      () =>
        new Response(
          new ReadableStream({
            start: (stream) => {
              for (const piece of ['{"a":', "1}\n", '{"b":2}\n{"c"', ":3}\n"])
                stream.enqueue(Buffer.from(piece));
              stream.close();
            },
          }),
        ),
    );
    const { lines } = await client(socket).stream({ method: "GET", path: "/" });
    const read: unknown[] = [];
    for await (const line of lines) read.push(line);
    expect(read).toEqual([{ a: 1 }, { b: 2 }, { c: 3 }]);
  });

  it("says when nobody listens, and that a host has gone in the middle of an answer", async () => {
    const socket = await serve(
      () =>
        new Response(
          new ReadableStream({ start: (stream) => stream.enqueue(Buffer.from('{"a":1}\n')) }),
        ),
    );
    const { lines } = await client(socket).stream({ method: "GET", path: "/" });
    expect(await lines.next()).toEqual({ done: false, value: { a: 1 } });
    await socket.close();
    await expect(lines.next()).rejects.toMatchObject({ code: "connection_lost" });
    await expect(client(socket).send({ method: "GET", path: "/" })).rejects.toMatchObject({
      code: "unreachable",
    });
  });

  it("lets the host see that a request was given up", async () => {
    let begin: (() => void) | undefined;
    const begun = new Promise<void>((resolve) => (begin = resolve));
    let seen: (() => void) | undefined;
    const gone = new Promise<void>((resolve) => (seen = resolve));
    const socket = await serve((request) => {
      request.signal.addEventListener("abort", () => seen?.());
      begin?.();
      return new Promise(() => {});
    });
    const giveUp = new AbortController();
    const sent = client(socket).send({ method: "POST", path: "/", signal: giveUp.signal });
    await begun;
    giveUp.abort();
    await expect(sent).rejects.toMatchObject({ code: "cancelled" });
    await gone;
  });
});
