import { describe, expect, it } from "vitest";

import { formatDuration, formatElapsed, parseDuration } from "./duration.ts";

describe("parseDuration", () => {
  it.each([
    ["500ms", 500],
    ["60s", 60_000],
    ["1.5s", 1_500],
    ["2m", 120_000],
    ["1h", 3_600_000],
    ["30", 30_000],
    ["0", 0],
  ])("reads %s", (text, expected) => {
    expect(parseDuration(text)).toBe(expected);
  });

  it.each(["", "soon", "-1s", "5 years", "1e9s", "9999h", "s"])("CLI-13: refuses %j", (text) => {
    expect(() => parseDuration(text)).toThrow(
      expect.objectContaining({ code: "invalid_arguments", exitCode: 2 }),
    );
  });
});

describe("durations as text", () => {
  it.each([
    [12.4, "12 ms"],
    [400, "0.4 s"],
    [59_940, "59.9 s"],
    [59_990, "1 min 0 s"],
    [65_000, "1 min 5 s"],
  ])("%d ms reads as %s", (milliseconds, expected) => {
    expect(formatElapsed(milliseconds)).toBe(expected);
  });

  it("a limit is written as it can be typed", () => {
    expect([formatDuration(60_000), formatDuration(1_500)]).toEqual(["60s", "1500ms"]);
  });

  it("ERR-17: a limit that was measured is rounded", () => {
    const measured = [59_999.880416, 2_449.9, 999.6, 0.4].map((time) => formatDuration(time));
    expect(measured).toEqual(["60s", "2400ms", "1s", "0s"]);
  });
});
