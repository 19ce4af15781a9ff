import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { StderrRing } from "./stderr-drain.ts";

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
