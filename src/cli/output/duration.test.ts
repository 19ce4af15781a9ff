import { describe, expect, it } from "vitest";

import {
  formatDuration,
  formatElapsed,
  formatMoment,
  parseDuration,
  parseMoment,
} from "./duration.ts";

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

const now = Date.parse("2026-11-16T12:00:00Z");

describe("a moment", () => {
  it.each([
    ["10m", "2026-11-16T11:50:00Z"],
    ["90s", "2026-11-16T11:58:30Z"],
    ["1.5h", "2026-11-16T10:30:00Z"],
    ["2d", "2026-11-14T12:00:00Z"],
    ["1w", "2026-11-09T12:00:00Z"],
    ["2026-11-16T09:30Z", "2026-11-16T09:30:00Z"],
    ["2026-11-16 09:30:05+02:00", "2026-11-16T07:30:05Z"],
  ])("is read from %s", (text, iso) => {
    expect(parseMoment(text, now)).toBe(Date.parse(iso));
  });

  it("without a zone is the time of this machine, and is written in it", () => {
    expect(parseMoment("2026-11-16", now)).toBe(new Date(2026, 10, 16).getTime());
    expect(parseMoment("2026-11-16 09:30", now)).toBe(new Date(2026, 10, 16, 9, 30).getTime());
    expect(formatMoment(new Date(2026, 0, 2, 3, 4, 5).getTime())).toBe("2026-01-02 03:04:05");
    expect(formatMoment(Number.MAX_VALUE)).toBe("?");
  });

  it.each(["", "soon", "10", "-1h", "10 weeks", "2026-13-01", "2026-11-16T25:00", "11/16/2026"])(
    "CLI-13: is not %j",
    (text) => {
      expect(() => parseMoment(text, now)).toThrow("is no time");
    },
  );
});
