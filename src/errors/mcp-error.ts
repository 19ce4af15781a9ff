import { type ErrorCode, errorTable } from "./error-codes.ts";

const brand = Symbol.for("plugboard.McpError");

/** A JSON-RPC error object as the server sent it. */
export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

export interface McpErrorOptions {
  readonly serverName?: string | undefined;
  /** Facts for programs: never a secret, never an argument's value. */
  readonly details?: Readonly<Record<string, unknown>> | undefined;
  /** What to do next, as one sentence or a command. */
  readonly hint?: string | undefined;
  /** Whether the same operation may succeed later without a change; the default follows the code. */
  readonly retryable?: boolean | undefined;
  readonly cause?: unknown;
}

const retryableCodes: ReadonlySet<ErrorCode> = new Set([
  "unreachable",
  "connection_lost",
  "start_timeout",
  "timeout",
]);

/**
 * The one error class that leaves Plugboard; anything else that escapes is a bug. Match on `code`:
 * it is stable, and `McpError.is` also recognises errors of a second copy of the package.
 */
export class McpError extends Error {
  override readonly name: string = "McpError";
  readonly code: ErrorCode;
  readonly serverName: string | undefined;
  readonly details: Readonly<Record<string, unknown>>;
  readonly hint: string | undefined;
  readonly retryable: boolean;

  constructor(code: ErrorCode, message: string, options: McpErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.serverName = options.serverName;
    this.details = options.details ?? {};
    this.hint = options.hint;
    this.retryable = options.retryable ?? retryableCodes.has(code);
    Object.defineProperty(this, brand, { value: true });
  }

  static is(value: unknown, code?: ErrorCode): value is McpError {
    if (typeof value !== "object" || value === null || !(brand in value)) return false;
    return code === undefined || (value as unknown as McpError).code === code;
  }

  /** The exit code of a command that ends with this error. */
  get exitCode(): number {
    return errorTable[this.code].exit;
  }

  /** Plain data for logs and other processes: no stack, no cause. */
  toJSON(): McpErrorJson {
    return {
      name: this.name,
      code: this.code,
      message: this.message,
      ...(this.serverName === undefined ? {} : { serverName: this.serverName }),
      ...(Object.keys(this.details).length === 0 ? {} : { details: this.details }),
      ...(this.hint === undefined ? {} : { hint: this.hint }),
      retryable: this.retryable,
    };
  }
}

export interface McpErrorJson {
  readonly name: string;
  readonly code: ErrorCode;
  readonly message: string;
  readonly serverName?: string;
  readonly details?: Readonly<Record<string, unknown>>;
  readonly hint?: string;
  readonly retryable: boolean;
}
