import { afterEach, describe, expect, it } from "vitest";

import { isAlive } from "../../../tests/fixtures/is-alive.ts";
import {
  closeOpened,
  message,
  observe,
  say,
  scripted,
  serve,
  type Step,
} from "../../../tests/fixtures/stdio/observe-server.ts";
import type { Clock } from "../../ports/clock.ts";
import { systemClock } from "../../ports/clock.ts";

afterEach(closeOpened);

/** Steps of the stop that are over in no time. */
const quickStop = { stopTermAfterMs: 20, stopGraceMs: 100 };
/** Steps that no test would live to see: what ends before them ended without them. */
const slowStop = { stopTermAfterMs: 1_000_000, stopGraceMs: 2_000_000 };
const ready = say('{"ready":true}\n');
const gentle: Step = { do: "spawn" };
const stubborn: Step = { do: "spawn", stubborn: true };
const stubbornElsewhere: Step = { do: "spawn", stubborn: true, detached: true };

/** Of killed processes the system may take a moment to clear away the remains. */
async function allGone(...pids: readonly number[]): Promise<void> {
  await expect.poll(() => pids.filter(isAlive), { interval: 5 }).toStrictEqual([]);
}

describe("the end of a server that ends by itself", () => {
  it("B10: what it wrote last is delivered before the end is announced", async () => {
    const lines = Array.from({ length: 2_000 }, (_, id) => JSON.stringify({ id })).join("\n");
    const observed = await serve([say(`${lines}\n`), { do: "exit", code: 3 }]);
    const failure = await observed.closed;
    expect(observed.messages).toHaveLength(2_000);
    expect(failure).toMatchObject({
      code: "connection_lost",
      retryable: true,
      message: expect.stringMatching(/^the server stopped \(exit code 3 after \d+\.\d s\)$/),
      details: { exitCode: 3, signal: null },
    });
  });

  it("B10 STD-09: a child that holds its pipes open neither hides the end nor survives it", async () => {
    const observed = await serve([gentle, { do: "exit", code: 1 }], { overrides: slowStop });
    const [child] = await observed.spawned(1);
    await expect(observed.closed).resolves.toMatchObject({ code: "connection_lost" });
    await observed.transport.close();
    await allGone(child!);
  });

  it("B10: a server that closes its output is lost and stopped", async () => {
    const steps = [ready, { do: "ignoreEnd" }, { do: "ignoreTerm" }, { do: "closeStdout" }];
    const observed = await serve(steps, { overrides: quickStop });
    await expect(observed.closed).resolves.toMatchObject({
      code: "connection_lost",
      message: "the server closed its output without stopping",
    });
    await observed.transport.close();
    expect(isAlive(observed.pid)).toBe(false);
    expect(observed.transport.failure?.code).toBe("connection_lost");
  });

  it("announces the end once, and the failure is known by then", async () => {
    const observed = await serve([ready, { do: "exit", code: 0 }]);
    const order: string[] = [];
    const { transport } = observed;
    const { onclose } = transport;
    transport.onerror = (error) => order.push(`error ${String(error === transport.failure)}`);
    transport.onclose = () => {
      order.push(`close ${transport.failure?.code}`);
      onclose?.();
    };
    await observed.closed;
    await transport.close();
    await transport.close();
    expect(order).toStrictEqual(["error true", "close connection_lost"]);
  });
});

describe("closing", () => {
  it("STD-02 STD-09: a server that ends with its input is neither signalled nor a failure", async () => {
    const observed = await serve([ready], { overrides: slowStop });
    await observed.received(1);
    await observed.transport.close();
    expect(observed.transport.failure).toBeUndefined();
    expect(observed.transport.evidence).toMatchObject({ exitCode: 0, signal: null });
    expect(observed.closes).toBe(1);
  });

  it("messages sent just before are still written", async () => {
    const observed = observe({ command: "/bin/sh", args: ["-c", "cat >&2"], env: {} });
    await observed.transport.start();
    for (const id of [1, 2, 3]) void observed.transport.send(message(id));
    await observed.transport.close();
    const lines = [1, 2, 3].map((id) => JSON.stringify(message(id)));
    expect(observed.transport.evidence.stderrTail).toStrictEqual(lines);
  });

  it("STD-09 B8: a server that ignores the end of its input is terminated", async () => {
    const overrides = { ...slowStop, stopTermAfterMs: 20 };
    const observed = await serve([{ do: "ignoreEnd" }, ready], { overrides });
    await observed.received(1);
    await observed.transport.close();
    expect(observed.transport.evidence).toMatchObject({ exitCode: null, signal: "SIGTERM" });
  });

  it("STD-09 B8: a server that ignores SIGTERM as well is killed", async () => {
    const steps = [{ do: "ignoreEnd" }, { do: "ignoreTerm" }, ready];
    const observed = await serve(steps, { overrides: quickStop });
    await observed.received(1);
    await observed.transport.close();
    expect(observed.transport.evidence).toMatchObject({ exitCode: null, signal: "SIGKILL" });
  });

  it("STD-09 §7: SIGTERM comes after one second and the end within five", async () => {
    const waits: number[] = [];
    // Time that passes by waiting alone, and faster than it says.
    let nowMs = 0;
    const clock: Clock = {
      now: () => nowMs,
      monotonic: () => nowMs,
      schedule(delayMs, task) {
        waits.push(delayMs);
        return systemClock.schedule(Math.min(delayMs, 20), () => {
          nowMs += delayMs;
          task();
        });
      },
    };
    const steps = [{ do: "ignoreEnd" }, { do: "ignoreTerm" }, ready];
    const observed = await serve(steps, { clock });
    await observed.received(1);
    waits.length = 0;
    await observed.transport.close();
    // The last 250 ms are for the kernel to clean up.
    expect(waits.slice(0, 2)).toEqual([1_000, 3_750]);
  });

  it("B11: a stopped process is killed", async () => {
    const observed = await serve([ready], { overrides: quickStop });
    await observed.received(1);
    process.kill(observed.pid, "SIGSTOP");
    await observed.transport.close();
    expect(isAlive(observed.pid)).toBe(false);
  });

  it("a server that is busy writing is read to its end, so that it can end", async () => {
    const steps = [ready, { do: "stdout", text: `${"x".repeat(999)}\n`, times: 5_000 }];
    const observed = await serve(steps, { overrides: slowStop });
    await observed.received(1);
    await observed.transport.close();
    expect(observed.transport.evidence).toMatchObject({ exitCode: 0 });
    expect(observed.messages).toHaveLength(1);
  });

  it("TRN-07: may be called twice, and before the start, which then never happens", async () => {
    const observed = observe({ args: [scripted, "[]"] });
    await Promise.all([observed.transport.close(), observed.transport.close()]);
    await expect(observed.transport.start()).rejects.toMatchObject({ code: "closed" });
    expect(observed.pid).toBeUndefined();
    expect(observed.closes).toBe(1);
  });

  it("TRN-07 STD-08: while starting, ends what was started", async () => {
    const observed = observe({ args: [scripted, JSON.stringify([ready])] });
    const start = observed.transport.start();
    const close = observed.transport.close();
    await expect(start).rejects.toMatchObject({ code: "closed" });
    await close;
    expect(isAlive(observed.pid)).toBe(false);
    expect(observed.transport.failure).toBeUndefined();
    expect(observed.messages).toStrictEqual([]);
  });

  it("TRN-07: from a message handler, after which no message is delivered", async () => {
    const observed = observe({ args: [scripted, JSON.stringify([say("{}\n{}\n{}\n")])] });
    const { transport } = observed;
    const deliver = transport.onmessage;
    const closed = new Promise<void>((resolve) => {
      transport.onmessage = (received) => {
        deliver?.(received);
        resolve(transport.close());
      };
    });
    await transport.start();
    await closed;
    expect(observed.messages).toHaveLength(1);
  });

  it("TRN-07: from the handler that hears of the failure", async () => {
    const observed = await serve([ready, { do: "exit", code: 1 }]);
    const closed = new Promise<void>((resolve) => {
      observed.transport.onclose = () => resolve(observed.transport.close());
    });
    await closed;
    expect(observed.transport.failure?.code).toBe("connection_lost");
    expect(isAlive(observed.pid)).toBe(false);
  });
});

describe.skipIf(process.platform !== "linux")("what a server leaves behind", () => {
  it("B9: children of a server that ends with its input end with it, in whatever group", async () => {
    const steps = [gentle, stubborn, stubbornElsewhere];
    const observed = await serve(steps, { overrides: { ...slowStop, stopTermAfterMs: 50 } });
    const children = await observed.spawned(3);
    expect(children.filter(isAlive)).toHaveLength(3);
    await observed.transport.close();
    await allGone(...children);
  });

  it("B9: a child that dropped the marker but stayed in the group ends as well", async () => {
    const observed = await serve([{ do: "spawn", env: {} }], { overrides: slowStop });
    const [child] = await observed.spawned(1);
    await observed.transport.close();
    await allGone(child!);
  });

  it("B9: a server that ignores everything is killed with all its children", async () => {
    const steps = [{ do: "ignoreEnd" }, { do: "ignoreTerm" }, stubborn, stubbornElsewhere];
    const observed = await serve(steps, { overrides: quickStop });
    const children = await observed.spawned(2);
    await observed.transport.close();
    await allGone(observed.pid, ...children);
  });

  it("CON-07: children of a server that crashes are ended without being asked for", async () => {
    const steps = [stubborn, stubbornElsewhere, { do: "kill", signal: "SIGKILL" }];
    const observed = await serve(steps, { overrides: quickStop });
    const children = await observed.spawned(2);
    await observed.closed;
    await allGone(...children);
  });

  it("the servers of other connections are left alone", async () => {
    const other = await serve([stubborn]);
    const [child] = await other.spawned(1);
    const observed = await serve([ready], { overrides: quickStop });
    await observed.received(1);
    await observed.transport.close();
    expect([other.pid, child!].filter(isAlive)).toHaveLength(2);
  });
});
