import { createParser } from "eventsource-parser";
import { array, assert, constantFrom, nat, property, string } from "fast-check";
import { describe, expect, it } from "vitest";

import { type SseEvent, SseParser } from "./sse-parser.ts";

function createReader(maxCharacters = 1_000_000) {
  const events: SseEvent[] = [];
  const delaysMs: number[] = [];
  const parser = new SseParser({
    maxCharacters,
    onEvent: (event) => events.push(event),
    onRetry: (delayMs) => delaysMs.push(delayMs),
  });
  return { parser, events, delaysMs };
}

function cut(text: string, places: readonly number[]): string[] {
  const inside = places.filter((place) => place < text.length).toSorted((a, b) => a - b);
  return [0, ...inside].map((start, index) => text.slice(start, inside[index]));
}

describe("SseParser", () => {
  it("SSE-13: it reads what another implementation of the standard reads, however it is cut", () => {
    const unit = constantFrom(
      "\n",
      "\r",
      ":",
      " ",
      "a",
      "0",
      "\0",
      "\u2028",
      "é",
      "\n\n",
      "\r\n",
      "data",
      "data:",
      "data: ",
      "id: 1",
      "event: x",
      "retry: 5",
      "retry:",
    );
    assert(
      property(string({ unit, maxLength: 60 }), array(nat(100)), (text, places) => {
        const theirs: SseEvent[] = [];
        const theirDelaysMs: number[] = [];
        const other = createParser({
          onEvent: ({ id, event, data }) => theirs.push({ id, event, data }),
          onRetry: (delayMs) => theirDelaysMs.push(delayMs),
        });
        // The other one holds a last CR back until it knows what follows; a comment ends that.
        const whole = `${text}:\n`;
        other.feed(whole);
        const { parser, events, delaysMs } = createReader();
        for (const piece of cut(whole, places)) expect(parser.feed(piece)).toBe(true);
        expect(events.filter(({ data }) => data !== undefined)).toEqual(theirs);
        expect(delaysMs).toEqual(theirDelaysMs);
      }),
      { numRuns: 500 },
    );
  });

  it("SHT-08: an id counts even when nothing comes with it", () => {
    const { parser, events } = createReader();
    parser.feed("id: 7\n\n");
    expect(events).toEqual([{ id: "7", event: undefined, data: undefined }]);
  });

  it("SSE-13: an event is there as soon as its blank line is, also when that ends in CR", () => {
    const { parser, events } = createReader();
    parser.feed("data: a\r\r");
    expect(events).toHaveLength(1);
    parser.feed("\ndata: b\r\n\r\n");
    expect(events.map(({ data }) => data)).toEqual(["a", "b"]);
  });

  it.each([
    ["a line", "data: aaaa"],
    ["lines of data", "data: aaaa\n"],
    ["empty lines of data", "data\n"],
    ["a line that nobody knows", "aaaa"],
    ["a comment", ":aaa"],
  ])("F4, SHT-10: %s without an end is given up at the limit", (_name, piece) => {
    const { parser } = createReader(100);
    let isWithinLimit = true;
    let fed = 0;
    while (isWithinLimit && fed < 200) {
      isWithinLimit = parser.feed(piece);
      fed += 1;
    }
    expect(isWithinLimit).toBe(false);
    expect(fed).toBeLessThanOrEqual(26);
  });

  it("F7: lines that mean nothing are never too many", () => {
    const { parser, events } = createReader(100);
    for (let count = 0; count < 1_000; count += 1)
      expect(parser.feed(":aaaa\nunknown: field\nretry: never\n\n")).toBe(true);
    expect(events).toEqual([]);
  });

  it("F4: a line in more pieces than are joined at a time stays whole", () => {
    const { parser, events } = createReader();
    const line = "0123456789".repeat(500);
    for (const piece of `data: ${line}\n\n`) parser.feed(piece);
    expect(events[0]?.data).toBe(line);
  });

  it("F4: data in more lines than are joined at a time stays whole", () => {
    const { parser, events } = createReader();
    const lines = Array.from({ length: 5_000 }, (_, index) => String(index));
    parser.feed(`${lines.map((line) => `data: ${line}\n`).join("")}\n`);
    expect(events[0]?.data).toBe(lines.join("\n"));
  });
});
