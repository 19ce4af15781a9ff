import { describe, expect, it } from "vitest";

import { McpError } from "../../errors/mcp-error.ts";
import { TransportMessage } from "./transport-message.ts";

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe("TransportMessage", () => {
  it("MSG-01, MSG-04: a message has jsonrpc 2.0 and only the fields it was given", () => {
    const message = TransportMessage.notification("notifications/initialized");
    expect(message.jsonrpc).toBe("2.0");
    expect(message.id).toBeUndefined();
    expect(Object.keys(message)).toEqual(["jsonrpc", "method"]);
    expect(message.toJson()).toBe('{"jsonrpc":"2.0","method":"notifications/initialized"}');
  });

  it("MSG-02: a response is known by the presence of result or error, null included", () => {
    expect(TransportMessage.response("1", { tools: [] }).isResponse).toBe(true);
    expect(TransportMessage.errorResponse("1", -32_601, "no").isResponse).toBe(true);
    const empty = TransportMessage.fromJson('{"jsonrpc":"2.0","result":null,"id":"1"}');
    expect(empty.isResponse).toBe(true);
    expect(empty.result).toBeNull();
    expect(TransportMessage.response(1, undefined).toJson()).toBe(
      '{"jsonrpc":"2.0","result":null,"id":1}',
    );
  });

  it.each(["0", '""', '"a"', "7"])("MSG-03: a method with id %s is a request", (id) => {
    const message = TransportMessage.fromJson(`{"jsonrpc":"2.0","method":"ping","id":${id}}`);
    expect(message.isRequest).toBe(true);
    expect(message.isResponse).toBe(false);
  });

  it("MSG-03: a notification is neither request nor response", () => {
    const message = TransportMessage.fromJson('{"jsonrpc":"2.0","method":"notifications/message"}');
    expect([message.isRequest, message.isResponse]).toEqual([false, false]);
  });

  it.each([
    "{",
    "",
    "[]",
    "null",
    '{"method":"x"}',
    '{"jsonrpc":"1.0","method":"x"}',
    '{"jsonrpc":"2.0","method":7}',
    '{"jsonrpc":"2.0","error":"no","id":1}',
    '{"jsonrpc":"2.0","method":"x","id":{}}',
  ])("MSG-05: %s is refused with a typed error", (raw) => {
    expect(() => TransportMessage.fromJson(raw)).toThrow(McpError);
    try {
      TransportMessage.fromJson(raw);
    } catch (error) {
      expect(McpError.is(error, "protocol_violation")).toBe(true);
    }
  });

  it("MSG-05: unknown members do no harm, and null stands for absent", () => {
    const raw = '{"jsonrpc":"2.0","method":null,"result":{},"error":null,"id":"1","x":[1]}';
    const message = TransportMessage.fromJson(raw);
    expect(message.toJson()).toBe('{"jsonrpc":"2.0","result":{},"id":"1"}');
  });

  it("MSG-06, C-12: a request gets a unique UUID and writes empty params", () => {
    const first = TransportMessage.request("tools/list");
    const second = TransportMessage.request("tools/list");
    expect(first.id).toMatch(uuid);
    expect(second.id).not.toBe(first.id);
    expect(first.toJson()).toBe(
      `{"jsonrpc":"2.0","method":"tools/list","params":{},"id":"${first.id}"}`,
    );
    expect(TransportMessage.notification("x", {}).toJson()).not.toContain("params");
  });

  it("MSG-07, MSG-08: responses carry the id of the request, as string or number", () => {
    expect(TransportMessage.response("abc", { ok: true })).toMatchObject({
      id: "abc",
      result: { ok: true },
    });
    expect(TransportMessage.errorResponse(0, -32_602, "bad")).toMatchObject({
      id: 0,
      error: { code: -32_602, message: "bad" },
    });
  });

  it("MSG-09: the example of the reference parses", () => {
    const raw = '{"jsonrpc":"2.0","result":{"ok":true},"id":"1"}';
    expect(TransportMessage.fromJson(raw).result).toEqual({ ok: true });
  });

  it("MSG-10: data of an error survives both directions", () => {
    const written = TransportMessage.errorResponse(1, -32_000, "busy", { retryAfter: 3 });
    const read = TransportMessage.fromJson(written.toJson());
    expect(read.error).toEqual({ code: -32_000, message: "busy", data: { retryAfter: 3 } });
    expect(TransportMessage.notification("x", { a: 1 }).params).toEqual({ a: 1 });
  });

  it("MSG-12: line breaks inside values never break the line", () => {
    const message = TransportMessage.request("x", { text: "a\nb\r\nc\u2028d" });
    expect(message.toJson()).not.toMatch(/[\r\n]/);
    expect(TransportMessage.fromJson(message.toJson()).params).toEqual({
      text: "a\nb\r\nc\u2028d",
    });
  });

  it("PRO-24: a __proto__ member is data and changes no prototype", () => {
    const raw =
      '{"jsonrpc":"2.0","result":{"__proto__":{"polluted":1}},"__proto__":{"method":"x"}}';
    const message = TransportMessage.fromJson(raw);
    expect(message.method).toBeUndefined();
    expect(message.isRequest).toBe(false);
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
    expect(message.toJson()).toContain('{"__proto__":{"polluted":1}}');
  });
});
