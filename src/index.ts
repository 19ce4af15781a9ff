// The main entry: what a program with agents needs. A name added here is a promise. Named exports only.

export { createHost } from "./host/create-host.ts";
export type {
  ConnectElsewhereOptions,
  ConnectOptions,
  DisconnectOptions,
  HostOptions,
  LoginOptions,
  LogoutResult,
  McpHost,
  NamedEntry,
  ServerInput,
  ServerStatus,
  SessionOptions,
  StartOptions,
} from "./host/host.ts";
export type { StartPhase } from "./connection/start-phases.ts";
export type { PresentPage, SignInPage } from "./auth/browser/browser-sign-in.ts";
export type { SignInStatus } from "./auth/server-sign-in.ts";
export type { KeptSecrets, KeyHolder, SecretProvider } from "./host/host-secrets.ts";
export type { KeptLogs } from "./host/logs/kept-logs.ts";
export type { LogEntry } from "./host/logs/log-entry.ts";
export type {
  ContractOptions,
  ContractReport,
  RuleResult,
  RuleVerdict,
} from "./host/contract-report.ts";
export type { DoctorOptions, DoctorReport, DoctorVerdict, Finding } from "./host/doctor-report.ts";

export type {
  CallEnvelope,
  ChildOptions,
  LoadToolsOptions,
  ReadyOptions,
  ServerReadiness,
  Session,
} from "./session/session.ts";
export type { McpTool } from "./session/mcp-tool.ts";
export { McpConnectionPool } from "./session/native/connection-pool.ts";
export type { ConnectedServer } from "./session/native/connection-pool.ts";
export type { NativeTool } from "./session/native/native-definition.ts";
export type { SessionState } from "./session/state/session-state.ts";
export { defineSlice } from "./session/state/state-view.ts";
export type { StateSlice, StateView } from "./session/state/state-view.ts";
export type { ContextResources, ToolContext } from "./session/native/tool-context.ts";
export type {
  Transaction,
  TransactionCallOptions,
  TransactionResult,
} from "./session/native/transaction.ts";
export type { CallStreamItem } from "./session/stream-call.ts";
export { createToolClient } from "./session/tool-client.ts";
export type { ToolClient, ToolTypes, TypedOutcome } from "./session/tool-client.ts";
export type { CallOptions, ToolArguments } from "./call/call-contract.ts";
export { errorOfOutcome } from "./call/outcome.ts";
export type { FailedOutcome, Outcome, OutcomeError, SuccessfulOutcome } from "./call/outcome.ts";
export { modelText } from "./call/model-text.ts";

export type { ContentBlock, Progress } from "./protocol/protocol-client.ts";

export type { Naming } from "./catalog/tool-names.ts";
export type { ToolOrigin, ToolReference } from "./catalog/tool-origin.ts";
export { toProviderSchema } from "./catalog/provider-schema.ts";

export type { McpServerConfig, ServerEntry } from "./config/keys/config-keys.ts";
export type { Limits } from "./config/keys/limits.ts";

export type { ErrorCode, ErrorFamily } from "./errors/error-codes.ts";
export {
  McpAuthError,
  McpCancelledError,
  McpConfigError,
  McpConnectionError,
  McpPermissionError,
  McpSchemaError,
  McpStateError,
  McpTimeoutError,
  McpToolError,
  McpTransportError,
} from "./errors/families.ts";
export { McpError } from "./errors/mcp-error.ts";
export type { McpErrorJson, RpcError } from "./errors/mcp-error.ts";

export type { Root, Roots } from "./requests/roots.ts";
export type {
  SamplingContent,
  SamplingHandler,
  SamplingMessage,
  SamplingRequest,
  SamplingResult,
} from "./requests/sampling.ts";

export type { Unsubscribe } from "./events/event-bus.ts";
export type {
  HostEvent,
  HostEventOf,
  HostEventType,
  ServerState,
  ToolInvoked,
} from "./events/host-event.ts";
export { CapabilitySet } from "./policy/capability-set.ts";
export type { ConsentMode } from "./policy/decide-consent.ts";
export type { PermissionLevel } from "./policy/permission-level.ts";
export type { Audit, AuditFilter, AuditQuery, AuditRow } from "./store/audit/audit-entry.ts";
export type {
  AskOptions,
  ConfirmAnswer,
  ConfirmQuestion,
  ElicitAnswer,
  ElicitQuestion,
  Human,
} from "./human/human.ts";
export type { Logger } from "./ports/logger.ts";
