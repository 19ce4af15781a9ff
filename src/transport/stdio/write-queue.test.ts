import { Writable } from "node:stream";

import { describe, expect, it } from "vitest";

import { ManualClock, settled as nextTurn } from "../../../tests/fixtures/protocol/manual-clock.ts";
import { createError } from "../../errors/families.ts";
import { WriteQueue } from "./write-queue.ts";

/** A pipe whose reader takes what is written only when told. */
class SlowReader extends Writable {
  readonly writes: string[] = [];
  #release: (() => void) | undefined;

  constructor(highWaterMark: number) {
    super({ highWaterMark, decodeStrings: false });
  }

  override _write(chunk: string, _encoding: BufferEncoding, callback: () => void): void {
    this.writes.push(chunk);
    this.#release = callback;
  }

  /** Reads the pending write, and the next turn comes. */
  async read(): Promise<void> {
    this.#release?.();
    await nextTurn();
  }
}

class QuickReader extends Writable {
  readonly writes: string[] = [];

  constructor() {
    super({ decodeStrings: false });
  }

  override _write(chunk: string, _encoding: BufferEncoding, callback: () => void): void {
    this.writes.push(chunk);
    callback();
  }
}

function createQueue(
  stream: Writable,
  maxQueuedBytes = 100,
  timeoutMs = 1_000,
): { queue: WriteQueue; clock: ManualClock } {
  const clock = new ManualClock();
  const queue = new WriteQueue(stream, {
    serverName: "s",
    maxQueuedBytes,
    timeoutMs,
    clock,
  });
  return { queue, clock };
}

const line = (id: number): string => `{"id":${id}}\n`;

describe("writing messages", () => {
  it("STD-01 MSG-12: each message is one line of UTF-8", async () => {
    const stream = new QuickReader();
    const { queue } = createQueue(stream);
    await queue.send({ text: "a\nb\r\u2028é" });
    expect(stream.writes).toStrictEqual(['{"text":"a\\nb\\r\u2028é"}\n']);
  });

  it("the first message of a turn leaves at once, those that follow leave together", async () => {
    const stream = new QuickReader();
    const { queue } = createQueue(stream);
    const sends = [1, 2, 3].map((id) => queue.send({ id }));
    expect(stream.writes).toStrictEqual([line(1)]);
    await Promise.all(sends);
    expect(stream.writes).toStrictEqual([line(1), line(2) + line(3)]);
    await nextTurn();
    void queue.send({ id: 4 });
    expect(stream.writes.at(-1)).toBe(line(4));
  });

  it("STD-23: when the pipe is full messages queue, and past the bound senders wait in order", async () => {
    const stream = new SlowReader(5);
    const { queue, clock } = createQueue(stream, 30);
    const settled: number[] = [];
    const sends = [1, 2, 3, 4, 5, 6, 7].map(async (id) => {
      await queue.send({ id });
      settled.push(id);
    });
    await nextTurn();
    // Nine bytes each: one in the pipe and three in the queue are the first to pass thirty.
    expect(settled).toStrictEqual([1, 2, 3, 4]);
    expect(stream.writes).toStrictEqual([line(1)]);
    await stream.read();
    expect(settled).toStrictEqual([1, 2, 3, 4, 5]);
    while (stream.writableLength > 0) await stream.read();
    await Promise.all(sends);
    expect(settled).toStrictEqual([1, 2, 3, 4, 5, 6, 7]);
    expect(stream.writes.join("")).toBe([1, 2, 3, 4, 5, 6, 7].map(line).join(""));
    expect(clock.pending).toBe(0);
  });

  it("what waits is sent as it was, whatever becomes of the sender's object", async () => {
    const stream = new SlowReader(5);
    const { queue } = createQueue(stream, 10);
    const messages = [1, 2, 3, 4].map((id) => ({ id }));
    const sends = messages.map((message) => queue.send(message));
    for (const message of messages) message.id = 9;
    do await stream.read();
    while (stream.writableLength > 0);
    await Promise.all(sends);
    expect(stream.writes.join("")).toBe([1, 2, 3, 4].map(line).join(""));
  });

  it("a message larger than the bound is sent when nothing else is queued", async () => {
    const stream = new QuickReader();
    const { queue } = createQueue(stream, 10);
    const text = "x".repeat(100_000);
    await queue.send({ text });
    expect(stream.writes).toStrictEqual([`${JSON.stringify({ text })}\n`]);
  });

  it("A19: a sender waits no longer than the limit and learns that nothing was sent", async () => {
    const stream = new SlowReader(5);
    const { queue, clock } = createQueue(stream, 10);
    await queue.send({ id: 1 });
    await queue.send({ id: 2 });
    const first = expect(queue.send({ id: 3 })).rejects.toMatchObject({ code: "timeout" });
    await clock.advance(600);
    const second = expect(queue.send({ id: 4 })).rejects.toMatchObject({ serverName: "s" });
    await clock.advance(400);
    await first;
    expect(clock.pending).toBe(1);
    await clock.advance(600);
    await second;
    while (stream.writableLength > 0) await stream.read();
    expect(stream.writes.join("")).toBe(line(1) + line(2));
    expect(clock.pending).toBe(0);
  });

  it("PRO-22: a request that is called off before it has left never leaves, and nobody is told", async () => {
    const stream = new SlowReader(5);
    const { queue, clock } = createQueue(stream, 60);
    const ask = (id: number) => queue.send({ id, method: "m" });
    const callOff = (requestId: number) =>
      queue.send({ method: "notifications/cancelled", params: { requestId } });
    const settled: number[] = [];
    for (const id of [1, 2, 3]) await ask(id);
    // The bound has been passed: these two wait, and so does an answer of the same id.
    const waiting = [4, 5].map((id) => ask(id).then(() => settled.push(id)));
    const answered = queue.send({ id: 4, result: {} });
    await nextTurn();
    expect(settled).toStrictEqual([]);
    await callOff(4);
    await nextTurn();
    expect(settled).toStrictEqual([4]);
    // Its place is another one's, which need not wait any longer.
    await callOff(2);
    await Promise.all(waiting);
    const late = callOff(1);
    do await stream.read();
    while (stream.writableLength > 0);
    await Promise.all([answered, late]);
    const written = stream.writes.join("").trim().split("\n");
    expect(written.map((text) => JSON.parse(text) as unknown)).toStrictEqual([
      { id: 1, method: "m" },
      { id: 3, method: "m" },
      { id: 5, method: "m" },
      { id: 4, result: {} },
      { method: "notifications/cancelled", params: { requestId: 1 } },
    ]);
    expect(clock.pending).toBe(0);
  });

  it("two requests of the same id, queued or waiting, are both sent", async () => {
    const stream = new SlowReader(5);
    const { queue } = createQueue(stream, 40);
    const message = { id: 7, method: "m" };
    const sends = Array.from({ length: 6 }, () => queue.send(message));
    do await stream.read();
    while (stream.writableLength > 0);
    await Promise.all(sends);
    expect(stream.writes.join("")).toBe(`${JSON.stringify(message)}\n`.repeat(6));
  });

  it("without a limit a sender waits as long as it takes", async () => {
    const stream = new SlowReader(5);
    const { queue, clock } = createQueue(stream, 10, 0);
    await queue.send({ id: 1 });
    await queue.send({ id: 2 });
    const waiting = queue.send({ id: 3 });
    await clock.advance(1_000_000);
    while (stream.writableLength > 0) await stream.read();
    await waiting;
    expect(stream.writes.join("")).toBe(line(1) + line(2) + line(3));
  });

  it("STD-10: stopping rejects everyone who waits and everyone who comes later", async () => {
    const stream = new SlowReader(5);
    const { queue, clock } = createQueue(stream, 10);
    void queue.send({ id: 1 });
    void queue.send({ id: 2 });
    const waiting = queue.send({ id: 3 });
    const reason = createError("connection_lost", "gone");
    queue.stop(reason);
    await expect(waiting).rejects.toBe(reason);
    await expect(queue.send({ id: 4 })).rejects.toBe(reason);
    expect(clock.pending).toBe(0);
    while (stream.writableLength > 0) await stream.read();
    expect(stream.writes).toStrictEqual([line(1)]);
  });

  it("flushing hands over what is queued although the pipe is full", async () => {
    const stream = new SlowReader(5);
    const { queue } = createQueue(stream);
    for (const id of [1, 2, 3]) void queue.send({ id });
    queue.flush();
    queue.stop(createError("closed", "closed"));
    while (stream.writableLength > 0) await stream.read();
    expect(stream.writes.join("")).toBe(line(1) + line(2) + line(3));
  });

  it("a message that is no JSON is refused, at once or after a wait, and harms no other", async () => {
    const stream = new SlowReader(5);
    const { queue } = createQueue(stream, 10);
    await expect(queue.send({ id: 1n })).rejects.toMatchObject({ code: "invalid_arguments" });
    await queue.send({ id: 1 });
    await queue.send({ id: 2 });
    const waiting = [queue.send({ id: 3n }), queue.send({ id: 4 })];
    const outcome = Promise.allSettled(waiting);
    while (stream.writableLength > 0) await stream.read();
    const [bad, good] = await outcome;
    expect(bad).toMatchObject({ status: "rejected", reason: { code: "invalid_arguments" } });
    expect(good).toMatchObject({ status: "fulfilled" });
    expect(stream.writes.join("")).toBe(line(1) + line(2) + line(4));
  });
});
