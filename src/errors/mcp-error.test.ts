import { describe, expect, it } from "vitest";

import { type ErrorCode, errorTable, isErrorCode } from "./error-codes.ts";
import {
  createError,
  McpConfigError,
  McpConnectionError,
  McpPermissionError,
  McpSchemaError,
  McpStateError,
  McpTimeoutError,
  McpToolError,
  McpTransportError,
} from "./families.ts";
import { McpError } from "./mcp-error.ts";

describe("McpError", () => {
  it("ERR-16: the table of codes, families and exit codes is closed and stable", () => {
    const table = Object.fromEntries(
      Object.entries(errorTable).map(([code, { family, exit }]) => [code, `${family} ${exit}`]),
    );
    expect(table).toEqual({
      config_invalid: "config 2",
      server_unknown: "config 2",
      server_disabled: "config 2",
      variable_unset: "config 2",
      command_not_found: "connection 4",
      start_exit: "connection 4",
      unreachable: "connection 4",
      connection_lost: "connection 4",
      protocol_violation: "connection 4",
      sandbox_unavailable: "connection 4",
      blocked_address: "transport 4",
      http_error: "transport 4",
      too_large: "transport 4",
      auth_required: "auth 3",
      auth_failed: "auth 3",
      auth_redirect_mismatch: "auth 3",
      auth_client_rejected: "auth 3",
      auth_endpoint_unreachable: "auth 3",
      auth_scope_missing: "auth 3",
      auth_denied: "auth 3",
      start_timeout: "timeout 7",
      timeout: "timeout 7",
      tool_unknown: "tool 5",
      tool_error: "tool 5",
      rpc_error: "tool 5",
      invalid_arguments: "schema 2",
      invalid_result: "schema 5",
      schema_refused: "schema 5",
      denied: "permission 6",
      not_approved: "permission 6",
      consent_denied: "permission 6",
      definition_changed: "permission 6",
      not_connected: "state 1",
      closed: "state 1",
      store_failed: "state 1",
      secret_unavailable: "state 1",
      cancelled: "cancelled 130",
    });
  });

  it.each<[ErrorCode, new (...args: never[]) => McpError]>([
    ["config_invalid", McpConfigError],
    ["start_exit", McpConnectionError],
    ["http_error", McpTransportError],
    ["timeout", McpTimeoutError],
    ["tool_error", McpToolError],
    ["invalid_arguments", McpSchemaError],
    ["denied", McpPermissionError],
    ["not_connected", McpStateError],
  ])(
    "ERR-01 ERR-09 ERR-10 ERR-12 ERR-13: %s is caught as its own class and as McpError",
    (code, Class) => {
      const error = createError(code, "text");
      expect(error).toBeInstanceOf(Class);
      expect(error).toBeInstanceOf(McpError);
      expect(error.name).toBe(Class.name);
      if (Class !== McpConfigError) expect(error).not.toBeInstanceOf(McpConfigError);
    },
  );

  it("ERR-02 ERR-03 ERR-04 ERR-05: each class names what failed", () => {
    const options = { serverName: "github" };
    const connection = createError("unreachable", "x", {
      ...options,
      details: { transport: "stdio" },
    });
    expect(connection).toMatchObject({ serverName: "github", transport: "stdio" });
    const rpc = { code: -32602, message: "bad" };
    const tool = createError("rpc_error", "x", { ...options, details: { toolName: "add", rpc } });
    expect(tool).toMatchObject({ toolName: "add", rpcError: rpc });
    expect(createError("tool_error", "x")).toMatchObject({ rpcError: null });
    const timeout = createError("timeout", "x", { ...options, details: { timeoutMs: 30_000 } });
    expect(timeout).toMatchObject({ serverName: "github", timeoutMs: 30_000 });
    const schema = createError("schema_refused", "x", {
      details: { toolName: "add", reason: "too deep" },
    });
    expect(schema).toMatchObject({ toolName: "add", reason: "too deep" });
  });

  it("ERR-06 ERR-07 ERR-08: message and code are there, and the cause is kept", () => {
    const cause = new Error("ECONNRESET");
    const error = createError("connection_lost", "the connection was lost", { cause });
    expect(error).toMatchObject({
      message: "the connection was lost",
      code: "connection_lost",
      cause,
    });
  });

  it("ERR-16: an error of a second copy of the package is recognised", () => {
    const foreign = new Error("x");
    Object.defineProperty(foreign, Symbol.for("plugboard.McpError"), { value: true });
    Object.assign(foreign, { code: "timeout" });
    expect(McpError.is(foreign)).toBe(true);
    expect(McpError.is(foreign, "timeout")).toBe(true);
    expect(McpError.is(foreign, "denied")).toBe(false);
    expect(McpError.is(new Error("x"))).toBe(false);
    expect(McpError.is("timeout")).toBe(false);
  });

  it("ERR-16: JSON holds no stack and no cause, and says whether a retry may help", () => {
    const error = createError("timeout", "no answer", {
      serverName: "slow",
      hint: "wait longer",
      details: { timeoutMs: 5 },
      cause: new Error("secret"),
    });
    expect(JSON.parse(JSON.stringify(error))).toEqual({
      name: "McpTimeoutError",
      code: "timeout",
      message: "no answer",
      serverName: "slow",
      details: { timeoutMs: 5 },
      hint: "wait longer",
      retryable: true,
    });
    expect(createError("denied", "no").retryable).toBe(false);
  });

  it("a name of a property of every object is not an error code", () => {
    expect(isErrorCode("timeout")).toBe(true);
    expect(isErrorCode("constructor")).toBe(false);
  });
});
