import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { detailText } from "./audit-detail.ts";

const parse = (detail: Record<string, unknown>) =>
  JSON.parse(detailText(detail)) as Record<string, unknown>;

describe("the details of an entry", () => {
  it("are as they are up to 4 KiB", () => {
    const detail = { callId: "x".repeat(4_000), list: ["a"], rule: undefined };
    expect(detailText(detail)).toBe(JSON.stringify(detail));
  });

  it("keep what is short whatever else is long, and say how much is missing", () => {
    const short = {
      rule: "level",
      consent: "yolo",
      durationMs: 1.2,
      argumentsHash: "h".repeat(24),
      sideEffects: "possible",
    };
    const text = fc.string({ unit: "binary", minLength: 5_000, maxLength: 6_000 });
    const unit = fc.constantFrom("x", "\u0000", "é", "😀", "\ud800", '"');
    const long = fc.oneof(text, fc.string({ unit, minLength: 5_000, maxLength: 6_000 }));
    const lists = fc.array(fc.oneof(fc.string(), long), { maxLength: 50 });
    fc.assert(
      fc.property(long, lists, long, (callId, toolNames, other) => {
        const written = detailText({ callId, toolNames, nested: { other }, ...short });
        expect(written.length).toBeLessThanOrEqual(4_096);
        const { omitted, ...kept } = JSON.parse(written) as Record<string, unknown>;
        expect(kept).toMatchObject(short);
        const { toolNames: left = 0, callId: chars } = omitted as Record<string, number>;
        expect((kept["toolNames"] as unknown[]).length + left).toBe(toolNames.length);
        expect(chars).toBeGreaterThan(4_000);
        expect(callId.startsWith((kept["callId"] as string).slice(0, -1))).toBe(true);
      }),
      { numRuns: 50 },
    );
  });

  it("hold as many names of a long list as fit", () => {
    const toolNames = Array.from({ length: 1_000 }, (_, index) => `tool_${index}`);
    const detail = parse({ toolNames });
    const kept = detail["toolNames"] as string[];
    expect(kept.length).toBeGreaterThan(150);
    expect(kept).toEqual(toolNames.slice(0, kept.length));
    expect(detail["omitted"]).toEqual({ toolNames: 1_000 - kept.length });
  });

  it("are given up where there are too many of them, and where they are no JSON", () => {
    const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`m${index}`, 1]));
    expect(parse(many)).toEqual({ omitted: "too large" });
    expect(parse({ a: 1n })).toEqual({ omitted: "not JSON" });
  });
});
