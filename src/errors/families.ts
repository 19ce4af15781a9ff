import { type CodeOf, type ErrorCode, type ErrorFamily, errorTable } from "./error-codes.ts";
import { McpError, type McpErrorOptions, type RpcError } from "./mcp-error.ts";

/** The file, entry or variable that configures a server is wrong. */
export class McpConfigError extends McpError {
  override readonly name = "McpConfigError";
  declare readonly code: CodeOf<"config">;
}

/** A server could not be started, or its connection ended. */
export class McpConnectionError extends McpError {
  override readonly name = "McpConnectionError";
  declare readonly code: CodeOf<"connection">;

  /** The kind of transport that failed (`stdio`, `streamable-http`, …), when it is known. */
  get transport(): string | undefined {
    return this.details["transport"] as string | undefined;
  }
}

/** Bytes could not be exchanged the way the host allows. */
export class McpTransportError extends McpError {
  override readonly name = "McpTransportError";
  declare readonly code: CodeOf<"transport">;
}

export class McpAuthError extends McpError {
  override readonly name = "McpAuthError";
  declare readonly code: CodeOf<"auth">;
}

export class McpTimeoutError extends McpError {
  override readonly name = "McpTimeoutError";
  declare readonly code: CodeOf<"timeout">;

  get timeoutMs(): number | undefined {
    return this.details["timeoutMs"] as number | undefined;
  }
}

/** A tool does not exist, or the server answered its call with an error. */
export class McpToolError extends McpError {
  override readonly name = "McpToolError";
  declare readonly code: CodeOf<"tool">;

  get toolName(): string | undefined {
    return this.details["toolName"] as string | undefined;
  }

  get rpcError(): RpcError | null {
    return (this.details["rpc"] as RpcError | undefined) ?? null;
  }
}

/** Arguments, a result or a schema itself are not what the schema or the guard allows. */
export class McpSchemaError extends McpError {
  override readonly name = "McpSchemaError";
  declare readonly code: CodeOf<"schema">;

  get toolName(): string | undefined {
    return this.details["toolName"] as string | undefined;
  }

  get reason(): string {
    return (this.details["reason"] as string | undefined) ?? this.message;
  }
}

export class McpPermissionError extends McpError {
  override readonly name = "McpPermissionError";
  declare readonly code: CodeOf<"permission">;
}

/** The operation does not fit the present state of host, session or connection. */
export class McpStateError extends McpError {
  override readonly name = "McpStateError";
  declare readonly code: CodeOf<"state">;
}

export class McpCancelledError extends McpError {
  override readonly name = "McpCancelledError";
  declare readonly code: CodeOf<"cancelled">;
}

type McpErrorClass = new (code: ErrorCode, message: string, options?: McpErrorOptions) => McpError;

const classes: Record<ErrorFamily, McpErrorClass> = {
  config: McpConfigError,
  connection: McpConnectionError,
  transport: McpTransportError,
  auth: McpAuthError,
  timeout: McpTimeoutError,
  tool: McpToolError,
  schema: McpSchemaError,
  permission: McpPermissionError,
  state: McpStateError,
  cancelled: McpCancelledError,
};

/** The error for `code`, as an instance of the class of its family. */
export function createError(code: ErrorCode, message: string, options?: McpErrorOptions): McpError {
  return new classes[errorTable[code].family](code, message, options);
}
