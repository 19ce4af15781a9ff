import { describe, expect, it } from "vitest";

import type { HttpPeer } from "../http/http-errors.ts";
import {
  deriveMessageEndpoint,
  parseEndpointChoice,
  readAnnouncedEndpoint,
} from "./message-endpoint.ts";

const url = new URL("https://mcp.example.com/v1/sse?key=k");
const peer: HttpPeer = { kind: "sse", serverName: "api", url, secrets: ["hunter2"] };

describe("the derived address", () => {
  it.each([
    ["https://mcp.example.com/sse", "https://mcp.example.com/message"],
    ["https://tools.internal:8443/mcp", "https://tools.internal:8443/mcp/message"],
    ["https://h.example/a/sse/", "https://h.example/a/message"],
    ["https://h.example/a/sse//", "https://h.example/a/message"],
    ["https://h.example/", "https://h.example/message"],
    ["https://h.example", "https://h.example/message"],
    ["https://h.example/asse", "https://h.example/asse/message"],
    ["https://h.example/sse?key=a%20b&x=/sse", "https://h.example/message?key=a%20b&x=/sse"],
  ])("SSE-04, C-13, B-K2: of %s is %s", (from, to) => {
    expect(deriveMessageEndpoint(new URL(from)).href).toBe(to);
  });
});

describe("the configured address", () => {
  it.each([
    [undefined, "auto"],
    ["auto", "auto"],
    ["derive", "derive"],
  ])("C-13: %s means %s", (text, choice) => {
    expect(parseEndpointChoice(text, peer)).toBe(choice);
  });

  it.each([
    ["https://mcp.example.com/in?x=1", "https://mcp.example.com/in?x=1"],
    ["/in", "https://mcp.example.com/in"],
    ["in", "https://mcp.example.com/v1/in"],
  ])("C-13: %s is resolved against the stream's", (text, href) => {
    expect(String(parseEndpointChoice(text, peer))).toBe(href);
  });

  it.each(["https://evil.example/in", "http://mcp.example.com/in", "http://", "javascript:1"])(
    "SSE-14: %s is refused as a mistake in the entry",
    (text) => {
      expect(() => parseEndpointChoice(text, peer)).toThrow(
        expect.objectContaining({ code: "config_invalid", serverName: "api" }),
      );
    },
  );
});

describe("the announced address", () => {
  it.each([
    ["/message?sessionId=1", "https://mcp.example.com/message?sessionId=1"],
    ["message", "https://mcp.example.com/v1/message"],
    ["?session=2", "https://mcp.example.com/v1/sse?session=2"],
    ["https://mcp.example.com:443/m", "https://mcp.example.com/m"],
  ])("C-13: %s is resolved against the stream's", (text, href) => {
    expect(readAnnouncedEndpoint(text, url, peer).href).toBe(href);
  });

  it.each([
    ["https://evil.example/message", "https://evil.example"],
    ["//evil.example/message", "https://evil.example"],
    ["http://mcp.example.com/message", "http://mcp.example.com"],
    ["https://mcp.example.com:8443/message", "https://mcp.example.com:8443"],
    ["https://mcp.example.com@evil.example/", "https://evil.example"],
    ["https://hunter2.evil.example/", "https://[redacted].evil.example"],
    ["file:///etc/passwd", "file:"],
  ])("SSE-14: %s is refused, and the foreign origin named", (text, announcedOrigin) => {
    expect(() => readAnnouncedEndpoint(text, url, peer)).toThrow(
      expect.objectContaining({
        code: "blocked_address",
        message: expect.stringContaining(announcedOrigin),
        details: { transport: "sse", announcedOrigin },
      }),
    );
  });

  it.each(["http://", "https://user:pw@mcp.example.com/", `/${"a".repeat(10_000)}`])(
    "SSE-14: one that cannot be used is refused without being shown",
    (text) => {
      expect(() => readAnnouncedEndpoint(text, url, peer)).toThrow(
        expect.objectContaining({
          code: "protocol_violation",
          message: "the server announced an address for messages that cannot be used",
        }),
      );
    },
  );
});
