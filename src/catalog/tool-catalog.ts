import type { ServerConfig } from "../config/server-config.ts";
import type { ListedTool, ToolListing } from "../protocol/protocol-client.ts";
import { neutralizeLine } from "../text/neutralize.ts";
import { truncate } from "../text/truncate.ts";
import type { CatalogTool } from "./catalog-tool.ts";
import { filterTools } from "./tool-filter.ts";
import { type Naming, assignPublicNames } from "./tool-names.ts";

/** Something about a server's list that a person should know; the other tools are not affected. */
export interface CatalogProblem {
  readonly serverName: string;
  readonly toolName: string | null;
  readonly text: string;
}

/** The catalog under one naming: both directions of the map, in server order. */
export interface NamedCatalog {
  readonly tools: readonly NamedTool[];
  readonly byName: ReadonlyMap<string, NamedTool>;
}

export interface NamedTool {
  readonly name: string;
  readonly tool: CatalogTool;
}

/** What a session has beside the tools of the catalog. */
export interface NamingSurroundings {
  /** Tools the host itself offers for a server, named like the server's own. */
  readonly added: readonly CatalogTool[];
  /** Names that no tool of a server may take. */
  readonly reserved: Iterable<string>;
}

interface ServerTools {
  readonly config: ServerConfig;
  /** The server said when it was connected that there is something to read. */
  readonly hasResources: boolean;
  /** A list has been seen, even an empty one. */
  readonly isKnown: boolean;
  readonly tools: readonly CatalogTool[];
  readonly problems: readonly CatalogProblem[];
}

/**
 * The tools of all servers. Only what passes a server's filter enters, so a filtered tool cannot be
 * called even by its exact name; calls are routed by the maps built here, never by splitting a name.
 */
export class ToolCatalog {
  readonly #servers = new Map<string, ServerTools>();
  readonly #named = new Map<Naming, NamedCatalog>();

  /** Fixes the place of a server in every listing; its tools come later. */
  declare(config: ServerConfig): void {
    const unknown = { config, hasResources: false, isKnown: false, tools: [], problems: [] };
    this.#servers.set(config.name, unknown);
    this.#named.clear();
  }

  /** Makes these the servers, in this order; what is known of those in `kept` stays. */
  arrange(configs: readonly ServerConfig[], kept: ReadonlySet<string>): void {
    const before = new Map(this.#servers);
    this.#servers.clear();
    for (const config of configs) {
      const known = kept.has(config.name) ? before.get(config.name) : undefined;
      if (known === undefined) this.declare(config);
      else this.#servers.set(config.name, { ...known, config });
    }
    this.#named.clear();
  }

  /** Takes a server's live list, which replaces whatever was known before. */
  replace(serverName: string, listing: ToolListing): void {
    const config = this.#config(serverName);
    if (config === undefined) return;
    const problems: CatalogProblem[] = listing.rejected.map(({ name, reason }) =>
      problem(serverName, name, reason),
    );
    if (listing.truncatedBy !== undefined)
      problems.push(problem(serverName, null, `the tool list was cut: ${listing.truncatedBy}`));
    this.#enter(config, listing.tools, { isLive: true, problems });
  }

  /** Tools from a schema, without a server behind them: for listing, validation and offline work. */
  register(serverName: string, schemas: readonly ListedTool[]): void {
    const config = this.#config(serverName);
    if (config !== undefined) this.#enter(config, schemas, { isLive: false, problems: [] });
  }

  /** Takes a list from before, unless the server's own has been seen. */
  recall(serverName: string, tools: readonly ListedTool[]): void {
    const config = this.#config(serverName);
    if (config === undefined || this.isKnown(serverName)) return;
    this.#enter(config, tools, { isLive: true, problems: [] });
  }

  /** Forgets a server's tools, not its place. */
  clear(serverName: string): void {
    const known = this.#servers.get(serverName);
    if (known === undefined) return;
    this.#servers.set(serverName, { ...known, isKnown: false, tools: [], problems: [] });
    this.#named.clear();
  }

  noteResources(serverName: string, hasResources: boolean): void {
    const known = this.#servers.get(serverName);
    if (known === undefined || known.hasResources === hasResources) return;
    this.#servers.set(serverName, { ...known, hasResources });
    this.#named.clear();
  }

  /** Servers that are known to have resources, in order. */
  resourceServers(): readonly ServerConfig[] {
    const servers = [...this.#servers.values()].filter(({ hasResources }) => hasResources);
    return servers.map(({ config }) => config);
  }

  tools(serverName: string): readonly CatalogTool[] {
    return this.#servers.get(serverName)?.tools ?? [];
  }

  problems(serverName: string): readonly CatalogProblem[] {
    return this.#servers.get(serverName)?.problems ?? [];
  }

  /** Whether the server's list has been seen, live or registered. */
  isKnown(serverName: string): boolean {
    return this.#servers.get(serverName)?.isKnown ?? false;
  }

  /** Names are computed once per change of the catalog. */
  named(naming: Naming): NamedCatalog {
    const known = this.#named.get(naming);
    if (known !== undefined) return known;
    const named = this.namedBeside(naming, { added: [], reserved: [] });
    this.#named.set(naming, named);
    return named;
  }

  /** The same for a session with tools of its own; computed anew each time. */
  namedBeside(naming: Naming, { added, reserved }: NamingSurroundings): NamedCatalog {
    const entries = [...this.#servers.values()].flatMap(({ config, tools }) =>
      [...tools, ...added.filter(({ serverName }) => serverName === config.name)].map((tool) => ({
        tool,
        naming: config.naming ?? naming,
        prefix: config.toolPrefix,
      })),
    );
    const { names } = assignPublicNames(
      entries.map(({ tool, naming: own, prefix }) => ({
        server: tool.serverName,
        tool: tool.originalName,
        naming: own,
        prefix,
      })),
      { reserved },
    );
    const tools = entries.map(({ tool }, index) => ({ name: names[index] as string, tool }));
    return { tools, byName: new Map(tools.map((entry) => [entry.name, entry])) };
  }

  #config(serverName: string): ServerConfig | undefined {
    return this.#servers.get(serverName)?.config;
  }

  #enter(
    config: ServerConfig,
    listed: readonly ListedTool[],
    options: { readonly isLive: boolean; readonly problems: CatalogProblem[] },
  ): void {
    const { problems, isLive } = options;
    const unique = new Map<string, ListedTool>();
    for (const tool of listed) {
      if (unique.has(tool.name))
        problems.push(problem(config.name, tool.name, "listed twice; only the first is used"));
      else unique.set(tool.name, tool);
    }
    const { kept, warnings } = filterTools([...unique.values()], config);
    problems.push(...warnings.map((text) => problem(config.name, null, text)));
    const tools = kept.map((tool) => catalogTool(tool, config, isLive));
    const hasResources = this.#servers.get(config.name)?.hasResources ?? false;
    this.#servers.set(config.name, { config, hasResources, isKnown: true, tools, problems });
    this.#named.clear();
  }
}

function problem(serverName: string, toolName: string | null, text: string): CatalogProblem {
  const name = toolName === null ? null : truncate(neutralizeLine(toolName), 128);
  return { serverName, toolName: name, text };
}

function catalogTool(tool: ListedTool, config: ServerConfig, isLive: boolean): CatalogTool {
  const description = typeof tool.description === "string" ? tool.description : "";
  return Object.freeze({
    serverName: config.name,
    originalName: tool.name,
    title: tool.title,
    description:
      config.descriptionLimit === undefined
        ? description
        : truncate(description, config.descriptionLimit),
    inputSchema: asObject(tool.inputSchema) ?? {},
    outputSchema: asObject(tool.outputSchema),
    annotations: tool.annotations ?? {},
    icons: tool.icons,
    meta: tool._meta,
    isLive,
    listed: tool,
  });
}

function asObject(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : undefined;
}
