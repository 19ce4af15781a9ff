import { readFileSync } from "node:fs";
import path from "node:path";

import { describe, expect, it } from "vitest";

import { type AstNode, identifierName, parseSource } from "./syntax-tree.ts";

const root = path.resolve(import.meta.dirname, "..");
const readText = (file: string): string => readFileSync(path.join(root, file), "utf8");

interface Exports {
  readonly values: readonly string[];
  readonly types: readonly string[];
}

interface Entry extends Exports {
  readonly source: string;
}

/** The exported names of an entry that only re-exports, types apart from what exists at run time. */
function exportsOf(file: string): Exports {
  const values: string[] = [];
  const types: string[] = [];
  for (const statement of parseSource(readText(file))["body"] as readonly AstNode[]) {
    // A wildcard would make public whatever somebody adds below.
    expect(statement.type, file).toBe("ExportNamedDeclaration");
    for (const specifier of statement["specifiers"] as readonly AstNode[]) {
      const isType = statement["exportKind"] === "type" || specifier["exportKind"] === "type";
      (isType ? types : values).push(identifierName(specifier["exported"]) ?? "default");
    }
  }
  return { values: values.toSorted(), types: types.toSorted() };
}

// The lists are literals on purpose: a change of the public API is to be seen in a diff.
const entries: Readonly<Record<string, Entry>> = {
  plugboard: {
    source: "src/index.ts",
    values: [
      "CapabilitySet",
      "McpAuthError",
      "McpCancelledError",
      "McpConfigError",
      "McpConnectionError",
      "McpConnectionPool",
      "McpError",
      "McpPermissionError",
      "McpSchemaError",
      "McpStateError",
      "McpTimeoutError",
      "McpToolError",
      "McpTransportError",
      "createHost",
      "createToolClient",
      "defineSlice",
      "errorOfOutcome",
      "modelText",
      "toProviderSchema",
    ],
    types: [
      "AskOptions",
      "Audit",
      "AuditFilter",
      "AuditQuery",
      "AuditRow",
      "CallEnvelope",
      "CallOptions",
      "CallStreamItem",
      "ChildOptions",
      "ConfirmAnswer",
      "ConfirmQuestion",
      "ConnectElsewhereOptions",
      "ConnectOptions",
      "ConnectedServer",
      "ConsentMode",
      "ContentBlock",
      "ContextResources",
      "ContractOptions",
      "ContractReport",
      "DisconnectOptions",
      "DoctorOptions",
      "DoctorReport",
      "DoctorVerdict",
      "ElicitAnswer",
      "ElicitQuestion",
      "ErrorCode",
      "ErrorFamily",
      "FailedOutcome",
      "Finding",
      "HostEvent",
      "HostEventOf",
      "HostEventType",
      "HostOptions",
      "Human",
      "KeptLogs",
      "KeptSecrets",
      "KeyHolder",
      "Limits",
      "LoadToolsOptions",
      "LogEntry",
      "Logger",
      "LoginOptions",
      "LogoutResult",
      "McpErrorJson",
      "McpHost",
      "McpServerConfig",
      "McpTool",
      "NamedEntry",
      "Naming",
      "NativeTool",
      "Outcome",
      "OutcomeError",
      "PermissionLevel",
      "PresentPage",
      "Progress",
      "ReadyOptions",
      "Root",
      "Roots",
      "RpcError",
      "RuleResult",
      "RuleVerdict",
      "SamplingContent",
      "SamplingHandler",
      "SamplingMessage",
      "SamplingRequest",
      "SamplingResult",
      "SecretProvider",
      "ServerEntry",
      "ServerInput",
      "ServerReadiness",
      "ServerState",
      "ServerStatus",
      "Session",
      "SessionOptions",
      "SessionState",
      "SignInPage",
      "SignInStatus",
      "StartOptions",
      "StartPhase",
      "StateSlice",
      "StateView",
      "SuccessfulOutcome",
      "ToolArguments",
      "ToolClient",
      "ToolContext",
      "ToolInvoked",
      "ToolOrigin",
      "ToolReference",
      "ToolTypes",
      "Transaction",
      "TransactionCallOptions",
      "TransactionResult",
      "TypedOutcome",
      "Unsubscribe",
    ],
  },
  "plugboard/adapters": {
    source: "src/adapters/index.ts",
    values: [
      "aiSdkTools",
      "anthropicTools",
      "claudeAgentServers",
      "langChainTools",
      "openAiAgentsTools",
      "openAiResponsesTools",
      "openAiTools",
      "runAnthropicCalls",
      "runOpenAiCalls",
    ],
    types: [
      "AdapterOptions",
      "AiSdkCallOptions",
      "AiSdkModelOutput",
      "AiSdkOutput",
      "AiSdkSchema",
      "AiSdkTool",
      "AnthropicImageType",
      "AnthropicResultBlock",
      "AnthropicTool",
      "AnthropicToolResult",
      "AnthropicToolUse",
      "ClaudeAgentServer",
      "LangChainBlock",
      "LangChainConfig",
      "LangChainMessageFields",
      "LangChainParts",
      "LangChainToolFields",
      "ModelImage",
      "OpenAiAgentsCall",
      "OpenAiAgentsPart",
      "OpenAiAgentsTool",
      "OpenAiAnswer",
      "OpenAiCallOutput",
      "OpenAiChatCall",
      "OpenAiChatTool",
      "OpenAiOutputPart",
      "OpenAiResponsesCall",
      "OpenAiResponsesTool",
      "OpenAiToolMessage",
      "RunOptions",
      "ToolServer",
      "ToolSource",
    ],
  },
  "plugboard/client": {
    source: "src/entries/client.ts",
    values: ["TransportMessage", "connectClient", "openWire"],
    types: [
      "ClientOptions",
      "DirectOptions",
      "DirectServer",
      "ListedTool",
      "McpClient",
      "McpServerInfo",
      "McpToolResult",
      "ProtocolEra",
      "RequestOptions",
      "ServerIdentity",
      "Wire",
      "WireIdGenerator",
      "WireOptions",
    ],
  },
  "plugboard/config": {
    source: "src/entries/config.ts",
    values: ["SAFE_ENV_KEYS", "SecretText", "loadConfig", "parseConfig"],
    types: [
      "AddOptions",
      "CheckedFile",
      "ConfigCheck",
      "ConfigLayer",
      "ConfigProblem",
      "ConfigText",
      "EditableEntry",
      "EntryInput",
      "ImportOptions",
      "ImportResult",
      "ImportSource",
      "ImportedServer",
      "ImportedVariable",
      "KeptServer",
      "LoadConfigOptions",
      "LoadedConfig",
      "NamingPreset",
      "ParsedConfig",
      "Provenance",
      "ServerConfig",
      "ServerScope",
      "ShadowedEntry",
      "SkippedServer",
      "TransportKind",
      "UpdateOptions",
    ],
  },
  "plugboard/content": {
    source: "src/entries/content.ts",
    values: ["resourceContext"],
    types: [
      "Completion",
      "CompletionQuestion",
      "CompletionTarget",
      "ContentList",
      "ContentListOptions",
      "ContentOptions",
      "McpPrompt",
      "McpResource",
      "McpResourceTemplate",
      "PromptArgument",
      "PromptMessage",
      "PromptText",
      "ResourceContents",
      "ServerList",
      "SessionContent",
    ],
  },
  "plugboard/human": {
    source: "src/entries/human.ts",
    values: ["createTerminalHuman"],
    types: [
      "AddressTarget",
      "BooleanField",
      "ChoiceField",
      "ChoicesField",
      "CommandFile",
      "EntryVariable",
      "FieldOption",
      "FieldValue",
      "FormField",
      "FormQuestion",
      "InputQuestion",
      "LaunchDifference",
      "LaunchQuestion",
      "NumberField",
      "PackageNotice",
      "ProcessTarget",
      "ReadlineInterface",
      "ShownMessage",
      "ShownPrompt",
      "ShownText",
      "TerminalHumanOptions",
      "TextField",
      "TextFormat",
      "UrlQuestion",
      "WantedVariable",
    ],
  },
  "plugboard/permissions": {
    source: "src/entries/permissions.ts",
    values: ["canUseMcp", "requiresMcpConfirmation"],
    types: [
      "AccessReport",
      "AccessRule",
      "AccessStep",
      "AllowOptions",
      "ApproveOptions",
      "Capability",
      "ConsentRule",
      "DefinitionChange",
      "DefinitionDifference",
      "GrantInfo",
      "GrantQuery",
      "GrantTerms",
      "Grants",
      "Permissions",
      "Pins",
      "QuarantinedTool",
      "RequestApprovalOptions",
    ],
  },
  "plugboard/prompts": {
    source: "src/entries/prompts.ts",
    values: ["PromptTemplate"],
    types: [
      "McpPromptTemplate",
      "PromptArguments",
      "PromptParams",
      "PromptRenderOptions",
      "PromptSection",
      "PromptSectionOptions",
      "PromptTemplateOptions",
      "RenderOptions",
      "Section",
      "SectionConnectOptions",
      "SectionOptions",
      "SectionTextOptions",
    ],
  },
  "plugboard/testing": {
    source: "src/testing/index.ts",
    values: [
      "authorizationAttacks",
      "createDemoServer",
      "createMemoryServer",
      "createRecordedServer",
      "createTestServer",
      "demoServerEntry",
      "serveHttp",
      "serveProtected",
      "serveRest",
      "serveSse",
      "serveStdio",
      "startAuthorizationServer",
      "startProtectedDemo",
      "testServerEntry",
    ],
    types: [
      "ArrivedRequest",
      "AuthorizationAttack",
      "AuthorizationCounts",
      "AuthorizationServer",
      "AuthorizationServerOptions",
      "ClientAuthMethod",
      "Clock",
      "DemoServerOptions",
      "GrantType",
      "HeldRequests",
      "HttpServer",
      "KnownClient",
      "McpServerFactory",
      "MemoryServer",
      "MemoryServerOptions",
      "ProtectedDemo",
      "ProtectedDemoOptions",
      "ProtectedServer",
      "PublicKey",
      "RecordedCall",
      "RecordedServerOptions",
      "RestServer",
      "ServeHttpOptions",
      "ServeProtectedOptions",
      "ServeRestOptions",
      "ServeSseOptions",
      "ServeStdioOptions",
      "ServedConnection",
      "ServedEra",
      "SseServer",
      "StdioServer",
      "TestServerOptions",
      "Timer",
      "TokenDemand",
      "TokenVerdict",
      "TrustedIssuer",
    ],
  },
  "plugboard/tools": {
    source: "src/entries/tools.ts",
    values: [
      "buildMcpSkillName",
      "isMcpTool",
      "makeToolName",
      "mcpResultToString",
      "paramsTypeOf",
      "parseToolName",
      "toRest",
      "toSkillResult",
      "toToolResult",
      "validateToolArguments",
    ],
    types: [
      "CatalogProblem",
      "NamingOptions",
      "ParamsField",
      "ParamsType",
      "ParsedToolName",
      "StandardJsonSchema",
      "ToolResult",
      "ToolResultValue",
    ],
  },
};

describe("the public API", () => {
  it.each(Object.entries(entries))("of %s", async (_name, { source, values, types }) => {
    expect(exportsOf(source)).toEqual({ values, types });
    const module = (await import(path.join(root, source))) as object;
    expect(Object.keys(module).toSorted()).toEqual(values);
  });

  it("has these entries and no other", () => {
    const { exports } = JSON.parse(readText("package.json")) as {
      readonly exports: Readonly<Record<string, string | { readonly default: string }>>;
    };
    const published = Object.entries(exports).flatMap(([entry, target]) =>
      typeof target === "string"
        ? []
        : [[path.posix.join("plugboard", entry), target.default] as const],
    );
    const expected = Object.entries(entries).map(([name, { source }]) => [
      name,
      source.replace(/^src(.*)\.ts$/, "./dist$1.js"),
    ]);
    expect(Object.fromEntries(published)).toEqual(Object.fromEntries(expected));
  });

  it("has one home for each name", () => {
    const homes = Object.entries(entries).flatMap(([entry, { values, types }]) =>
      [...values, ...types].map((name) => ({ name, entry })),
    );
    const repeated = homes.filter(
      ({ name }) => homes.filter((home) => home.name === name).length > 1,
    );
    expect(repeated).toEqual([]);
  });

  it("is listed in the README, entry by entry", () => {
    const rows = [...readText("README.md").matchAll(/^\| `(plugboard[\w/]*)` +\|/gm)];
    expect(rows.map(([, name]) => name)).toEqual(Object.keys(entries));
  });
});
