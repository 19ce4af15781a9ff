import { describe, expect, it } from "vitest";

import { createError } from "../errors/families.ts";
import { failureOf, transportFailure } from "./transport-failure.ts";

describe("transportFailure", () => {
  it("ERR-16: the answer it makes leads back to the very error", () => {
    const failure = createError("connection_lost", "the stream ended");
    const message = transportFailure(7, failure);
    expect(message).toEqual({
      jsonrpc: "2.0",
      id: 7,
      error: { code: -32_603, message: "the stream ended", data: { plugboard: "connection_lost" } },
    });
    expect(failureOf(message)).toBe(failure);
  });

  it("ERR-16: a server cannot forge one", () => {
    const message = transportFailure("a", createError("connection_lost", "x"));
    expect(failureOf(JSON.parse(JSON.stringify(message)))).toBeUndefined();
    expect(failureOf(undefined)).toBeUndefined();
    expect(failureOf("text")).toBeUndefined();
  });
});
