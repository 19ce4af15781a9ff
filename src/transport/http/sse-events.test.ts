import { array, assert, constantFrom, nat, property, string } from "fast-check";
import { describe, expect, it } from "vitest";

import { createError } from "../../errors/families.ts";
import { SseFeed } from "./sse-events.ts";

function createFeed(maxBytes = 1_000): { feed: SseFeed; messages: string[] } {
  const messages: string[] = [];
  const feed = new SseFeed({
    maxBytes,
    tooLarge: () => createError("too_large", "too large"),
    onMessage: (data) => messages.push(data),
  });
  return { feed, messages };
}

/** What a feed makes of `bytes` when they arrive cut at `cuts`. */
function read(bytes: Buffer, cuts: readonly number[] = []): string[] {
  const { feed, messages } = createFeed(100_000);
  const body = feed.connect();
  let start = 0;
  for (const cut of [...cuts, bytes.length]) {
    body.write(bytes.subarray(start, cut));
    start = cut;
  }
  body.end();
  return messages;
}

describe("SseFeed", () => {
  it.each([
    ["LF", "\n"],
    ["CRLF", "\r\n"],
    ["CR", "\r"],
  ])("SSE-13: events with %s line ends, cut at every byte, stay whole", (_name, newline) => {
    const text =
      '\uFEFFid: 1\nevent: message\ndata: {"a":\n\ndata: é😀\ndata: b\n\n: ping\n\ndata:c\n\n';
    const bytes = Buffer.from(text.replaceAll("\n", newline));
    const whole = ['{"a":', "é😀\nb", "c"];
    expect(read(bytes)).toEqual(whole);
    expect(read(bytes, [...bytes.keys()])).toEqual(whole);
    for (const cut of bytes.keys()) expect(read(bytes, [cut])).toEqual(whole);
  });

  it("SSE-13: whatever the data and the cuts, what is read is what was written", () => {
    const unit = constantFrom(
      "a",
      ":",
      " ",
      "\t",
      "\0",
      "é",
      "\u2028",
      "\uFEFF",
      "😀",
      "data:",
      "id:",
    );
    const line = string({ unit });
    assert(
      property(
        array(array(line, { minLength: 1, maxLength: 3 }), { maxLength: 5 }),
        array(nat(200)),
        (events, cuts) => {
          const written = events.map((lines) => lines.map((data) => `data: ${data}\n`).join(""));
          const bytes = Buffer.from(written.map((event) => `${event}\n`).join(""));
          const places = cuts.filter((cut) => cut < bytes.length).toSorted((a, b) => a - b);
          const expected = events.map((lines) => lines.join("\n")).filter((data) => data !== "");
          expect(read(bytes, places)).toEqual(expected);
        },
      ),
    );
  });

  it("SSE-13: an event without its blank line is no event", () => {
    expect(read(Buffer.from("data: a\n\ndata: b\n"))).toEqual(["a"]);
    expect(read(Buffer.from("data: a\n\ndata: b"))).toEqual(["a"]);
  });

  it("SHT-08: it remembers the last id across connections", () => {
    const { feed } = createFeed();
    feed.connect().write(Buffer.from("id: 1\ndata: a\n\ndata: b\n\n"));
    feed.connect().write(Buffer.from("data: c\n\n"));
    expect(feed.lastEventId).toBe("1");
    expect(feed.eventCount).toBe(3);
  });

  it.each([["with spaces"], ["größe"], ["x".repeat(1_025)], [""]])(
    "SHT-08: an id that cannot be sent back makes the stream one that cannot be resumed",
    (id) => {
      const { feed } = createFeed(10_000);
      feed.connect().write(Buffer.from(`id: 1\ndata: a\n\nid: ${id}\ndata: b\n\n`));
      expect(feed.lastEventId).toBeUndefined();
    },
  );

  it.each([
    ["500", 500],
    ["0", 100],
    ["60000", 30_000],
    ["9".repeat(400), 30_000],
    ["soon", 1_000],
  ])("SHT-08: retry %s means waiting %i ms", (retry, expected) => {
    const { feed } = createFeed();
    feed.connect().write(Buffer.from(`retry: ${retry}\n\n`));
    expect(feed.reconnectMs).toBe(expected);
  });

  it("SHT-10: what an event holds is bounded in bytes, over one line, many lines and many pieces", () => {
    const { feed, messages } = createFeed(10);
    feed.connect().write(Buffer.from(`data: ${"é".repeat(5)}\n\n`));
    expect(messages).toEqual(["é".repeat(5)]);
    expect(() => feed.connect().write(Buffer.from(`data: ${"é".repeat(6)}\n\n`))).toThrow(
      "too large",
    );
    const lines = feed.connect();
    expect(() => {
      for (let count = 0; count < 20; count += 1) lines.write(Buffer.from("data: a\n"));
    }).toThrow("too large");
    const pieces = feed.connect();
    expect(() => {
      for (let count = 0; count < 20; count += 1) pieces.write(Buffer.from("data"));
    }).toThrow("too large");
  });

  it("SSE-13: events of other names are handed on apart, and never as messages", () => {
    const others: string[] = [];
    const messages: string[] = [];
    const feed = new SseFeed({
      maxBytes: 100,
      tooLarge: () => createError("too_large", "too large"),
      onMessage: (data) => messages.push(data),
      onOther: (event, data) => others.push(`${event}=${data}`),
    });
    const text = "event: endpoint\ndata: /m\n\ndata: 1\n\nevent: ping\ndata:\n\n";
    feed.connect().write(Buffer.from(text));
    expect(others).toEqual(["endpoint=/m"]);
    expect(messages).toEqual(["1"]);
  });
});
