import { isOfProject, type ServerConfig } from "../config/keys/server-config.ts";
import type { CatalogTool } from "./catalog-tool.ts";
import { type NameProblem, nameProblems } from "./name-problems.ts";
import { nameCandidate, type NamedCandidate, PublicNames } from "./public-names.ts";
import { type Naming, startOfNames } from "./tool-names.ts";
import type { ToolOrigin } from "./tool-origin.ts";

/** The catalog under one naming, in server order. It is what it says until the catalog changes. */
export interface NamedCatalog {
  readonly tools: readonly NamedTool[];
  /** The same by server; the object of a server stays the same until its tools or their names change. */
  readonly servers: readonly NamedServer[];
  readonly byName: ReadonlyMap<string, NamedTool>;
  readonly byOrigin: (origin: ToolOrigin) => NamedTool | undefined;
  /** Names that had to be changed, and names that are easily mistaken for others. */
  readonly problems: readonly NameProblem[];
  /** Whether a native tool of this name would change nothing here. */
  readonly isFree: (native: string) => boolean;
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

/** A server whose tools are to be named; two of the same config and list are named alike. */
export interface NamingSource {
  readonly config: ServerConfig;
  readonly tools: readonly CatalogTool[];
}

interface ServerNames {
  readonly source: NamingSource;
  readonly place: { order: number };
  readonly candidates: readonly NamedCandidate[];
  /** What names of the server begin with, where the user wrote it. */
  readonly start: string | undefined;
  named: NamedServer;
  byTool: ReadonlyMap<string, NamedTool> | undefined;
}

/** The public names of all tools under one naming; a change of the catalog costs the tools of the servers changed. */
export class CatalogNames {
  readonly #naming: Naming;
  readonly #names = new PublicNames();
  #servers: ReadonlyMap<string, ServerNames> = new Map();
  readonly #byName = new Map<string, NamedTool>();
  #version = -1;
  #reservedCount = 0;
  #current: NamedCatalog | undefined;

  constructor(naming: Naming) {
    this.#naming = naming;
  }

  /** Follows the catalog, whose sources are asked for when its version is another; `reserved` only ever grows. */
  follow(
    version: number,
    reserved: ReadonlySet<string>,
    sources: () => readonly NamingSource[],
  ): NamedCatalog {
    if (
      this.#current !== undefined &&
      this.#version === version &&
      this.#reservedCount === reserved.size
    )
      return this.#current;
    this.#current = this.#settle(sources(), reserved);
    this.#version = version;
    this.#reservedCount = reserved.size;
    return this.#current;
  }

  #settle(sources: readonly NamingSource[], reserved: ReadonlySet<string>): NamedCatalog {
    const before = new Map(this.#servers);
    const servers = new Map<string, ServerNames>();
    for (const [order, source] of sources.entries()) {
      const { name } = source.config;
      const known = before.get(name);
      const isKnown = known?.source.config === source.config && known.source.tools === source.tools;
      const own = isKnown ? known : this.#enter(source);
      own.place.order = order;
      servers.set(name, own);
      if (isKnown) before.delete(name);
    }
    // Names of those that left are free before anybody else's are decided.
    for (const { candidates } of before.values()) this.#leave(candidates);
    this.#servers = servers;
    const starts = [...servers.values()].flatMap(({ start }) => start ?? []);
    this.#names.setUsersOwn(starts);
    const { renamed, warnings } = this.#names.settle(reserved);
    this.#rename(renamed);
    return describe(servers, this.#byName, this.#names, nameProblems(warnings));
  }

  #enter(source: NamingSource): ServerNames {
    const { config, tools } = source;
    const naming = config.naming ?? this.#naming;
    const isProject = isOfProject(config.provenance);
    const place = { order: 0 };
    const candidates = tools.map((tool, index) =>
      nameCandidate(
        {
          server: tool.serverName,
          tool: tool.originalName,
          naming,
          prefix: config.toolPrefix,
          isOfProject: isProject,
        },
        place,
        index,
      ),
    );
    for (const candidate of candidates) this.#names.add(candidate);
    const named = { serverName: config.name, tools: [], catalogTools: tools };
    const start = isProject ? undefined : startOfNames(config, naming);
    return { source, place, candidates, start, named, byTool: undefined };
  }

  #leave(candidates: readonly NamedCandidate[]): void {
    for (const candidate of candidates) {
      this.#names.remove(candidate);
      this.#byName.delete(candidate.name);
    }
  }

  #rename(renamed: readonly NamedCandidate[]): void {
    const changed = new Set(
      renamed.flatMap(({ origin }) => this.#servers.get(origin.server) ?? []),
    );
    // A name may go from one tool to another: all old ones are gone before the first new one is entered.
    for (const { named } of changed) for (const { name } of named.tools) this.#byName.delete(name);
    for (const own of changed) {
      const { config, tools } = own.source;
      const known = new Map(own.named.tools.map((one) => [one.name, one]));
      const namedTools = tools.map((tool, index) => {
        const { name } = own.candidates[index] as NamedCandidate;
        const before = known.get(name);
        return before?.tool === tool ? before : { name, tool };
      });
      own.named = { serverName: config.name, tools: namedTools, catalogTools: tools };
      own.byTool = undefined;
      for (const one of namedTools) this.#byName.set(one.name, one);
    }
  }
}

function describe(
  servers: ReadonlyMap<string, ServerNames>,
  byName: ReadonlyMap<string, NamedTool>,
  names: PublicNames,
  problems: readonly NameProblem[],
): NamedCatalog {
  const named = [...servers.values()].map((own) => own.named);
  let tools: readonly NamedTool[] | undefined;
  return {
    /** Made when it is asked for: sessions go through the servers. */
    get tools() {
      tools ??= named.flatMap((server) => server.tools);
      return tools;
    },
    servers: named,
    byName,
    byOrigin: ({ server, tool }) => {
      const own = servers.get(server);
      if (own === undefined) return undefined;
      own.byTool ??= new Map(own.named.tools.map((one) => [one.tool.originalName, one]));
      return own.byTool.get(tool);
    },
    problems,
    isFree: (native) => names.isFree(native),
  };
}
