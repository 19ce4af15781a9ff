import { describe, expect, it } from "vitest";

import { McpError } from "../../errors/mcp-error.ts";
import { judgeRedirect } from "./judge-redirect.ts";
import { configuredUrlPolicy } from "./network-policy.ts";

const judge = (location: string | undefined, from = "https://api.example/mcp?key=s3cret") =>
  judgeRedirect({
    from: new URL(from),
    location,
    policy: configuredUrlPolicy(from, false),
    serverName: "api",
  });

describe("judgeRedirect", () => {
  it.each([
    ["/v2/mcp", "https://api.example/v2/mcp"],
    ["other?x=1#part", "https://api.example/other?x=1"],
    ["https://api.example:443/v2", "https://api.example/v2"],
    ["//api.example/v2", "https://api.example/v2"],
  ])("HTP-07: a GET may go on to %s at the same server", (location, expected) => {
    expect(String(judge(location))).toBe(expected);
  });

  it.each([
    ["https://evil.example/take?token=s3cret", "https://evil.example"],
    ["http://api.example/mcp", "http://api.example"],
    ["https://api.example:444/mcp", "https://api.example:444"],
    ["https://sub.api.example/", "https://sub.api.example"],
    ["//evil.example/", "https://evil.example"],
    ["file:///etc/passwd", "file:"],
    ["javascript:alert(1)", "javascript:"],
    ["https://me:s3cret@api.example/", "an address with a user name or password"],
    ["https://[", "an address that cannot be used"],
    [undefined, "an address that cannot be used"],
  ])("HTP-07 AUT-15: nothing follows it to %s", (location, where) => {
    const error = judge(location);
    expect(McpError.is(error, "http_error")).toBe(true);
    expect(error).toMatchObject({
      serverName: "api",
      message: `api.example redirects to ${where}; only redirects to the same server are followed`,
    });
    expect(JSON.stringify(error)).not.toContain("s3cret");
  });

  it.each([
    "http://localhost/",
    "http://2130706433/",
    "http://169.254.169.254/",
    "https://10.0.0.1/",
  ])("HTP-07 HTP-06: a redirect to %s is told as what it is", (location) => {
    expect(judge(location)).toMatchObject({
      code: "blocked_address",
      details: { namedBy: "server" },
    });
  });

  it("HTP-07: not even a server on this machine is followed to another one there", () => {
    expect(judge("http://localhost:2/", "http://localhost:1/")).toMatchObject({
      code: "http_error",
    });
  });
});
