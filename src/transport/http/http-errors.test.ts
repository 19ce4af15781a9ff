import { describe, expect, it } from "vitest";

import { createError } from "../../errors/families.ts";
import type { McpError } from "../../errors/mcp-error.ts";
import { type HttpPeer, networkError } from "./http-errors.ts";
import { contentError, statusError } from "./http-status.ts";

const peer: HttpPeer = {
  kind: "streamable-http",
  serverName: "api",
  url: new URL("https://api.example.com/mcp"),
  secrets: [],
};

function failure(code: string): Error {
  return Object.assign(new Error("fetch failed"), { code });
}

function refuse(status: number, text: string, headers = {}): McpError {
  return statusError(peer, { head: { status, headers }, text, hadSession: false, now: 0 });
}

describe("networkError", () => {
  it.each([
    ["ECONNREFUSED", "connection refused at api.example.com:443 (nothing is listening)"],
    ["ENOTFOUND", "there is no host named api.example.com"],
    ["EAI_AGAIN", "the name api.example.com could not be looked up (DNS does not answer)"],
    ["UND_ERR_CONNECT_TIMEOUT", "no connection to api.example.com:443 (it does not answer)"],
    ["EHOSTUNREACH", "there is no route to api.example.com:443"],
    ["CERT_HAS_EXPIRED", "the certificate of api.example.com:443 has expired"],
    ["DEPTH_ZERO_SELF_SIGNED_CERT", "the certificate of api.example.com:443 is self-signed"],
    ["ERR_TLS_CERT_ALTNAME_INVALID", "the certificate of api.example.com:443 is for another host"],
    ["ECONNRESET", "api.example.com:443 closed the connection at once"],
    ["EWEIRD", "no connection to api.example.com:443 (EWEIRD)"],
  ])("ERR-02, ERR-17: before the request left, %s is unreachable", (code, message) => {
    const cause = failure(code);
    const error = networkError(peer, cause, false);
    expect(error).toMatchObject({ code: "unreachable", message, serverName: "api", cause });
    expect(error.details).toEqual({ transport: "streamable-http", errorCode: code });
  });

  it.each(["ECONNRESET", "EPIPE", "UND_ERR_SOCKET", "UND_ERR_RES_CONTENT_LENGTH_MISMATCH"])(
    "ERR-15: once the request may have left, %s means that the outcome is unknown",
    (code) => {
      expect(networkError(peer, failure(code), true)).toMatchObject({ code: "connection_lost" });
    },
  );

  it("ERR-02: a host with several addresses is told by what they have in common", () => {
    const error = networkError(peer, new AggregateError([failure("ECONNREFUSED")]), false);
    expect(error.message).toContain("connection refused");
  });

  it("ERR-16: an error of ours passes as it is", () => {
    const blocked = createError("blocked_address", "no");
    expect(networkError(peer, blocked, false)).toBe(blocked);
  });

  it.each([undefined, null, "text", new Error("no code")])(
    "ERR-01: whatever is thrown becomes a typed error (%j)",
    (thrown) => {
      expect(networkError(peer, thrown, false)).toMatchObject({
        code: "unreachable",
        message: "no connection to api.example.com:443",
      });
    },
  );
});

describe("statusError", () => {
  it.each([
    ["<html><head><title> 502  Bad Gateway </title>", "502  Bad Gateway"],
    ["<html><style>b{}</style><body><h1>Down</h1><p>for a while</p>", "Down for a while"],
    ["plain words", "plain words"],
    ['{"error":{"code":1,"message":"from JSON-RPC"}}', "from JSON-RPC"],
    ['{"broken', '{"broken'],
  ])("F5: the body %j is told as %j", (text, excerpt) => {
    expect(refuse(502, text).message).toBe(`api.example.com:443 answered HTTP 502: ${excerpt}`);
  });

  it("F5: an empty body adds nothing", () => {
    expect(refuse(500, "").message).toBe("api.example.com:443 answered HTTP 500");
  });

  it.each(["<".repeat(60_000), `<title${" ".repeat(60_000)}`, "<script".repeat(8_000)])(
    "F5: a page made to be slow to read is not",
    (text) => {
      expect(refuse(500, text).code).toBe("http_error");
    },
  );

  it.each([
    ["https://other.example/login?next=secret", "https://other.example"],
    ["/login?next=secret", "https://api.example.com"],
    ["javascript:alert(1)", undefined],
    ["http://[", undefined],
  ])("F6: a redirect to %j names %j", (location, redirectOrigin) => {
    const error = refuse(307, "", { location });
    expect(error.details["redirectOrigin"]).toBe(redirectOrigin);
    expect(JSON.stringify(error)).not.toContain("secret");
  });

  it.each([
    [
      "nothing was shown",
      undefined,
      {
        code: "auth_required",
        message: "sign-in needed (HTTP 401)",
        hint: 'give its entry a token: "auth": { "type": "bearer", "token": "${API_TOKEN}" }',
      },
    ],
    [
      "a token was refused",
      "authorization",
      {
        code: "auth_failed",
        message: "the token of the entry was refused (HTTP 401, invalid_token)",
        hint: 'put one that is valid into its entry: "auth": { "type": "bearer", "token": "${API_TOKEN}" }',
      },
    ],
    [
      "a header was refused",
      "X-Api-Key",
      {
        code: "auth_failed",
        message: 'the header "X-Api-Key" was refused (HTTP 401, invalid_token)',
        hint: 'put one that is valid into its entry: "headers": { "X-Api-Key": "${API_TOKEN}" }',
      },
    ],
  ])("AUT-01: 401 when %s has its own text and an entry to copy", (_, credential, expected) => {
    const headers = { "www-authenticate": 'Bearer error="invalid_token"' };
    const response = { head: { status: 401, headers }, text: "", hadSession: false, now: 0 };
    expect(statusError({ ...peer, credential }, response)).toMatchObject(expected);
  });

  it("F1: 429 tells how long the server asks to wait", () => {
    expect(refuse(429, "slow down", { "retry-after": "30" })).toMatchObject({
      message: "api.example.com:443 answered HTTP 429 (Retry-After: 30 s): slow down",
      hint: "wait 30 s: there were too many requests",
      details: { retryAfterMs: 30_000 },
    });
    expect(refuse(429, "").hint).toBe("wait a while: there were too many requests");
    // What is waited for is bounded, what the server asks for is told.
    expect(refuse(429, "", { "retry-after": "900" })).toMatchObject({
      message: "api.example.com:443 answered HTTP 429 (Retry-After: 900 s)",
      details: { retryAfterMs: 300_000 },
    });
  });

  it.each([
    [500, "the server itself failed: look at its log, or ask who runs it"],
    [502, "what is behind this address is down or overloaded: try again later, or ask who runs it"],
    [503, "what is behind this address is down or overloaded: try again later, or ask who runs it"],
    [404, 'check the path of "url"'],
    [418, undefined],
  ])("ERR-17: HTTP %d comes with a next step", (status, hint) => {
    expect(refuse(status, "").hint).toBe(hint);
  });

  it("AUT-01: a challenge that is no challenge does no harm", () => {
    const error = refuse(401, "", { "www-authenticate": ['\u001B[2J="', "second"] });
    expect(error.details["wwwAuthenticate"]).toEqual({ scheme: '="' });
  });
});

describe("contentError", () => {
  it("F5: names the type that came instead", () => {
    const head = { status: 200, headers: { "content-type": "text/html" } };
    expect(contentError(peer, head, "<title>Hello</title>").message).toBe(
      "api.example.com:443 answered with text/html instead of an MCP message: Hello",
    );
    expect(contentError(peer, { status: 200, headers: {} }, "x").message).toBe(
      "api.example.com:443 answered with a body without a content type instead of an MCP message: x",
    );
  });
});
