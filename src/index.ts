// The public API: a name added here is a promise. Named exports only.

export { createHost } from "./host/create-host.ts";
export type {
  AddOptions,
  ApproveOptions,
  ConnectOptions,
  DisconnectOptions,
  EntryInput,
  HostOptions,
  ImportOptions,
  ImportResult,
  KeptServer,
  McpHost,
  NamedEntry,
  RequestApprovalOptions,
  ServerInput,
  ServerScope,
  ServerStatus,
  SessionOptions,
  SkippedServer,
  StartOptions,
} from "./host/host.ts";

export type {
  CallEnvelope,
  ChildOptions,
  McpTool,
  ReadyOptions,
  Session,
} from "./session/session.ts";
export { McpConnectionPool } from "./session/connection-pool.ts";
export type { ConnectedServer } from "./session/connection-pool.ts";
export type { NativeTool } from "./session/native-tools.ts";
export type { SessionState } from "./session/session-state.ts";
export { defineSlice } from "./session/state-view.ts";
export type { StateSlice, StateView } from "./session/state-view.ts";
export type { ContextResources, ToolContext } from "./session/tool-context.ts";
export type {
  Transaction,
  TransactionCallOptions,
  TransactionResult,
} from "./session/transaction.ts";
export type {
  ContentListOptions,
  ContentOptions,
  SessionContent,
} from "./session/session-content.ts";
export type { CallStreamItem } from "./session/stream-call.ts";
export { PromptTemplate } from "./session/prompt-template.ts";
export type { PromptRenderOptions, PromptTemplateOptions } from "./session/prompt-template.ts";
export type {
  McpPromptTemplate,
  PromptArguments,
  PromptSectionOptions,
} from "./session/mcp-prompt-template.ts";
export type {
  PromptParams,
  PromptSection,
  RenderOptions,
  Section,
  SectionConnectOptions,
  SectionOptions,
  SectionTextOptions,
} from "./session/section.ts";
export { createToolClient } from "./session/tool-client.ts";
export type { ToolClient, ToolTypes, TypedOutcome } from "./session/tool-client.ts";
export type { CallOptions, ToolArguments } from "./call/call-path.ts";
export { errorOfOutcome } from "./call/outcome.ts";
export type { FailedOutcome, Outcome, OutcomeError, SuccessfulOutcome } from "./call/outcome.ts";
export { modelText } from "./call/model-text.ts";
export { mcpResultToString, toRest, toSkillResult, toToolResult } from "./call/projections.ts";
export type { ToolResult, ToolResultValue } from "./call/projections.ts";

export { connectClient } from "./host/connect-client.ts";
export type { ClientOptions } from "./host/connect-client.ts";
export type { McpClient, McpServerInfo, McpToolResult } from "./connection/connect-client.ts";
export type { DirectOptions, DirectServer } from "./connection/open-directly.ts";
export { openWire } from "./connection/open-wire.ts";
export type { Wire, WireOptions } from "./connection/open-wire.ts";
export type { WireIdGenerator } from "./connection/wire-ids.ts";
export { TransportMessage } from "./protocol/transport-message.ts";
export type {
  ContentBlock,
  ListedTool,
  Progress,
  ProtocolEra,
  RequestOptions,
  ServerIdentity,
} from "./protocol/protocol-client.ts";

export { buildMcpSkillName, isMcpTool, makeToolName, parseToolName } from "./catalog/tool-names.ts";
export type { Naming, NamingOptions, ParsedToolName } from "./catalog/tool-names.ts";
export type { CatalogProblem } from "./catalog/catalog-problem.ts";
export { resourceContext } from "./catalog/resource-context.ts";
export type {
  Completion,
  CompletionQuestion,
  CompletionTarget,
  McpPrompt,
  McpResource,
  McpResourceTemplate,
  PromptArgument,
  PromptMessage,
  PromptText,
  ResourceContents,
} from "./catalog/server-content.ts";
export { toProviderSchema } from "./catalog/provider-schema.ts";
export { paramsTypeOf } from "./schema/params-type.ts";
export type { ParamsField, ParamsType } from "./schema/params-type.ts";
export { validateToolArguments } from "./schema/validate-tool-arguments.ts";

export { loadConfig } from "./config/load-config.ts";
export type { LoadConfigOptions, LoadedConfig } from "./config/load-config.ts";
export { parseConfig } from "./config/parse-config.ts";
export type { ParsedConfig } from "./config/parse-config.ts";
export type { McpServerConfig, ServerEntry } from "./config/config-keys.ts";
export type { ConfigProblem } from "./config/config-problem.ts";
export type { Limits } from "./config/limits.ts";
export type {
  ConfigLayer,
  ConfigText,
  NamingPreset,
  Provenance,
  ServerConfig,
  TransportKind,
} from "./config/server-config.ts";
export { SecretText } from "./text/secret-text.ts";
export { SAFE_ENV_KEYS } from "./isolation/child-environment.ts";

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
export type { Capability, GrantTerms } from "./policy/capability-set.ts";
export type { DefinitionChange, DefinitionDifference } from "./policy/compare-definitions.ts";
export type { AccessRule, AccessStep } from "./policy/decide-access.ts";
export type { ConsentMode, ConsentRule } from "./policy/decide-consent.ts";
export { canUseMcp, requiresMcpConfirmation } from "./policy/permission-level.ts";
export type { PermissionLevel, Permissions } from "./policy/permission-level.ts";
export type { AccessReport } from "./session/explain-access.ts";
export type { Audit } from "./host/audit.ts";
export type { AllowOptions, GrantInfo, GrantQuery, Grants } from "./host/grants.ts";
export type { Pins, QuarantinedTool } from "./host/pins.ts";
export type { AuditFilter, AuditQuery, AuditRow } from "./store/audit-entry.ts";
export type { Clock, Timer } from "./ports/clock.ts";
export type {
  AskOptions,
  BooleanField,
  ChoiceField,
  ChoicesField,
  ConfirmAnswer,
  ConfirmQuestion,
  ElicitAnswer,
  ElicitQuestion,
  FieldOption,
  FieldValue,
  FormField,
  FormQuestion,
  Human,
  NumberField,
  ShownMessage,
  ShownPrompt,
  TextField,
  TextFormat,
  UrlQuestion,
} from "./ports/human.ts";
export type {
  AddressTarget,
  CommandFile,
  EntryVariable,
  LaunchDifference,
  LaunchQuestion,
  PackageNotice,
  ProcessTarget,
  WantedVariable,
} from "./ports/launch-question.ts";
export type { Logger } from "./ports/logger.ts";
export type { ShownText } from "./ports/shown-text.ts";
