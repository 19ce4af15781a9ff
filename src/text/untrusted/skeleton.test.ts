import { describe, expect, it } from "vitest";

import { skeleton } from "./skeleton.ts";

describe("skeleton", () => {
  it.each([
    ["send", "Send"],
    ["send", "\u0455end"],
    ["SEND", "\u0405\u0415ND"],
    ["send", "\uFF53\uFF45\uFF4E\uFF44"],
    ["send", "se\u200Bnd"],
    ["send", "s\u00E9nd"],
    ["send", "send\u00A0"],
    ["read_file", "read\uFF3Ffile"],
    ["read-file", "read\u2013file"],
    ["list1", "listl"],
    ["Item", "ltem"],
    ["go", "g0"],
    ["modern", "modem"],
  ])("D5: %j and %j look alike", (one, other) => {
    expect(skeleton(one)).toBe(skeleton(other));
  });

  it.each([
    ["send", "sent"],
    ["read_file", "read-file"],
    ["read", "reed"],
    ["v1", "v2"],
    ["工具", "工县"],
  ])("%j and %j do not", (one, other) => {
    expect(skeleton(one)).not.toBe(skeleton(other));
  });
});
