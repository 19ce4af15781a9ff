import type { PerformCall, ServerTool, ToolArguments } from "../../call/call-contract.ts";
import type { CatalogTool } from "../../catalog/catalog-tool.ts";
import { readResource, type ResourceContents } from "../../catalog/server-content.ts";
import type { ExtraTools } from "../../catalog/tool-catalog.ts";
import type { Limits } from "../../config/keys/limits.ts";
import { createError } from "../../errors/families.ts";
import type { Clock } from "../../ports/clock.ts";
import type { ContentBlock } from "../../protocol/protocol-client.ts";
import { readingTool } from "./content-tool.ts";

/** A server's own tool of that name is left alone; ours takes the next then. */
const readerNames = ["read_resource", "read_resource_content", "read_mcp_resource"] as const;

const inputSchema = Object.freeze({
  type: "object",
  properties: { uri: { type: "string", description: "The address of the resource" } },
  required: ["uri"],
  additionalProperties: false,
});

export interface ResourceReaderParts {
  readonly limits: Limits;
  readonly clock: Clock;
}

/**
 * A tool for every server that has resources, with which a model can read them. It is judged like the
 * server's own tools, stays the same object as long as the host lasts, and is the same for every session.
 */
export class ResourceReaders implements ExtraTools {
  readonly #parts: ResourceReaderParts;
  readonly #known = new Map<string, ServerTool>();
  readonly #extended = new WeakMap<readonly CatalogTool[], readonly CatalogTool[]>();

  constructor(parts: ResourceReaderParts) {
    this.#parts = parts;
  }

  extend(serverName: string, tools: readonly CatalogTool[]): readonly CatalogTool[] {
    let extended = this.#extended.get(tools);
    if (extended?.at(-1)?.serverName !== serverName) {
      const own = new Set(tools.map(({ originalName }) => originalName));
      const free = readerNames.find((readerName) => !own.has(readerName));
      extended = free === undefined ? tools : [...tools, this.#reader(serverName, free)];
      this.#extended.set(tools, extended);
    }
    return extended;
  }

  #reader(serverName: string, originalName: string): ServerTool {
    const key = JSON.stringify([serverName, originalName]);
    const known = this.#known.get(key) ?? createReader(serverName, originalName, this.#parts);
    this.#known.set(key, known);
    return known;
  }
}

function createReader(
  serverName: string,
  originalName: string,
  { limits, clock }: ResourceReaderParts,
): ServerTool {
  const definition = {
    title: "Read a resource",
    description: `Reads a resource of the MCP server ${serverName} by its URI.`,
    inputSchema,
  };
  const read = async (
    { uri }: ToolArguments,
    { client, signal, timeoutMs, onProgress, owner, ...call }: PerformCall,
  ) => {
    if (client === undefined)
      throw createError("not_connected", `${serverName} is not connected`, { serverName });
    call.begin();
    const source = { serverName, client, limits, clock };
    const options = { signal, timeoutMs, onProgress, owner };
    // The schema lets nothing else through.
    const contents = await readResource(source, uri as string, options);
    return { content: contents.map(blockOf), isError: false };
  };
  return readingTool(serverName, originalName, definition, read);
}

function blockOf({ uri, mimeType, text, blob }: ResourceContents): ContentBlock {
  return {
    type: "resource",
    resource: {
      uri,
      ...(mimeType === undefined ? {} : { mimeType }),
      ...(text === undefined ? {} : { text }),
      ...(blob === undefined ? {} : { blob }),
    },
  };
}
