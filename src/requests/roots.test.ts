import { describe, expect, it } from "vitest";

import { McpError } from "../errors/mcp-error.ts";
import { describeRoots, type Root } from "./roots.ts";

describe("roots", () => {
  it.each<[Root, string, string | undefined]>([
    ["/srv/a b", "file:///srv/a%20b", "a b"],
    ["../up", "file:///srv/up", "up"],
    [".", "file:///srv/work", "work"],
    ["/", "file:///", undefined],
    ["file:///srv/x", "file:///srv/x", undefined],
    [new URL("file:///srv/x"), "file:///srv/x", undefined],
    [{ uri: "x", name: "Mine" }, "file:///srv/work/x", "Mine"],
    [{ uri: "file:///srv/x" }, "file:///srv/x", undefined],
    ["a#b?c", "file:///srv/work/a%23b%3Fc", "a#b?c"],
  ])("%j is %s", (root, uri, name) => {
    expect(describeRoots([root], "/srv/work")).toEqual([
      name === undefined ? { uri } : { uri, name },
    ]);
  });

  it.each(["https://example.com/", "http:", "data:text/plain,a"])("%s is no folder", (root) => {
    expect(() => describeRoots([root], "/")).toThrow(McpError);
  });

  it("are at most a thousand", () => {
    const roots = Array.from({ length: 1_001 }, (_, index) => `/srv/${index}`);
    expect(() => describeRoots(roots, "/")).toThrow("more than 1000 roots");
    expect(describeRoots(roots.slice(1), "/")).toHaveLength(1_000);
  });
});
