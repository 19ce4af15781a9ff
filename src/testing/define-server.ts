import {
  CLIENT_CAPABILITIES_META_KEY,
  type CallToolResult,
  type ClientCapabilities,
  type GetPromptResult,
  type InputRequiredResult,
  type JsonSchemaType,
  type McpServerFactory,
  type Prompt,
  type Resource,
  ResourceNotFoundError,
  Server,
  type ServerContext,
  type Tool,
  fromJsonSchema,
} from "@modelcontextprotocol/server";
import { CfWorkerJsonSchemaValidator } from "@modelcontextprotocol/server/validators/cf-worker";

import { invalidParams } from "./invalid-params.ts";
import { createPager } from "./pager.ts";
import { errorResult } from "./tool-result.ts";

export type ToolAnswer = CallToolResult | InputRequiredResult;

/** What a tool may know about the call it answers. */
export interface ToolCall {
  /** Aborts when the client cancels the call or goes. */
  readonly signal: AbortSignal;
  /** Undefined where a stateless 2025 request never said. */
  readonly clientCapabilities: ClientCapabilities | undefined;
  /** What the client answered to the questions of an earlier round of this call. */
  readonly inputResponses: Record<string, unknown> | undefined;
  /** Sends one progress notification; does nothing when the client asked for none. */
  reportProgress(progress: number, total: number): Promise<void>;
}

export interface ServedTool {
  readonly definition: Tool;
  /** `args` have passed the tool's input schema. */
  readonly run: (
    args: Readonly<Record<string, unknown>>,
    call: ToolCall,
  ) => ToolAnswer | Promise<ToolAnswer>;
}

export interface ServedResource {
  readonly definition: Resource;
  readonly text: string;
}

export interface ServedPrompt {
  readonly definition: Prompt;
  readonly render: (args: Readonly<Record<string, string>>) => GetPromptResult;
}

export interface ServerDefinition {
  readonly name: string;
  readonly tools: readonly ServedTool[];
  readonly resources?: readonly ServedResource[];
  readonly prompts?: readonly ServedPrompt[];
  /** At most this many items per list answer; without it every list is one page. */
  readonly pageSize?: number | undefined;
}

/**
 * A factory of MCP servers for both eras from one table. It stands on the SDK's low-level `Server`,
 * because `McpServer` cannot split its lists into pages.
 */
export function defineServer(definition: ServerDefinition): McpServerFactory {
  const { name, tools, resources = [], prompts = [] } = definition;
  const paginate = createPager(definition.pageSize);
  const callTool = createToolCaller(tools);

  return () => {
    const server = new Server(
      { name, version: "1.0.0" },
      {
        capabilities: {
          tools: {},
          ...(resources.length > 0 && { resources: {} }),
          ...(prompts.length > 0 && { prompts: {} }),
        },
      },
    );
    server.setRequestHandler("tools/list", ({ params }) => {
      const { items, ...rest } = paginate(tools, params?.cursor);
      return { tools: items.map((tool) => tool.definition), ...rest };
    });
    server.setRequestHandler("tools/call", ({ params }, context) =>
      callTool(params.name, params.arguments ?? {}, describeCall(server, context)),
    );
    if (resources.length > 0) serveResources(server, resources, paginate);
    if (prompts.length > 0) servePrompts(server, prompts, paginate);
    return server;
  };
}

type Paginate = ReturnType<typeof createPager>;
type CallTool = (
  name: string,
  args: Record<string, unknown>,
  call: ToolCall,
) => Promise<ToolAnswer>;

/** Validators are made on a tool's first call and kept: over HTTP every request is a new server. */
function createToolCaller(tools: readonly ServedTool[]): CallTool {
  // It interprets schemas; the SDK's default engine spends longer on compiling the first one.
  const engine = new CfWorkerJsonSchemaValidator();
  const validators = new Map<string, ReturnType<typeof fromJsonSchema>>();
  return async (name, args, call) => {
    const tool = tools.find(({ definition }) => definition.name === name);
    if (tool === undefined) throw invalidParams(`Unknown tool: ${name}`);
    const validator =
      validators.get(name) ?? fromJsonSchema(tool.definition.inputSchema as JsonSchemaType, engine);
    validators.set(name, validator);
    const { issues } = await validator["~standard"].validate(args);
    if (issues === undefined) return await tool.run(args, call);
    const problems = issues.map(({ message }) => message).join("; ");
    return errorResult(`Invalid arguments for tool ${name}: ${problems}`);
  };
}

function describeCall(server: Server, { mcpReq }: ServerContext): ToolCall {
  const progressToken = mcpReq._meta?.progressToken;
  const envelope: Readonly<Record<string, unknown>> = { ...mcpReq.envelope };
  const declared = envelope[CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities | undefined;
  return {
    signal: mcpReq.signal,
    // The modern era declares them with every request, the 2025 era once in `initialize`.
    clientCapabilities: declared ?? server.getClientCapabilities(),
    inputResponses: mcpReq.inputResponses,
    async reportProgress(progress, total) {
      if (progressToken === undefined) return;
      const params = { progressToken, progress, total };
      await mcpReq.notify({ method: "notifications/progress", params });
    },
  };
}

function serveResources(
  server: Server,
  resources: readonly ServedResource[],
  paginate: Paginate,
): void {
  server.setRequestHandler("resources/list", ({ params }) => {
    const { items, ...rest } = paginate(resources, params?.cursor);
    return { resources: items.map((resource) => resource.definition), ...rest };
  });
  server.setRequestHandler("resources/templates/list", () => ({ resourceTemplates: [] }));
  server.setRequestHandler("resources/read", ({ params }) => {
    const found = resources.find(({ definition }) => definition.uri === params.uri);
    if (found === undefined) throw new ResourceNotFoundError(params.uri);
    const { uri, mimeType } = found.definition;
    return { contents: [{ uri, ...(mimeType !== undefined && { mimeType }), text: found.text }] };
  });
}

function servePrompts(server: Server, prompts: readonly ServedPrompt[], paginate: Paginate): void {
  server.setRequestHandler("prompts/list", ({ params }) => {
    const { items, ...rest } = paginate(prompts, params?.cursor);
    return { prompts: items.map((prompt) => prompt.definition), ...rest };
  });
  server.setRequestHandler("prompts/get", ({ params }) => {
    const prompt = prompts.find(({ definition }) => definition.name === params.name);
    if (prompt === undefined) throw invalidParams(`Unknown prompt: ${params.name}`);
    const args = params.arguments ?? {};
    for (const { name, required } of prompt.definition.arguments ?? [])
      if (required === true && !Object.hasOwn(args, name))
        throw invalidParams(`Prompt ${params.name} needs the argument ${name}`);
    return prompt.render(args);
  });
}
