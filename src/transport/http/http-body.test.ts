import { describe, expect, it } from "vitest";

import { createError } from "../../errors/families.ts";
import { TextBody, type TextBodyOptions } from "./http-body.ts";

const mebibyte = 1_024 * 1_024;

interface Collected {
  readonly text: string;
  readonly pieces: readonly Buffer[];
}

/** Sends `bytes` in chunks of `size` through a body. */
function collect(bytes: Buffer, size: number, options: Partial<TextBodyOptions> = {}): Collected {
  let text = "";
  const pieces: Buffer[] = [];
  const body = new TextBody({
    maxBytes: 10 * mebibyte,
    onPiece: (piece) => pieces.push(piece),
    onText: (whole) => {
      text = whole;
    },
    ...options,
  });
  let isWanted = true;
  for (let at = 0; at < bytes.length && isWanted; at += size)
    isWanted = body.write(bytes.subarray(at, at + size));
  body.end();
  return { text, pieces };
}

describe("TextBody", () => {
  it.each([1, 7, 1_000, 65_536, 3 * mebibyte])(
    "a large body in chunks of %i bytes is the text that was sent, and every byte is shown once",
    (size) => {
      const text = `\u{1F50C} plug … ä `.repeat(10_000);
      const { text: got, pieces } = collect(Buffer.from(text), size);
      expect(got).toBe(text);
      expect(Buffer.concat(pieces).toString()).toBe(text);
    },
  );

  it("a small body is shown to nobody before it is whole", () => {
    expect(collect(Buffer.from("ä".repeat(100)), 3)).toEqual({ text: "ä".repeat(100), pieces: [] });
  });

  it.each([10, 100_000])("a byte order mark in front of %i characters is dropped", (length) => {
    const text = "x".repeat(length);
    expect(collect(Buffer.from(`\u{FEFF}${text}`), 1_000).text).toBe(text);
  });

  it("what looks through a large body may refuse it at its last bytes", () => {
    const refusal = createError("too_large", "too many values");
    const onPiece = (piece: Buffer): void => {
      if (piece.includes("]")) throw refusal;
    };
    const bytes = Buffer.from(`[${" ".repeat(200_000)}]`);
    expect(() => collect(bytes, 10_000, { onPiece })).toThrow(refusal);
  });

  it("a body over its limit is cut there, or refused where it must be whole", () => {
    const bytes = Buffer.alloc(300_000, "x");
    expect(collect(bytes, 1_000, { maxBytes: 100_500 }).text).toHaveLength(100_500);
    const refusal = createError("too_large", "too large");
    const tooLarge = () => refusal;
    expect(() => collect(bytes, 1_000, { maxBytes: 100_500, tooLarge })).toThrow(refusal);
  });
});
