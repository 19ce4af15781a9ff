import { assert, constantFrom, property, string } from "fast-check";
import { describe, expect, it } from "vitest";

import { encodeHeaderValue } from "../../protocol/wire/header-value.ts";
import { HttpHeaders, parseConfiguredHeaders } from "./http-headers.ts";

function asRecord(fields: readonly string[]): Record<string, string> {
  const record: Record<string, string> = {};
  for (let index = 0; index < fields.length; index += 2)
    record[fields[index] ?? ""] = fields[index + 1] ?? "";
  return record;
}

const awkward = [
  "\t",
  "\r",
  "\n",
  "\0",
  "é",
  "\u00FF",
  "\u2028",
  "😀",
  "\uD800",
  "=?base64?",
  "?=",
];
const unit = constantFrom("a", "Z", "0", " ", "=", "?", "/", "+", ...awkward);

describe("encodeHeaderValue", () => {
  it.each([
    ["plain", "get_weather", "get_weather"],
    ["inner spaces and tabs", "a b\tc", "a b\tc"],
    ["a URI", "file:///a%20b?x=1", "file:///a%20b?x=1"],
    ["empty", "", "=?base64??="],
    ["leading space", " a", "=?base64?IGE=?="],
    ["trailing space", "a ", "=?base64?YSA=?="],
    ["line break", "a\r\nx-evil: 1", "=?base64?YQ0KeC1ldmlsOiAx?="],
    ["latin-1", "café", "=?base64?Y2Fmw6k=?="],
    ["looks encoded", "=?base64?YQ==?=", "=?base64?PT9iYXNlNjQ/WVE9PT89?="],
  ])("D6: %s", (_what, value, expected) => {
    expect(encodeHeaderValue(value)).toBe(expected);
  });

  it("D6: any text becomes visible ASCII, and two texts never become the same", () => {
    assert(
      property(string({ unit }), (value) => {
        const encoded = encodeHeaderValue(value);
        expect(encoded).toMatch(/^[\t\u0020-\u007E]+$/);
        const payload = /^=\?base64\?(.*)\?=$/.exec(encoded)?.[1];
        const decoded =
          payload === undefined ? encoded : Buffer.from(payload, "base64").toString("utf8");
        expect(decoded).toBe(Buffer.from(value).toString());
      }),
    );
  });
});

describe("parseConfiguredHeaders", () => {
  it("SHT-02: names are compared without case, the later spelling wins", () => {
    const { fields } = parseConfiguredHeaders({ Authorization: "a", authorization: "b" }, "api");
    expect(asRecord(fields)).toEqual({ "user-agent": "plugboard", authorization: "b" });
  });

  it("SHT-02: what names the connection or the message is left out and listed", () => {
    const names = ["Connection", "content-length", "HOST", "Mcp-Param-X", "te", "Last-Event-ID"];
    const headers = Object.fromEntries(names.map((name) => [name, "x"]));
    const { fields, ignored } = parseConfiguredHeaders(headers, "api");
    expect(ignored).toEqual(names);
    expect(asRecord(fields)).toEqual({ "user-agent": "plugboard" });
  });

  it.each([
    ["a b", "x"],
    ["", "x"],
    ["x", "line\nbreak"],
    ["x", "\u0100"],
  ])("SHT-02: %j: %j cannot be sent and is refused", (name, value) => {
    expect(() => parseConfiguredHeaders({ [name]: value }, "api")).toThrow(
      expect.objectContaining({ code: "config_invalid", serverName: "api" }),
    );
  });

  it.each([
    ["Bearer x", "Bearer x"],
    ["Bearer Bearer x", "Bearer x"],
    ["bearer  BEARER x", "Bearer x"],
    ["Basic Bearer x", "Basic Bearer x"],
  ])("AUT-02, B-K4: %j is sent as %j", (value, sent) => {
    const { fields } = parseConfiguredHeaders({ Authorization: value }, "api");
    expect(asRecord(fields)["authorization"]).toBe(sent);
  });
});

describe("HttpHeaders", () => {
  const modern = { _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28" } };

  it("SHT-06, SHT-07: a changed session or version shows in the next message", () => {
    const headers = new HttpHeaders([]);
    const message = { jsonrpc: "2.0", id: 1, method: "ping" } as const;
    expect(asRecord(headers.forMessage(message))).not.toHaveProperty("mcp-session-id");
    headers.sessionId = "s";
    headers.protocolVersion = "2025-11-25";
    expect(asRecord(headers.forMessage(message))).toMatchObject({
      "mcp-session-id": "s",
      "mcp-protocol-version": "2025-11-25",
    });
    headers.sessionId = undefined;
    expect(asRecord(headers.forMessage(message))).not.toHaveProperty("mcp-session-id");
  });

  it.each([
    ["tools/call", { name: "add" }, "add"],
    ["prompts/get", { name: "hi" }, "hi"],
    ["resources/read", { uri: "test://größe" }, "=?base64?dGVzdDovL2dyw7bDn2U=?="],
    ["tasks/get", { taskId: "t1" }, "t1"],
    ["tools/list", { name: "x" }, undefined],
    ["tools/call", { name: 5 }, undefined],
    ["constructor", { name: "x" }, undefined],
  ])("B-P1: a modern %s with %j is named %j", (method, params, name) => {
    const headers = new HttpHeaders([]);
    headers.sessionId = "s";
    headers.protocolVersion = "2025-11-25";
    const message = { jsonrpc: "2.0", id: 1, method, params: { ...params, ...modern } } as const;
    const sent = asRecord(headers.forMessage(message));
    expect(sent["mcp-name"]).toBe(name);
    expect(sent["mcp-method"]).toBe(method);
    expect(sent["mcp-protocol-version"]).toBe("2026-07-28");
    expect(sent).not.toHaveProperty("mcp-session-id");
  });

  it("SHT-08: a stream asks for events only, from after the last one", () => {
    const headers = new HttpHeaders(["x-key", "k"]);
    expect(asRecord(headers.forStream("e1"))).toEqual({
      "x-key": "k",
      accept: "text/event-stream",
      "last-event-id": "e1",
    });
  });
});
