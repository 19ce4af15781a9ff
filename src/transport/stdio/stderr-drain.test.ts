import { PassThrough } from "node:stream";

import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { ManualClock } from "../../../tests/fixtures/protocol/manual-clock.ts";
import { silentLogger } from "../../ports/logger.ts";
import type { ProcessOutput } from "../host-transport.ts";
import { StderrDrain, StderrRing } from "./stderr-drain.ts";

function ringOf(maxBytes: number, ...chunks: readonly string[]): StderrRing {
  const ring = new StderrRing(maxBytes);
  for (const chunk of chunks) ring.push(Buffer.from(chunk));
  return ring;
}

describe("the last lines of stderr", () => {
  it("STD-20: the tail is what was written last, the unfinished line included", () => {
    expect(ringOf(100, "one\ntwo\n", "thr", "ee\n\nfour").tail(3)).toStrictEqual([
      "two",
      "three",
      "four",
    ]);
    expect(ringOf(100).tail(3)).toStrictEqual([]);
  });

  it("STD-20: keeps every line that began within the last bytes, however they arrive", () => {
    const lines = fc.array(fc.stringMatching(/^[a-zé]{1,30}$/), { maxLength: 60 });
    const sizes = fc.array(fc.integer({ min: 1, max: 90 }), { minLength: 1 });
    fc.assert(
      fc.property(lines, sizes, fc.integer({ min: 1, max: 200 }), (written, pieces, maxBytes) => {
        const ring = new StderrRing(maxBytes);
        const bytes = Buffer.from(written.map((text) => `${text}\n`).join(""));
        for (let start = 0, index = 0; start < bytes.length; index += 1) {
          const end = start + (pieces[index % pieces.length] ?? 1);
          ring.push(bytes.subarray(start, end));
          start = end;
        }
        let keptBytes = 0;
        const kept = written.toReversed().filter((text) => {
          keptBytes += Buffer.byteLength(text) + 1;
          // The line that exactly fills the ring cannot be told from one that was cut.
          return keptBytes < maxBytes || (keptBytes === maxBytes && keptBytes === bytes.length);
        });
        expect(ring.tail(1_000)).toStrictEqual(kept.toReversed());
      }),
    );
  });

  it("a line whose beginning is lost is left out: half a secret could not be recognised", () => {
    expect(ringOf(10, "password-is-long").tail(5)).toStrictEqual([]);
    expect(ringOf(10, "password-is-long\nab\n").tail(5)).toStrictEqual(["ab"]);
  });

  it("hands out complete lines once", () => {
    const ring = ringOf(100, "one\ntwo\nthr");
    expect(ring.takeLines(5)).toStrictEqual(["one", "two"]);
    expect(ring.takeLines(5)).toStrictEqual([]);
    ring.push(Buffer.from("ee\nfour\nfive\n"));
    expect(ring.takeLines(2)).toStrictEqual(["four", "five"]);
    expect(ring.takeLines(2)).toStrictEqual([]);
  });

  it("hands out only whole lines after more was written than is kept", () => {
    const ring = ringOf(10, "a\n", "bcdefghijklm\nno\n");
    expect(ring.takeLines(5)).toStrictEqual(["no"]);
    ring.push(Buffer.from("a-line-without-an-end"));
    expect(ring.takeLines(5)).toStrictEqual([]);
    ring.push(Buffer.from("\nnext\n"));
    expect(ring.takeLines(5)).toStrictEqual(["next"]);
  });
});

describe("lines that are left out", () => {
  it("A17: are counted while they are there, and in bytes once they are gone", () => {
    const ring = ringOf(100, "a\nb\n\nc\nd\n");
    expect(ring.takeLines(1)).toStrictEqual(["d"]);
    expect(ring.takeOmitted()).toEqual({ lines: 3, bytes: 0 });
    expect(ring.takeOmitted()).toEqual({ lines: 0, bytes: 0 });
    ring.push(Buffer.from("x".repeat(150)));
    ring.push(Buffer.from("\nlast\n"));
    expect(ring.takeLines(5)).toStrictEqual(["last"]);
    expect(ring.takeOmitted()).toEqual({ lines: 0, bytes: 56 });
  });

  it("ENV-12: the rest of a line is none of them once its beginning was handed out", () => {
    const ring = ringOf(100, "one\nsecr");
    expect(ring.takeRest(5)).toStrictEqual(["one", "secr"]);
    ring.push(Buffer.from("et"));
    expect(ring.takeLines(5)).toStrictEqual([]);
    expect(ring.takeRest(5)).toStrictEqual([]);
    ring.push(Buffer.from("-end\ntwo\n"));
    expect(ring.takeLines(5)).toStrictEqual(["two"]);
    expect(ring.takeOmitted()).toEqual({ lines: 0, bytes: 0 });
  });
});

describe("stderr that is kept", () => {
  function drained(...chunks: readonly string[]) {
    const stream = new PassThrough();
    const clock = new ManualClock();
    const kept: (readonly string[])[] = [];
    let omitted = 0;
    const output: ProcessOutput = {
      file: "s.log",
      printed: (lines, { lines: count }) => {
        kept.push(lines);
        omitted += count;
      },
      stopped: () => {},
    };
    const drain = new StderrDrain(stream, {
      serverName: "s",
      maxBytes: 1_000_000,
      secrets: ["canary"],
      clock,
      logger: silentLogger,
      output,
    });
    for (const chunk of chunks) stream.emit("data", Buffer.from(chunk));
    return { stream, clock, drain, kept, omitted: () => omitted };
  }

  it("STD-20, ENV-12: is handed on in batches, masked, with the unfinished line at the end", async () => {
    const { clock, drain, kept } = drained("one canary\ntwo\nthr");
    expect(kept).toEqual([]);
    await clock.advance(250);
    expect(kept).toEqual([["one [redacted]", "two"]]);
    drain.end();
    expect(kept).toEqual([["one [redacted]", "two"], ["thr"]]);
    drain.end();
    expect([kept.length, clock.pending]).toEqual([2, 0]);
  });

  it("A17: of a flood has the last lines of each batch and a bounded number of others", async () => {
    const { stream, clock, kept, omitted } = drained();
    const lines = 2_000;
    for (let batch = 0; batch < 5; batch += 1) {
      stream.emit("data", Buffer.from("short\n".repeat(lines)));
      await clock.advance(250);
    }
    const counts = kept.map(({ length }) => length);
    expect(counts[0]).toBe(1_020);
    for (const count of counts.slice(1)) expect(count).toBeLessThan(40);
    expect(omitted() + counts.reduce((sum, count) => sum + count, 0)).toBe(5 * lines);
  });

  it("A17: is bounded in characters for one batch, too", async () => {
    const { clock, kept, omitted } = drained(`${"x".repeat(4_000)}\n`.repeat(200));
    await clock.advance(250);
    expect(kept[0]?.length).toBe(32);
    expect(kept[0]?.[0]).toHaveLength(2_000);
    expect(omitted()).toBe(168);
  });
});
