import type { ServerConfig } from "../config/keys/server-config.ts";
import type { ListedTool, ToolListing } from "../protocol/protocol-client.ts";
import { isJsonObject } from "../text/json-object.ts";
import { truncate } from "../text/truncate.ts";
import { CatalogNames, type NamedCatalog } from "./catalog-names.ts";
import { type CatalogProblem, catalogProblem } from "./catalog-problem.ts";
import type { CatalogTool } from "./catalog-tool.ts";
import { NameNews, type NameProblem } from "./name-problems.ts";
import type { KnownContent } from "./server-content.ts";
import { ToolConfusions } from "./tool-confusions.ts";
import { filterTools } from "./tool-filter.ts";
import type { Naming } from "./tool-names.ts";

/** What a session has beside the tools of the catalog. */
export interface NamingSurroundings {
  /** Adds tools of the host itself to those of servers that have resources. */
  readonly extras?: ExtraTools | undefined;
  /** Names that no tool of a server may take. */
  readonly reserved: ReadonlySet<string>;
}

/** Tools the host itself offers for a server, named like the server's own. */
export interface ExtraTools {
  /** The tools with what is added to them; the same list again for the same list. */
  extend(serverName: string, tools: readonly CatalogTool[]): readonly CatalogTool[];
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
  /** What each of the tools was made from. */
  readonly listed: readonly ListedTool[];
  readonly problems: readonly CatalogProblem[];
}

/**
 * The tools of all servers. Only what passes a server's filter enters, so a filtered tool cannot be
 * called even by its exact name; calls are routed by the maps built here, never by splitting a name.
 */
export class ToolCatalog {
  readonly #servers = new Map<string, ServerTools>();
  /** By what is added to the tools, by naming; a function that nobody holds any more names nothing. */
  readonly #tables = new WeakMap<object, NamingTables>();
  /** Counts the changes that names could depend on. */
  #version = 0;
  /** The tables of presets, with what is added to their tools: few, and asked for again and again. */
  readonly #presets: { readonly naming: Naming; readonly extras: ExtraTools | undefined }[] = [];
  /** How many tools have come since names were last prepared. */
  #unprepared = 0;
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
      listed: [],
      problems: [],
    });
    this.#confusions.enter(config.name, []);
    this.#version += 1;
  }

  /** Makes these the servers, in this order; what is known of those in `kept` stays. */
  arrange(configs: readonly ServerConfig[], kept: ReadonlySet<string>): void {
    const before = new Map(this.#servers);
    this.#servers.clear();
    for (const config of configs) {
      const known = kept.has(config.name) ? before.get(config.name) : undefined;
      before.delete(config.name);
      if (known === undefined) this.declare(config);
      else this.#servers.set(config.name, known.config === config ? known : { ...known, config });
    }
    for (const name of before.keys()) this.#confusions.leave(name);
    this.#version += 1;
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
    this.#version += 1;
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
    this.#servers.set(serverName, {
      ...known,
      isKnown: false,
      tools: [],
      listed: [],
      problems: [],
    });
    this.#confusions.enter(serverName, []);
    this.#version += 1;
  }

  noteResources(serverName: string, hasResources: boolean): void {
    const known = this.#servers.get(serverName);
    if (known === undefined || known.hasResources === hasResources) return;
    this.#servers.set(serverName, { ...known, hasResources });
    this.#version += 1;
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

  tools(serverName: string): readonly CatalogTool[] {
    return this.#servers.get(serverName)?.tools ?? [];
  }

  /** The tools as the server listed them, in the same order. */
  listed(serverName: string): readonly ListedTool[] {
    return this.#servers.get(serverName)?.listed ?? [];
  }

  /** Looks for confusions in advance, as long as `isTime`; false when something is left, which `problems` looks at. */
  examine(isTime: () => boolean): boolean {
    return this.#confusions.examine(isTime);
  }

  /** What is wrong with the server's list, and what of it could be taken for something else. */
  problems(serverName: string): readonly CatalogProblem[] {
    const own = this.#servers.get(serverName)?.problems;
    const confusing = this.#confusions.problems(serverName);
    return own === undefined || own.length === 0 ? confusing : [...own, ...confusing];
  }

  /** Whether the server's list has been seen, live or registered. */
  isKnown(serverName: string): boolean {
    return this.#servers.get(serverName)?.isKnown ?? false;
  }

  /** The catalog under one naming, shared by all sessions that name tools alike and reserve no name of theirs. */
  named(naming: Naming, extras?: ExtraTools): NamedCatalog {
    return this.namedBeside(this.#tableOf(naming, extras), { extras, reserved: noNames });
  }

  /** Notes that names will be asked for, so that `prepareNames` makes them in advance. */
  expectNames(naming: Naming, extras?: ExtraTools): void {
    this.#tableOf(naming, extras);
  }

  /**
   * Makes the expected names when many tools have come since the last time. Called between lists that arrive, so
   * that whoever asks first does not have to wait until the tools of a thousand servers are named.
   */
  prepareNames(): void {
    if (this.#unprepared < preparedTogether) return;
    this.#unprepared = 0;
    for (const { naming, extras } of this.#presets) this.named(naming, extras);
  }

  /** Whether so many tools are known that to name and judge them is worth doing in advance. */
  get isLarge(): boolean {
    let count = 0;
    for (const { tools } of this.#servers.values()) count += tools.length;
    return count >= preparedTogether;
  }

  /** Names for one session that reserves some, for `namedBeside`. */
  createNames(naming: Naming): CatalogNames {
    return new CatalogNames(naming);
  }

  /** The catalog under these names, which follow what has changed since they were last asked for. */
  namedBeside(table: CatalogNames, { extras, reserved }: NamingSurroundings): NamedCatalog {
    return table.follow(this.#version, reserved, () =>
      [...this.#servers.values()]
        .filter(({ config }) => !this.#unnamed.has(config.name))
        .map(({ config, tools, hasResources }) => ({
          config,
          tools: hasResources && extras !== undefined ? extras.extend(config.name, tools) : tools,
        })),
    );
  }

  /** Problems of names that no session has been given before: whoever takes them tells them. */
  takeNameNews({ problems }: NamedCatalog): readonly NameProblem[] {
    return this.#nameNews.take(problems);
  }

  #tableOf(naming: Naming, extras: ExtraTools | undefined): CatalogNames {
    const tables = this.#tablesOf(extras);
    const known = tables.get(naming);
    if (known !== undefined) return known;
    const table = this.createNames(naming);
    tables.set(naming, table);
    if (typeof naming === "string") this.#presets.push({ naming, extras });
    return table;
  }

  #tablesOf(extras: ExtraTools | undefined): NamingTables {
    const key = extras ?? this;
    const known = this.#tables.get(key) ?? new NamingTables();
    this.#tables.set(key, known);
    return known;
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
      listed: kept,
      problems,
    });
    this.#confuse(config.name, tools);
    this.#version += 1;
    this.#unprepared += tools.length;
  }

  #confuse(serverName: string, tools: readonly CatalogTool[]): void {
    this.#confusions.enter(serverName, this.#unnamed.has(serverName) ? [] : tools);
  }
}

const noNames: ReadonlySet<string> = new Set();
/** So many tools are named in a few milliseconds. */
const preparedTogether = 500;

/** Names by naming. A function is forgotten with the sessions that brought it. */
class NamingTables {
  readonly #presets = new Map<string, CatalogNames>();
  readonly #functions = new WeakMap<Exclude<Naming, string>, CatalogNames>();

  get(naming: Naming): CatalogNames | undefined {
    return typeof naming === "string" ? this.#presets.get(naming) : this.#functions.get(naming);
  }

  set(naming: Naming, table: CatalogNames): void {
    if (typeof naming === "string") this.#presets.set(naming, table);
    else this.#functions.set(naming, table);
  }
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
