import { EventEmitter, once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";

import { describe, expect, it, vi } from "vitest";

import { EventBus } from "../../src/events/event-bus.ts";
import { createHost, type McpHost, type Outcome, type Session } from "../../src/index.ts";
import { realServer, startEverythingOverHttp } from "../fixtures/servers/real-servers.ts";

const restarts = 2;
/** A machine that is busy with other things may take this long to start the server again. */
const patienceMs = 60_000;
const intervalMs = 50;

/** A published server that can be ended the hard way and is there again afterwards. */
interface Restartable extends AsyncDisposable {
  readonly entry: Readonly<Record<string, unknown>>;
  restart(host: McpHost): Promise<void>;
}

function overStdio(): Promise<Restartable> {
  return Promise.resolve({
    entry: realServer("server-everything", "stdio"),
    restart(host) {
      process.kill(host.server("real").pid ?? 0, "SIGKILL");
      return Promise.resolve();
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  });
}

async function overHttp(): Promise<Restartable> {
  let running = await startEverythingOverHttp();
  return {
    entry: { url: running.url, transport: "streamable-http" },
    async restart() {
      await running[Symbol.asyncDispose]();
      running = await startEverythingOverHttp(running.port);
    },
    [Symbol.asyncDispose]: () => running[Symbol.asyncDispose](),
  };
}

/** The next time that a server is connected, which it is when its tools have been listed. */
function nextListing(host: McpHost): Promise<unknown> {
  const heard = new EventEmitter();
  const off = host.on("server-state", (event) => {
    if (event.state === "connected") heard.emit("event", event);
  });
  return once(heard, "event").then(([event]: unknown[]) => {
    off();
    return event;
  });
}

/** Twenty calls a second until it is stopped. */
class Load implements Disposable {
  readonly #calls: Promise<Outcome>[] = [];
  readonly #timer: NodeJS.Timeout;

  constructor(session: Session) {
    this.#timer = setInterval(
      () => void this.#calls.push(session.call("mcp__real__echo", { message: "load" })),
      intervalMs,
    );
  }

  async stop(): Promise<readonly Outcome[]> {
    clearInterval(this.#timer);
    return await Promise.all(this.#calls);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}

/** Calls until one succeeds: what a program does that tries again. */
async function untilAnswered(session: Session): Promise<void> {
  while (!(await session.call("mcp__real__echo", { message: "?" })).ok) await sleep(intervalMs);
}

describe.each([
  ["stdio", overStdio],
  ["streamable HTTP", overHttp],
])(
  "@modelcontextprotocol/server-everything over %s that is killed and started again",
  (_, start) => {
    it(
      "B2 CON-06 CON-17: under load, calls in flight fail as lost and later ones succeed",
      async () => {
        await using server = await start();
        await using host = await createHost({ config: false, servers: { real: server.entry } });
        const session = host.session({ agent: "e2e", level: "yolo" });
        await session.ready();
        using load = new Load(session);
        for (let round = 0; round < restarts; round += 1) {
          const slow = { duration: 60, steps: 600 };
          const begun = new EventEmitter();
          const inFlight = session.call("mcp__real__trigger-long-running-operation", slow, {
            onProgress: () => begun.emit("progress"),
          });
          await once(begun, "progress");
          await server.restart(host);
          expect(await inFlight).toMatchObject({ ok: false, error: { code: "connection_lost" } });
          await untilAnswered(session);
        }
        const ends = new Set((await load.stop()).map((end) => (end.ok ? "ok" : end.error.code)));
        expect(
          [...ends].filter((end) => !["ok", "connection_lost", "unreachable"].includes(end)),
        ).toEqual([]);
        expect(ends).toContain("ok");
        expect(host.server("real").state).toBe("connected");
      },
      patienceMs,
    );

    it(
      "CON-15: tools are listed again, and a tool held by the program still works",
      async () => {
        await using server = await start();
        await using host = await createHost({ config: false, servers: { real: server.entry } });
        const session = host.session({ agent: "e2e", level: "yolo" });
        await session.ready();
        const held = session.find("mcp__real__echo");
        const names = session.tools().map(({ name }) => name);
        const subscriptions = vi.spyOn(EventBus.prototype, "on");
        for (let round = 0; round < restarts; round += 1) {
          const listed = nextListing(host);
          await server.restart(host);
          await untilAnswered(session);
          expect(await listed).toMatchObject({ serverName: "real" });
        }
        // Each `nextListing` is one; the host itself needs none for a restart.
        expect(subscriptions).toHaveBeenCalledTimes(restarts);
        subscriptions.mockRestore();
        expect(await held?.execute({ message: "held" })).toMatchObject({
          ok: true,
          text: "Echo: held",
        });
        expect(session.tools().map(({ name }) => name)).toEqual(names);
      },
      patienceMs,
    );
  },
);
