import { describe, expect, it } from "vitest";

import { formatMoment, parseMoment } from "./moment.ts";

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
