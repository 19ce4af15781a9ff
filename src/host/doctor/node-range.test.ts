import { describe, expect, it } from "vitest";

import { isInNodeRange } from "./node-range.ts";

describe("a range of Node versions", () => {
  it.each([
    ["20.19.0", ">=18", true],
    ["16.20.2", ">=18", false],
    ["v20.19.0", ">= 20.19.0", true],
    ["20.18.9", ">=20.19", false],
    ["21.0.0", "^20.19.0 || >=22.12.0", false],
    ["22.12.0", "^20.19.0 || >=22.12.0", true],
    ["20.20.0", "^20.19.0 || >=22.12.0", true],
    ["20.19.4", "20.x", true],
    ["21.1.0", "20.x", false],
    ["20.0.0", "20", true],
    ["20.0.0", "=20.0.0", true],
    ["18.5.0", ">=18 <23", true],
    ["23.0.0", ">=18 <23", false],
    ["20.5.0", "18 - 20", true],
    ["21.0.0", "18 - 20", false],
    ["20.5.0", "~20.5", true],
    ["20.6.0", "~20.5", false],
    ["20.6.0", "~20", true],
    ["20.6.0", ">20", false],
    ["21.0.0", ">20", true],
    ["20.6.0", "<=20", true],
    ["0.12.3", "^0.12.0", true],
    ["0.13.0", "^0.12.0", false],
    ["22.0.0", "*", true],
    ["22.0.0", "", true],
    ["22.0.0", ">=20 || lts", true],
    ["18.0.0", ">=20 || lts", undefined],
    ["22.0.0", "lts/*", undefined],
    ["unknown", ">=20", undefined],
  ])("%s in %j: %s", (version, range, expected) => {
    expect(isInNodeRange(version, range)).toBe(expected);
  });
});
