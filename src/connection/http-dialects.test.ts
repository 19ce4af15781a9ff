import { describe, expect, it } from "vitest";

import type { HttpTransportConfig } from "../config/keys/server-config.ts";
import { createError } from "../errors/families.ts";
import { DialectMemory, isOtherDialect, noDialectError } from "./http-dialects.ts";

function at(url: string): HttpTransportConfig {
  return { kind: "http", url, headers: {}, method: "POST", allowPrivateNetwork: false };
}

describe("DialectMemory", () => {
  it("C-06: tries streamable HTTP, SSE and REST in this order", () => {
    expect(new DialectMemory().order(at("http://a"))).toEqual(["streamable-http", "sse", "rest"]);
  });

  it("C-06: begins with what the same address spoke before", () => {
    const memory = new DialectMemory();
    memory.remember(at("http://a"), "rest");
    expect(memory.order(at("http://a"))).toEqual(["rest", "streamable-http", "sse"]);
    expect(memory.order(at("http://b"))).toEqual(["streamable-http", "sse", "rest"]);
  });

  it("C-39: leaves out REST, which has no stream of the server's own, when one is required", () => {
    const memory = new DialectMemory();
    memory.remember(at("http://a"), "rest");
    expect(memory.order({ ...at("http://a"), method: "GET" })).toEqual(["streamable-http", "sse"]);
  });

  it("stays bounded", () => {
    const memory = new DialectMemory();
    for (let index = 0; index < 1_001; index += 1) memory.remember(at(`http://a/${index}`), "sse");
    expect(memory.order(at("http://a/0"))).toEqual(["streamable-http", "sse", "rest"]);
    expect(memory.order(at("http://a/1000"))[0]).toBe("sse");
  });
});

describe("isOtherDialect", () => {
  it.each([400, 404, 405, 406, 415, 501, 200, 307])(
    "C-06: HTTP %i may be another dialect",
    (status) => {
      expect(isOtherDialect(createError("http_error", "x", { details: { status } }))).toBe(true);
    },
  );

  it.each([500, 502, 503, 504])("HTTP %i is trouble of the server", (status) => {
    const error = createError("http_error", "x", { details: { status } });
    expect(isOtherDialect(error)).toBe(false);
  });

  it.each(["auth_required", "unreachable", "blocked_address", "timeout", "cancelled"] as const)(
    "%s says nothing about the dialect",
    (code) => {
      expect(isOtherDialect(createError(code, "x"))).toBe(false);
    },
  );

  it("CON-05: a handshake that is refused in the words of the dialect is no other dialect", () => {
    const details = { rpc: { code: -32_602, message: "bad client" } };
    expect(isOtherDialect(createError("protocol_violation", "x", { details }))).toBe(false);
    expect(isOtherDialect(createError("protocol_violation", "x"))).toBe(true);
  });

  it("an address that asks to wait is not asked in another way", () => {
    const options = { retryable: true, details: { status: 429 } };
    expect(isOtherDialect(createError("http_error", "x", options))).toBe(false);
  });
});

describe("noDialectError", () => {
  it("C-06: lists each probe with its outcome", () => {
    const error = noDialectError("tools", at("http://a"), [
      { dialect: "streamable-http", error: createError("http_error", "HTTP 404") },
      { dialect: "sse", error: createError("http_error", "HTTP 405") },
    ]);
    expect(error).toMatchObject({
      code: "http_error",
      serverName: "tools",
      message:
        "the address speaks no known kind of MCP:\n  streamable-http: HTTP 404\n  sse: HTTP 405",
      details: {
        probes: [
          { transport: "streamable-http", code: "http_error", message: "HTTP 404" },
          { transport: "sse", code: "http_error", message: "HTTP 405" },
        ],
      },
    });
  });
});
