import { createError } from "../../errors/families.ts";
import type { McpError } from "../../errors/mcp-error.ts";

/** Why a secret cannot be had, for programs. */
export type SecretProblem =
  /** A variable is not set, a file or an entry of the keychain is not there. */
  | "key-missing"
  /** There is a key, but the secrets are sealed under another. */
  | "key-wrong"
  /** Others could read or replace the key, or it has no form that a key can have. */
  | "key-unsafe"
  /** The keychain does not answer, is locked, or refuses. */
  | "keychain"
  /** A row was changed, or put in the place of another. */
  | "damaged"
  /** Another version of the program wrote it. */
  | "version"
  /** The vault changed again and again while it was being used. */
  | "busy";

export interface SecretErrorOptions {
  readonly hint?: string | undefined;
  readonly details?: Readonly<Record<string, unknown>> | undefined;
  readonly cause?: unknown;
}

/** Makes the one error of the vault. Neither message nor details ever hold a part of a key or of a secret. */
export function secretError(
  problem: SecretProblem,
  message: string,
  { hint, details, cause }: SecretErrorOptions = {},
): McpError {
  return createError("secret_unavailable", message, {
    hint,
    retryable: problem === "busy" || problem === "keychain",
    details: { ...details, problem },
    cause,
  });
}
