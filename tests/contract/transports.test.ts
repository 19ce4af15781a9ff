import { describe, expect, it } from "vitest";

import { createHost, type McpHost, type Session } from "../../src/index.ts";
import { type Place, type Way, ways } from "./places.ts";

interface Scene extends AsyncDisposable {
  readonly host: McpHost;
  readonly session: Session;
  readonly place: Place;
}

async function enter(way: Way, headers?: Readonly<Record<string, string>>): Promise<Scene> {
  const place = await way.open(headers);
  const host = await createHost({
    config: false,
    servers: { demo: place.server },
    limits: { callTimeoutMs: 20_000 },
  });
  const session = host.session({ level: "yolo" });
  return {
    host,
    session,
    place,
    async [Symbol.asyncDispose]() {
      await host.close();
      await place[Symbol.asyncDispose]();
    },
  };
}

describe.each(ways)("$kind, $era era", (way) => {
  it("TRN-06: lists tools, calls them and passes their errors on", async () => {
    await using scene = await enter(way);
    const { host, session } = scene;
    await session.ready();
    expect(host.server("demo")).toMatchObject({ state: "connected", era: way.era });
    expect(session.tools().map(({ originalName }) => originalName)).toEqual(
      expect.arrayContaining(["echo", "add", "slow", "fail"]),
    );
    expect(
      await session.call("mcp__demo__echo", { message: 'grüß ☃ \u{1F600}\n\t"' }),
    ).toMatchObject({
      ok: true,
      text: 'grüß ☃ \u{1F600}\n\t"',
    });
    expect(await session.call("mcp__demo__fail", {})).toMatchObject({
      ok: false,
      error: { code: "tool_error", message: "This tool always fails." },
    });
    expect(await session.call("mcp__demo__add", { a: 2, b: 3 })).toMatchObject({ text: "5" });
  });

  it("STD-07 HTP-09 LIM-01: calls at the same time each get their own answer", async () => {
    await using scene = await enter(way);
    const { session } = scene;
    await session.ready();
    const numbers = Array.from({ length: 50 }, (_, index) => index);
    const outcomes = await Promise.all(
      numbers.map((number) => session.call("mcp__demo__add", { a: number, b: 1000 })),
    );
    expect(outcomes.map(({ text }) => Number(text))).toEqual(
      numbers.map((number) => number + 1000),
    );
  });

  it("a message of a megabyte goes both ways unchanged", async () => {
    await using scene = await enter(way);
    const { session } = scene;
    await session.ready();
    const message = "0123456789abcdef☃".repeat(50_000);
    const { text } = await session.call("mcp__demo__echo", { message });
    expect(text === message).toBe(true);
  });

  if (way.lacks !== "progress")
    it("SHT-09: progress arrives while the call runs", async () => {
      await using scene = await enter(way);
      const { session } = scene;
      await session.ready();
      const seen: number[] = [];
      const outcome = await session.call(
        "mcp__demo__slow",
        { steps: 3, delayMs: 1 },
        { onProgress: ({ progress }) => seen.push(progress) },
      );
      expect(outcome).toMatchObject({ ok: true, text: "Finished 3 steps." });
      expect(seen).toEqual([1, 2, 3]);
    });

  it("LIM-01: a cancelled call ends at once, and the next one works", async () => {
    await using scene = await enter(way);
    const { session } = scene;
    await session.ready();
    const abort = new AbortController();
    const running = session.call(
      "mcp__demo__slow",
      { steps: 1, delayMs: 60_000 },
      { signal: abort.signal },
    );
    abort.abort();
    expect(await running).toMatchObject({ ok: false, error: { code: "cancelled" } });
    expect(await session.call("mcp__demo__add", { a: 1, b: 1 })).toMatchObject({ text: "2" });
  });

  it("STD-12 SSE-08: a call without an answer ends at its deadline, and the next one works", async () => {
    await using scene = await enter(way);
    const { session } = scene;
    await session.ready();
    const outcome = await session.call(
      "mcp__demo__slow",
      { steps: 1, delayMs: 60_000 },
      { timeoutMs: 50 },
    );
    expect(outcome).toMatchObject({ ok: false, error: { code: "timeout" } });
    expect(await session.call("mcp__demo__add", { a: 1, b: 1 })).toMatchObject({ text: "2" });
  });

  it("TRN-07 STD-10: closing ends a call under way, and closing again does no harm", async () => {
    await using scene = await enter(way);
    const { host, session } = scene;
    await session.ready();
    const running = session.call("mcp__demo__slow", { steps: 1, delayMs: 60_000 });
    await host.close();
    expect(await running).toMatchObject({ ok: false });
    expect(["closed", "connection_lost"]).toContain(
      ((await running) as { error: { code: string } }).error.code,
    );
    await host.close();
  });

  it("TRN-07: closing while connecting leaves nothing behind", async () => {
    await using scene = await enter(way);
    const { host } = scene;
    const connecting = host.connect("demo").catch((error: unknown) => error);
    await host.close();
    expect(await connecting).toMatchObject({ code: "closed" });
  });
});

const overHttp = ways.filter(({ kind }) => kind !== "stdio" && kind !== "memory");

describe.each(overHttp)("$kind, $era era", (way) => {
  it("AUT-01 AUT-02 AUT-11 SHT-02 SSE-02 RST-07: headers and a bearer token reach every request", async () => {
    await using scene = await enter(way, { "X-Api-Key": "k1", authorization: "Bearer t1" });
    const { session, host, place } = scene;
    await session.ready();
    await session.call("mcp__demo__add", { a: 1, b: 1 });
    await host.close();
    const { requests = [] } = place;
    expect(requests.length).toBeGreaterThan(2);
    for (const { headers } of requests)
      expect(headers).toMatchObject({ "x-api-key": "k1", authorization: "Bearer t1" });
  });

  it("AUT-01: without credentials none are sent", async () => {
    await using scene = await enter(way);
    const { session, place } = scene;
    await session.ready();
    for (const { headers } of place.requests ?? []) expect(headers.authorization).toBeUndefined();
  });
});
