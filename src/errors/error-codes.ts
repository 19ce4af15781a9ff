/** Every way an operation of Plugboard can fail, with the family it belongs to and the exit code of the command line. */
export const errorTable = {
  config_invalid: { family: "config", exit: 2 },
  server_unknown: { family: "config", exit: 2 },
  server_disabled: { family: "config", exit: 2 },
  variable_unset: { family: "config", exit: 2 },

  command_not_found: { family: "connection", exit: 4 },
  start_exit: { family: "connection", exit: 4 },
  unreachable: { family: "connection", exit: 4 },
  connection_lost: { family: "connection", exit: 4 },
  protocol_violation: { family: "connection", exit: 4 },
  sandbox_unavailable: { family: "connection", exit: 4 },

  blocked_address: { family: "transport", exit: 4 },
  http_error: { family: "transport", exit: 4 },
  too_large: { family: "transport", exit: 4 },

  auth_required: { family: "auth", exit: 3 },
  auth_failed: { family: "auth", exit: 3 },
  auth_redirect_mismatch: { family: "auth", exit: 3 },
  auth_client_rejected: { family: "auth", exit: 3 },
  auth_endpoint_unreachable: { family: "auth", exit: 3 },
  auth_scope_missing: { family: "auth", exit: 3 },
  auth_denied: { family: "auth", exit: 3 },

  start_timeout: { family: "timeout", exit: 7 },
  timeout: { family: "timeout", exit: 7 },

  tool_unknown: { family: "tool", exit: 5 },
  tool_error: { family: "tool", exit: 5 },
  rpc_error: { family: "tool", exit: 5 },

  invalid_arguments: { family: "schema", exit: 2 },
  invalid_result: { family: "schema", exit: 5 },
  schema_refused: { family: "schema", exit: 5 },

  denied: { family: "permission", exit: 6 },
  not_approved: { family: "permission", exit: 6 },
  consent_denied: { family: "permission", exit: 6 },
  definition_changed: { family: "permission", exit: 6 },

  not_connected: { family: "state", exit: 1 },
  closed: { family: "state", exit: 1 },
  store_failed: { family: "state", exit: 1 },
  secret_unavailable: { family: "state", exit: 1 },

  cancelled: { family: "cancelled", exit: 130 },
} as const satisfies Record<string, { readonly family: string; readonly exit: number }>;

export type ErrorCode = keyof typeof errorTable;
export type ErrorFamily = (typeof errorTable)[ErrorCode]["family"];

/** Codes of one family, so that a subclass only accepts its own. */
export type CodeOf<F extends ErrorFamily> = {
  [C in ErrorCode]: (typeof errorTable)[C]["family"] extends F ? C : never;
}[ErrorCode];

export function isErrorCode(value: unknown): value is ErrorCode {
  return typeof value === "string" && Object.hasOwn(errorTable, value);
}
