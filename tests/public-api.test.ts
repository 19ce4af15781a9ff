import { readFileSync } from "node:fs";
import path from "node:path";

import { describe, expect, it } from "vitest";

import { type AstNode, identifierName, parseSource } from "./syntax-tree.ts";

/** The exported names of an entry that only re-exports, types apart from what exists at run time. */
function exportsOf(file: string): { readonly values: string[]; readonly types: string[] } {
  const source = readFileSync(path.resolve(import.meta.dirname, "..", file), "utf8");
  const values: string[] = [];
  const types: string[] = [];
  for (const statement of parseSource(source)["body"] as readonly AstNode[]) {
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
describe("the public API", () => {
  it("of plugboard", async () => {
    const { values, types } = exportsOf("src/index.ts");
    expect(values).toEqual([
      "McpAuthError",
      "McpCancelledError",
      "McpConfigError",
      "McpConnectionError",
      "McpError",
      "McpPermissionError",
      "McpSchemaError",
      "McpStateError",
      "McpTimeoutError",
      "McpToolError",
      "McpTransportError",
      "SAFE_ENV_KEYS",
      "TransportMessage",
      "buildMcpSkillName",
      "connectClient",
      "createHost",
      "isMcpTool",
      "loadConfig",
      "makeToolName",
      "mcpResultToString",
      "openWire",
      "parseConfig",
      "parseToolName",
      "resourceContext",
      "toProviderSchema",
      "toRest",
      "toSkillResult",
      "toToolResult",
      "validateToolArguments",
    ]);
    expect(types).toEqual([
      "AddOptions",
      "AskOptions",
      "CallEnvelope",
      "CallOptions",
      "CallStreamItem",
      "CatalogProblem",
      "Clock",
      "Completion",
      "CompletionQuestion",
      "CompletionTarget",
      "ConfigLayer",
      "ConfigProblem",
      "ConfirmAnswer",
      "ConfirmQuestion",
      "ConnectOptions",
      "ContentBlock",
      "ContentListOptions",
      "ContentOptions",
      "DirectOptions",
      "DirectServer",
      "DisconnectOptions",
      "ElicitAnswer",
      "ElicitQuestion",
      "EntryInput",
      "ErrorCode",
      "ErrorFamily",
      "FailedOutcome",
      "FieldOption",
      "FieldValue",
      "FormField",
      "FormQuestion",
      "HostEvent",
      "HostEventOf",
      "HostEventType",
      "HostOptions",
      "Human",
      "Limits",
      "ListedTool",
      "LoadConfigOptions",
      "LoadedConfig",
      "Logger",
      "McpClient",
      "McpErrorJson",
      "McpHost",
      "McpPrompt",
      "McpResource",
      "McpResourceTemplate",
      "McpServerConfig",
      "McpServerInfo",
      "McpTool",
      "McpToolResult",
      "Naming",
      "Outcome",
      "OutcomeError",
      "ParsedConfig",
      "PermissionLevel",
      "Progress",
      "PromptArgument",
      "PromptMessage",
      "PromptText",
      "ProtocolEra",
      "Provenance",
      "ReadyOptions",
      "RequestOptions",
      "ResourceContents",
      "Root",
      "Roots",
      "RpcError",
      "SamplingContent",
      "SamplingHandler",
      "SamplingMessage",
      "SamplingRequest",
      "SamplingResult",
      "ServerConfig",
      "ServerEntry",
      "ServerInput",
      "ServerState",
      "ServerStatus",
      "Session",
      "SessionContent",
      "SessionOptions",
      "SuccessfulOutcome",
      "TextFormat",
      "Timer",
      "ToolArguments",
      "ToolInvoked",
      "ToolResult",
      "ToolResultValue",
      "Unsubscribe",
      "UrlQuestion",
      "Wire",
    ]);
    expect(Object.keys(await import("../src/index.ts")).toSorted()).toEqual(values);
  });

  it("of plugboard/testing", async () => {
    const { values, types } = exportsOf("src/testing/index.ts");
    expect(values).toEqual([
      "createDemoServer",
      "createMemoryServer",
      "createRecordedServer",
      "createTestServer",
      "demoServerEntry",
      "serveHttp",
      "serveRest",
      "serveSse",
      "serveStdio",
      "testServerEntry",
    ]);
    expect(types).toEqual([
      "DemoServerOptions",
      "HttpServer",
      "McpServerFactory",
      "MemoryServer",
      "MemoryServerOptions",
      "RecordedCall",
      "RecordedServerOptions",
      "RestServer",
      "ServeHttpOptions",
      "ServeRestOptions",
      "ServeSseOptions",
      "ServeStdioOptions",
      "ServedConnection",
      "ServedEra",
      "SseServer",
      "StdioServer",
      "TestServerOptions",
    ]);
    expect(Object.keys(await import("../src/testing/index.ts")).toSorted()).toEqual(values);
  });
});
