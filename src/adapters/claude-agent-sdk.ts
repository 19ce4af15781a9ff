import {
  type AdapterOptions,
  type OfferedTool,
  loadOfferedTools,
  offeredTools,
  type ToolSource,
} from "./offered-tools.ts";
import { type ModelResult, runModelCall } from "./run-model-call.ts";
import { createToolServer, type ToolServer } from "./tool-server.ts";

/** An entry of the SDK's `mcpServers`: a server in this process, reached through `instance`. */
export interface ClaudeAgentServer<Instance = never> {
  type: "sdk";
  name: string;
  instance: Instance;
}

/** Holds the tools whose public names say no server: native ones, and those of another naming. */
const restKey = "plugboard";

/** Where Claude Code writes its id of a call. */
const toolUseIdKey = "claudecode/toolUseId";

/**
 * The tools of a session or a prompt as `query({ options: { mcpServers } })` of the Claude Agent SDK takes them: one
 * entry per server, none of which starts or connects to anything outside this process. Claude Code calls
 * a tool `mcp__{entry}__{tool}`, which with the default naming is its public name; write that into
 * `allowedTools`, because consent is asked for here. A list that changes is listed again by itself; for a
 * server that comes later ask anew and give it to `query.setMcpServers`.
 *
 * Each `instance` is a `ToolServer`, which is all that the SDK uses of its class `McpServer`. That class
 * has private members and cannot be named here, hence a type that fits wherever the entry goes.
 */
export async function claudeAgentServers<Instance = never>(
  source: ToolSource,
  options: AdapterOptions = {},
): Promise<Record<string, ClaudeAgentServer<Instance>>> {
  const keys = new Set(placedTools(await loadOfferedTools(source, options)).map(({ key }) => key));
  return Object.fromEntries(
    [...keys].map((key) => {
      const instance = agentServer(source, key, options) as Instance;
      return [key, { type: "sdk", name: key, instance }];
    }),
  );
}

function agentServer(source: ToolSource, key: string, options: AdapterOptions): ToolServer {
  const own = () => {
    const placed = placedTools(offeredTools(source.tools(), options));
    return placed.filter((tool) => tool.key === key);
  };
  const serverNames = new Set(own().map(({ offered }) => offered.tool.serverName));
  return createToolServer({
    name: key,
    list: () => own().map(definition),
    async run({ name: shortName, input, meta, signal }) {
      const found = own().find((placed) => placed.shortName === shortName);
      // A name that is offered no more goes its way too: the session says why.
      const name = found?.offered.name ?? `mcp__${key}__${shortName}`;
      const id = meta[toolUseIdKey];
      const callId = typeof id === "string" ? id : undefined;
      const { timeoutMs } = options;
      return mcpResult(await runModelCall(source, { name, input, callId }, { signal, timeoutMs }));
    },
    onListChange: (changed) =>
      // The tools of a prompt are as its text was rendered.
      "on" in source
        ? source.on("tools-changed", ({ serverName }) => {
            if (serverNames.has(serverName)) changed();
          })
        : () => {},
  });
}

interface PlacedTool {
  readonly key: string;
  /** The name within its entry. */
  readonly shortName: string;
  readonly offered: OfferedTool;
}

function placedTools(tools: readonly OfferedTool[]): readonly PlacedTool[] {
  const names = new Set(tools.map(({ name }) => name));
  return tools.map((offered) => {
    const [, key, shortName] = /^mcp__(.+?)__(.+)$/.exec(offered.name) ?? [];
    if (key !== undefined && shortName !== undefined) return { key, shortName, offered };
    // A server may be called like the entry of the rest, and have a tool of the same name.
    let free = offered.name;
    while (names.has(`mcp__${restKey}__${free}`)) free += "_";
    return { key: restKey, shortName: free, offered };
  });
}

function definition({ shortName, offered }: PlacedTool): Readonly<Record<string, unknown>> {
  const { description, schema, tool } = offered;
  const { title, annotations } = tool;
  return {
    name: shortName,
    ...(title === undefined ? {} : { title }),
    description,
    inputSchema: schema,
    annotations,
  };
}

function mcpResult({ text, isError, images }: ModelResult): Readonly<Record<string, unknown>> {
  const blocks = images.map(({ data, mediaType }) => ({
    type: "image",
    data,
    mimeType: mediaType,
  }));
  return { content: [{ type: "text", text }, ...blocks], isError };
}
