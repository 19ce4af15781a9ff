import { checkArguments, type Shape } from "../errors/check-arguments.ts";
import type { ErrorCode } from "../errors/error-codes.ts";
import { createError } from "../errors/families.ts";
import type { McpError, RpcError } from "../errors/mcp-error.ts";
import type { ContentBlock } from "../protocol/protocol-client.ts";

interface OutcomeFields {
  /** What a model or a person reads: text parts joined, placeholders for the rest, cut at the cap. */
  readonly text: string;
  /** Every block the server sent, untouched. */
  readonly content: readonly ContentBlock[];
  readonly structured: unknown;
  readonly meta: Readonly<Record<string, unknown>> | undefined;
  readonly durationMs: number;
  readonly callId: string;
  /** The tool's own name on its server; undefined when the called name belongs to no tool. */
  readonly toolName: string | undefined;
  /** The tool's name in the session; where no tool was found, the name that was called. */
  readonly publicName: string;
  readonly serverName: string | undefined;
  /** `text` was longer than the limit and has been cut; `content` is whole. */
  readonly truncated: boolean;
  /** `none` only when nothing was sent, or the server calls the tool read-only. */
  readonly sideEffects: "none" | "possible";
  /** The session's state is as if the call had not been made. Effects outside of it remain: see `sideEffects`. */
  readonly rolledBack?: true;
}

export interface OutcomeError {
  readonly code: ErrorCode;
  readonly message: string;
  /** The server's JSON-RPC error, when that is what failed the call. */
  readonly rpc?: RpcError;
  readonly retryable: boolean;
  readonly hint?: string;
  readonly details: Readonly<Record<string, unknown>>;
}

export interface SuccessfulOutcome extends OutcomeFields {
  readonly ok: true;
}

export interface FailedOutcome extends OutcomeFields {
  readonly ok: false;
  readonly error: OutcomeError;
}

/** All that can become of a call. A call always ends in exactly one of these; it never throws. */
export type Outcome = SuccessfulOutcome | FailedOutcome;

export function outcomeError(error: McpError): OutcomeError {
  const rpc = error.details["rpc"] as RpcError | undefined;
  return {
    code: error.code,
    message: error.message,
    ...(rpc === undefined ? {} : { rpc }),
    retryable: error.retryable,
    ...(error.hint === undefined ? {} : { hint: error.hint }),
    details: error.details,
  };
}

/** The failed outcome as an instance of its error class, for callers that prefer exceptions. */
export function errorOfOutcome(outcome: FailedOutcome): McpError {
  checkArguments("errorOfOutcome", { outcome: failedShape }, [outcome]);
  const { code, message, retryable, hint, details } = outcome.error;
  return createError(code, message, { serverName: outcome.serverName, retryable, hint, details });
}

const outcomeShape: Shape = { words: "the outcome of a call", accepts: isOutcome };
const failedShape: Shape = {
  words: "the outcome of a call that failed",
  accepts: (value) => isOutcome(value) && !value.ok,
};

/** Throws `invalid_arguments` for what no call can have given. */
export function checkOutcome(where: string, outcome: Outcome): void {
  // Every call comes through here: nothing is built for a good one.
  if (!isOutcome(outcome)) checkArguments(where, { outcome: outcomeShape }, [outcome]);
}

function isOutcome(value: unknown): value is Outcome {
  if (typeof value !== "object" || value === null) return false;
  const { ok, text, error, content } = value as Partial<Omit<FailedOutcome, "ok">> & {
    readonly ok?: unknown;
  };
  if (!Array.isArray(content)) return false;
  return ok === true
    ? typeof text === "string"
    : ok === false && typeof error?.message === "string";
}
