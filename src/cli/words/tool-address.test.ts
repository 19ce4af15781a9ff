import { describe, expect, it } from "vitest";

import { parseToolAddress } from "./tool-address.ts";

describe("<server>.<tool>", () => {
  it.each([
    ["demo.add", ["demo"], "demo", "add"],
    ["demo.a.b", ["demo"], "demo", "a.b"],
    ["api.example.com.search", ["api.example.com", "api"], "api.example.com", "search"],
    ["api.search", ["api.example.com", "api"], "api", "search"],
  ])("NAM-15: %s is read by the longest known server name", (text, names, server, tool) => {
    expect(parseToolAddress(text, names)).toEqual({ server, tool });
  });

  it("takes the part that comes nearest to a known server when none fits", () => {
    expect(parseToolAddress("gihub.create", ["github"])).toEqual({
      server: "gihub",
      tool: "create",
    });
    expect(parseToolAddress("api.exmaple.com.search", ["api.example.com"]).server).toBe(
      "api.exmaple.com",
    );
    expect(parseToolAddress("a.b.c", ["github"])).toEqual({ server: "a", tool: "b.c" });
  });

  it.each(["add", "demo.", ".add", "", "demo"])("CLI-13: %j is refused with a way on", (text) => {
    expect(() => parseToolAddress(text, ["demo"])).toThrow(
      expect.objectContaining({
        code: "invalid_arguments",
        hint: expect.stringContaining("tools"),
      }),
    );
  });
});
