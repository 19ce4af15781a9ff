import { joinSignals } from "../../async/stop.ts";
import type { CallOptions, ToolArguments } from "../../call/call-contract.ts";
import type { Outcome } from "../../call/outcome.ts";
import type {
  McpPrompt,
  McpResource,
  PromptText,
  ResourceContents,
} from "../../catalog/server-content.ts";
import type { ToolOrigin } from "../../catalog/tool-origin.ts";
import type { ServerState } from "../../events/host-event.ts";
import type { ServerRegistry } from "../../registry/server-registry.ts";
import type { ContentOptions, SessionContent } from "../content/session-content.ts";
import type { McpTool } from "../mcp-tool.ts";
import type { ToolJudge } from "../rights/tool-judge.ts";

/** One server as a handler may use it. It is started when it is first needed. */
export interface ConnectedServer {
  readonly serverName: string;
  readonly state: ServerState;
  /** The tools of it that this agent may use, as far as its list is known. */
  readonly tools: readonly McpTool[];
  /** Calls a tool by the server's own name for it, on the same guarded path as every call. */
  callTool(name: string, args?: ToolArguments, options?: CallOptions): Promise<Outcome>;
  resources(options?: ContentOptions): Promise<readonly McpResource[]>;
  readResource(uri: string, options?: ContentOptions): Promise<readonly ResourceContents[]>;
  prompts(options?: ContentOptions): Promise<readonly McpPrompt[]>;
  prompt(
    name: string,
    args?: Readonly<Record<string, string>>,
    options?: ContentOptions,
  ): Promise<PromptText>;
}

export interface ConnectionPoolParts {
  readonly registry: ServerRegistry;
  readonly judge: ToolJudge;
  readonly content: SessionContent;
  /** Tools of all servers, as the agent may use them. */
  readonly tools: () => readonly McpTool[];
  /** Ends whatever the pool waits for. */
  readonly signal: AbortSignal;
  readonly call: (tool: ToolOrigin, args: ToolArguments, options: CallOptions) => Promise<Outcome>;
}

/** The servers that the agent of this session may use: no way around its rights, only a shorter name. */
export class McpConnectionPool {
  readonly #parts: ConnectionPoolParts;

  constructor(parts: ConnectionPoolParts) {
    this.#parts = parts;
  }

  names(): readonly string[] {
    const { registry, judge } = this.#parts;
    const usable = registry.all().filter((server) => judge.serverDenial(server) === undefined);
    return usable.map(({ config }) => config.name);
  }

  /** Undefined for a server that does not exist, or not for this agent. */
  get(serverName: string): ConnectedServer | undefined {
    const { registry, judge, content, tools, call } = this.#parts;
    const server = registry.find(serverName);
    if (server === undefined || judge.serverDenial(server) !== undefined) return undefined;
    return {
      serverName,
      get state() {
        const connection = server.connections.connectionOf(judge.rights.agent);
        return connection?.state ?? registry.state(server);
      },
      get tools() {
        return tools().filter((tool) => tool.serverName === serverName);
      },
      callTool: (tool, args = {}, options = {}) =>
        call({ server: serverName, tool }, args, options),
      resources: (options = {}) =>
        content.resources({ ...this.#within(options), server: serverName }),
      readResource: (uri, options = {}) =>
        content.readResource(serverName, uri, this.#within(options)),
      prompts: (options = {}) => content.prompts({ ...this.#within(options), server: serverName }),
      prompt: (name, args = {}, options = {}) =>
        content.prompt(serverName, name, args, this.#within(options)),
    };
  }

  #within(options: ContentOptions): ContentOptions {
    return { ...options, signal: joinSignals(this.#parts.signal, options.signal) };
  }
}
