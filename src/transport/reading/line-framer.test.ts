import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { type FramingState, LineFramer } from "./line-framer.ts";

function frame(
  chunks: readonly Buffer[],
  maxLineBytes = 1_000_000,
): {
  readonly lines: string[];
  readonly pieces: Buffer[];
  readonly state: FramingState;
  readonly pushed: number;
} {
  const lines: string[] = [];
  const pieces: Buffer[] = [];
  const framer = new LineFramer(maxLineBytes, {
    onLine(line, byteLength) {
      expect(byteLength).toBe(Buffer.byteLength(line));
      lines.push(line);
      return true;
    },
    onPiece: (bytes) => pieces.push(bytes) > 0,
  });
  let pushed = 0;
  let state: FramingState = "more";
  for (const chunk of chunks) {
    state = framer.push(chunk);
    pushed += chunk.length;
    if (state !== "more") break;
  }
  return { lines, pieces, state, pushed };
}

function split(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const points = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].toSorted(
    (a, b) => a - b,
  );
  return [...points, bytes.length].map((end, index) =>
    bytes.subarray(index === 0 ? 0 : points[index - 1], end),
  );
}

const line = fc
  .string({ unit: "binary", maxLength: 60 })
  .map((text) => text.replaceAll(/[\r\n]/g, "-"));
const cuts = fc.array(fc.nat(20_000), { maxLength: 200 });

describe("cutting bytes into lines", () => {
  it("STD-18: any split of any text gives the same lines, LF or CRLF", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(line, fc.boolean())), cuts, (lines, points) => {
        const text = lines
          .map(([content, isCrlf]) => `${content}${isCrlf ? "\r\n" : "\n"}`)
          .join("");
        const result = frame(split(Buffer.from(text), points));
        expect(result.state).toBe("more");
        expect(result.lines).toStrictEqual(lines.map(([content]) => content.toWellFormed()));
      }),
    );
  });

  it("STD-18: lines longer than what is gathered are put together from pieces of every size", () => {
    const long = fc.integer({ min: 0, max: 60_000 }).map((length) => "aé€😀".repeat(length / 8));
    fc.assert(
      fc.property(fc.array(long, { maxLength: 6 }), cuts, (lines, points) => {
        const bytes = Buffer.from(lines.map((text) => `${text}\n`).join(""));
        expect(frame(split(bytes, points)).lines).toStrictEqual(lines);
      }),
      { numRuns: 50 },
    );
  });

  it("STD-18: a trickle of single bytes gives the same lines", () => {
    const text = "é".repeat(20_000);
    const chunks = [...Buffer.from(`${text}\n{}\r\n`)].map((byte) => Buffer.from([byte]));
    expect(frame(chunks).lines).toStrictEqual([text, "{}"]);
  });

  it("the pieces of a large line are shown before it, all of them, and those of no other", () => {
    const small = "é".repeat(300_000);
    const large = "aé€😀".repeat(150_000);
    const bytes = Buffer.from(`${small}\n${large}\r\n${small}\n`);
    const cut = fc.array(fc.nat(bytes.length), { maxLength: 50 });
    fc.assert(
      fc.property(cut, (points) => {
        const { lines, pieces } = frame(split(bytes, [...points, 700_000]), 2_000_000);
        expect(lines.map((text) => text.length)).toStrictEqual([300_000, 750_000, 300_000]);
        expect(Buffer.concat(pieces).equals(Buffer.from(`${large}\r`))).toBe(true);
      }),
      { numRuns: 20 },
    );
  });

  it("a large line whose piece is refused ends the framing before it is whole", () => {
    const pieces: number[] = [];
    const framer = new LineFramer(10_000_000, {
      onLine: () => true,
      onPiece: ({ length }) => pieces.push(length) < 20,
    });
    const chunk = Buffer.alloc(65_536, "x");
    const states = Array.from({ length: 20 }, () => framer.push(chunk));
    expect(states.slice(-2)).toStrictEqual(["more", "ended"]);
  });

  it("an unfinished line is not handed on", () => {
    expect(frame([Buffer.from('{"a":1}\n{"b"')]).lines).toStrictEqual(['{"a":1}']);
  });

  it("STD-14: a line of exactly the limit passes, one byte more fails, whatever the line ending", () => {
    const limit = 5_000;
    const exact = "x".repeat(limit);
    fc.assert(
      fc.property(fc.constantFrom("\n", "\r\n"), cuts, (ending, points) => {
        expect(frame(split(Buffer.from(exact + ending), points), limit)).toMatchObject({
          lines: [exact],
          state: "more",
        });
        expect(frame(split(Buffer.from(`x${exact}${ending}`), points), limit)).toMatchObject({
          lines: [],
          state: "too-long",
        });
      }),
    );
  });

  it("STD-14: the limit is in bytes, not characters", () => {
    expect(frame([Buffer.from("éé\n")], 4).state).toBe("more");
    expect(frame([Buffer.from("éé\n")], 3).state).toBe("too-long");
  });

  it("STD-14: a line without an end is refused within one chunk of the limit", () => {
    const chunk = Buffer.alloc(1_000, "x");
    const { state, pushed } = frame(
      Array.from({ length: 100 }, () => chunk),
      10_000,
    );
    expect(state).toBe("too-long");
    expect(pushed).toBeLessThanOrEqual(11_000);
  });

  it("lines after the one with which the handler ends the framing are not handed on", () => {
    const seen: string[] = [];
    const framer = new LineFramer(100, {
      onLine(text) {
        seen.push(text);
        return text !== "b";
      },
      onPiece: () => false,
    });
    expect(framer.push(Buffer.from("a\nb\nc\n"))).toBe("ended");
    expect(seen).toStrictEqual(["a", "b"]);
  });
});
