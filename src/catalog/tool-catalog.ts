import { isOfProject, type ServerConfig } from "../config/keys/server-config.ts";
import type { ListedTool, ToolListing } from "../protocol/protocol-client.ts";
import { isJsonObject } from "../text/json-object.ts";
import { truncate } from "../text/truncate.ts";
import { type CatalogProblem, catalogProblem } from "./catalog-problem.ts";
import type { CatalogTool } from "./catalog-tool.ts";
import { NameNews, type NameProblem, nameProblems } from "./name-problems.ts";
import type { KnownContent } from "./server-content.ts";
import { ToolConfusions } from "./tool-confusions.ts";
import { filterTools } from "./tool-filter.ts";
import { type Naming, assignPublicNames, startOfNames } from "./tool-names.ts";
import type { ToolOrigin } from "./tool-origin.ts";

/** The catalog under one naming: both directions of the map, in server order. */
export interface NamedCatalog {
  readonly tools: readonly NamedTool[];
  /** The same by server; the object of a server stays the same until its tools or their names change. */
  readonly servers: readonly NamedServer[];
  readonly byName: ReadonlyMap<string, NamedTool>;
  readonly byOrigin: (origin: ToolOrigin) => NamedTool | undefined;
  /** Names that had to be changed, and names that are easily mistaken for others. */
  readonly problems: readonly NameProblem[];
}

export interface NamedTool {
  readonly name: string;
  readonly tool: CatalogTool;
}

/** The named tools of one server. */
export interface NamedServer {
  readonly serverName: string;
  readonly tools: readonly NamedTool[];
  /** The tools without their names, in the same order. */
  readonly catalogTools: readonly CatalogTool[];
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
  /** Its resources and prompts, as far as somebody wanted to know. */
  readonly content: KnownContent;
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
  #unnamed: ReadonlySet<string> = new Set();
  readonly #confusions = new ToolConfusions();
  readonly #nameNews = new NameNews();

  /** Fixes the place of a server in every listing; its tools come later. */
  declare(config: ServerConfig): void {
    this.#servers.set(config.name, {
      config,
      hasResources: false,
      content: {},
      isKnown: false,
      tools: [],
      problems: [],
    });
    this.#confusions.enter(config.name, []);
    this.#named.clear();
  }

  /** Makes these the servers, in this order; what is known of those in `kept` stays. */
  arrange(configs: readonly ServerConfig[], kept: ReadonlySet<string>): void {
    const before = new Map(this.#servers);
    this.#servers.clear();
    for (const name of before.keys()) this.#confusions.leave(name);
    for (const config of configs) {
      const known = kept.has(config.name) ? before.get(config.name) : undefined;
      if (known === undefined) this.declare(config);
      else {
        this.#servers.set(config.name, { ...known, config });
        this.#confuse(config.name, known.tools);
      }
    }
    this.#named.clear();
  }

  /** Gives no names to the tools of these servers: nobody has approved what their entries would call them. */
  leaveUnnamed(serverNames: ReadonlySet<string>): void {
    const before = this.#unnamed;
    const changed = [...this.#servers].filter(
      ([name]) => before.has(name) !== serverNames.has(name),
    );
    this.#unnamed = serverNames;
    if (changed.length === 0) return;
    for (const [name, { tools }] of changed) this.#confuse(name, tools);
    this.#named.clear();
  }

  isNamed(serverName: string): boolean {
    return this.isKnown(serverName) && !this.#unnamed.has(serverName);
  }

  /** Takes a server's live list, which replaces whatever was known before. */
  replace(serverName: string, listing: ToolListing): void {
    const config = this.#config(serverName);
    if (config === undefined) return;
    const problems: CatalogProblem[] = listing.rejected.map(({ name, reason }) =>
      catalogProblem(serverName, name, reason),
    );
    if (listing.truncatedBy !== undefined)
      problems.push(
        catalogProblem(serverName, null, `the tool list was cut: ${listing.truncatedBy}`),
      );
    this.#enter(config, listing.tools, { isLive: true, problems });
  }

  /** Tools from a schema, without a server behind them: for listing, validation and offline work. */
  register(serverName: string, schemas: readonly ListedTool[]): void {
    const config = this.#config(serverName);
    if (config !== undefined) this.#enter(config, schemas, { isLive: false, problems: [] });
  }

  /** Takes a list the store kept, unless the server's own has been seen. */
  load(serverName: string, tools: readonly ListedTool[]): void {
    const config = this.#config(serverName);
    if (config === undefined || this.isKnown(serverName)) return;
    this.#enter(config, tools, { isLive: true, problems: [] });
  }

  /** Forgets a server's tools, not its place. */
  clear(serverName: string): void {
    const known = this.#servers.get(serverName);
    if (known === undefined) return;
    this.#servers.set(serverName, { ...known, isKnown: false, tools: [], problems: [] });
    this.#confusions.enter(serverName, []);
    this.#named.clear();
  }

  noteResources(serverName: string, hasResources: boolean): void {
    const known = this.#servers.get(serverName);
    if (known === undefined || known.hasResources === hasResources) return;
    this.#servers.set(serverName, { ...known, hasResources });
    this.#named.clear();
  }

  /** Takes a server's live list of resources or prompts, which replaces the one before. */
  noteContent(serverName: string, content: KnownContent): void {
    const known = this.#servers.get(serverName);
    if (known === undefined) return;
    this.#servers.set(serverName, { ...known, content: { ...known.content, ...content } });
  }

  content(serverName: string): KnownContent {
    return this.#servers.get(serverName)?.content ?? {};
  }

  /** Servers that are known to have resources, in order. */
  resourceServers(): readonly ServerConfig[] {
    const servers = [...this.#servers.values()].filter(({ hasResources }) => hasResources);
    return servers.map(({ config }) => config);
  }

  tools(serverName: string): readonly CatalogTool[] {
    return this.#servers.get(serverName)?.tools ?? [];
  }

  /** What is wrong with the server's list, and what of it could be taken for something else. */
  problems(serverName: string): readonly CatalogProblem[] {
    const own = this.#servers.get(serverName)?.problems ?? [];
    return [...own, ...this.#confusions.problems(serverName)];
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
    const named = [...this.#servers.values()].filter(
      ({ config }) => !this.#unnamed.has(config.name),
    );
    const entries = named.flatMap(({ config, tools }) =>
      [...tools, ...added.filter(({ serverName }) => serverName === config.name)].map((tool) => ({
        tool,
        config,
      })),
    );
    const usersOwn = named
      .filter(({ config }) => !isOfProject(config.provenance))
      .flatMap(({ config }) => startOfNames(config, config.naming ?? naming) ?? []);
    const { names, warnings } = assignPublicNames(
      entries.map(({ tool, config }) => ({
        server: tool.serverName,
        tool: tool.originalName,
        naming: config.naming ?? naming,
        prefix: config.toolPrefix,
        isOfProject: isOfProject(config.provenance),
      })),
      { reserved, usersOwn },
    );
    const tools = entries.map(({ tool }, index) => ({ name: names[index] as string, tool }));
    const problems = nameProblems(
      warnings,
      entries.map(({ tool }) => tool),
    );
    const byName = new Map(tools.map((entry) => [entry.name, entry]));
    const servers = [...groupByServer(tools)].map(([serverName, own]) => ({
      serverName,
      tools: own,
      catalogTools: own.map(({ tool }) => tool),
    }));
    return { tools, servers, byName, byOrigin: originLookup(tools), problems };
  }

  /** Problems of names that no session has been given before: whoever takes them tells them. */
  takeNameNews({ problems }: NamedCatalog): readonly NameProblem[] {
    return this.#nameNews.take(problems);
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
        problems.push(
          catalogProblem(config.name, tool.name, "listed twice; only the first is used"),
        );
      else unique.set(tool.name, tool);
      if (tool.refusal !== undefined)
        problems.push(catalogProblem(config.name, tool.name, tool.refusal));
    }
    const { kept, warnings } = filterTools([...unique.values()], config);
    problems.push(...warnings.map((text) => catalogProblem(config.name, null, text)));
    const tools = kept.map((tool) => catalogTool(tool, config, isLive));
    const { hasResources = false, content = {} } = this.#servers.get(config.name) ?? {};
    this.#servers.set(config.name, {
      config,
      hasResources,
      content,
      isKnown: true,
      tools,
      problems,
    });
    this.#confuse(config.name, tools);
    this.#named.clear();
  }

  #confuse(serverName: string, tools: readonly CatalogTool[]): void {
    this.#confusions.enter(serverName, this.#unnamed.has(serverName) ? [] : tools);
  }
}

function groupByServer(tools: readonly NamedTool[]): Map<string, NamedTool[]> {
  const servers = new Map<string, NamedTool[]>();
  for (const named of tools) {
    const own = servers.get(named.tool.serverName);
    if (own === undefined) servers.set(named.tool.serverName, [named]);
    else own.push(named);
  }
  return servers;
}

/** The map is built at the first lookup: many sessions use public names only. */
function originLookup(tools: readonly NamedTool[]): NamedCatalog["byOrigin"] {
  let servers: Map<string, Map<string, NamedTool>> | undefined;
  return ({ server, tool }) => {
    if (servers === undefined) {
      servers = new Map();
      for (const entry of tools) {
        const { serverName, originalName } = entry.tool;
        const own = servers.get(serverName) ?? new Map<string, NamedTool>();
        servers.set(serverName, own.set(originalName, entry));
      }
    }
    return servers.get(server)?.get(tool);
  };
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
    inputSchema: isJsonObject(tool.inputSchema) ? tool.inputSchema : {},
    outputSchema: isJsonObject(tool.outputSchema) ? tool.outputSchema : undefined,
    annotations: tool.annotations ?? {},
    icons: tool.icons,
    meta: tool._meta,
    refusal: tool.refusal,
    isLive,
    listed: tool,
  });
}
