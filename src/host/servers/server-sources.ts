import { homedir } from "node:os";

import type { Transport } from "@modelcontextprotocol/client";

import { loadConfig, type LookedAt } from "../../config/files/load-config.ts";
import { mergeLayers } from "../../config/files/merge-layers.ts";
import type { ConfigProblem } from "../../config/keys/config-problem.ts";
import type { ServerConfig } from "../../config/keys/server-config.ts";
import {
  parseConfig,
  type ParsedConfig,
  parseServerEntry,
  parseServers,
} from "../../config/parse/parse-config.ts";
import { McpError } from "../../errors/mcp-error.ts";
import type { HostStore } from "../../store/host-store.ts";
import { adoptedConfig, isTransport } from "../../transport/adopt-transport.ts";
import type { HostOptions, ServerInput } from "../host.ts";
import { ownEnvironment } from "../own-files.ts";
import type { ClearRows } from "../secrets/clear-rows.ts";
import { bundledServer } from "./bundled-server.ts";

/** The servers of all sources, nearest first, and how those given as objects are opened. */
export interface CollectedServers {
  readonly servers: readonly ServerConfig[];
  /** The farther entries of each name, nearest first. */
  readonly shadowed: ReadonlyMap<string, readonly ServerConfig[]>;
  readonly problems: readonly ConfigProblem[];
  readonly transports: ReadonlyMap<string, () => Transport>;
  /** The configuration files that were looked for, found or not. */
  readonly files: readonly LookedAt[];
  readonly isStoreBroken: boolean;
}

/** Where the servers of a host are defined: code, files, the store, the demo. */
export class ServerSources {
  readonly #options: HostOptions;
  readonly #store: HostStore;
  readonly #clearRows: ClearRows;
  #current: CollectedServers;

  private constructor(
    options: HostOptions,
    store: HostStore,
    clearRows: ClearRows,
    current: CollectedServers,
  ) {
    this.#options = options;
    this.#store = store;
    this.#clearRows = clearRows;
    this.#current = current;
  }

  /** Reads all sources for the first time. Rejects for servers given in code that are wrong. */
  static async open(
    options: HostOptions,
    store: HostStore,
    clearRows: ClearRows,
  ): Promise<ServerSources> {
    const current = await collectServers(options, store, clearRows);
    return new ServerSources(options, store, clearRows, current);
  }

  /** The last reading that is in force. */
  get current(): CollectedServers {
    return this.#current;
  }

  /** Reads all sources again. The result is in force when it is given to `use`. */
  read(): Promise<CollectedServers> {
    return collectServers(this.#options, this.#store, this.#clearRows);
  }

  use(collected: CollectedServers): void {
    this.#current = collected;
  }
}

/** Throws for a wrong server given in code; errors in files, and of the store, are problems in the result. */
async function collectServers(
  options: HostOptions,
  store: HostStore,
  clearRows: ClearRows,
): Promise<CollectedServers> {
  const cwd = options.cwd ?? process.cwd();
  const code = serversInCode(options.servers ?? {}, cwd);
  const loaded =
    options.config === false
      ? {
          servers: [],
          shadowed: new Map<string, readonly ServerConfig[]>(),
          problems: [],
          files: [],
        }
      : await loadConfig({
          cwd,
          home: options.home ?? homedir(),
          env: ownEnvironment(options),
          ...(options.configFiles === undefined ? {} : { files: options.configFiles }),
        });
  const stored = await storedServers(store, clearRows);
  const shadowedInFiles = [...loaded.shadowed.values()].flat();
  const layers = [code.servers, loaded.servers, shadowedInFiles, stored.servers];
  const problems = [
    ...loaded.problems,
    ...stored.problems,
    ...(store.problem === undefined ? [] : [store.problem]),
  ];
  const isDemo =
    options.demo === "unconfigured"
      ? layers.every((servers) => servers.length === 0) && problems.every(isOfEmptyStore)
      : options.demo === true;
  const merged = mergeLayers([...layers, isDemo ? [demoServer()] : []]);
  return {
    servers: merged.servers,
    shadowed: merged.shadowed,
    problems: [...loaded.problems, ...stored.problems, ...merged.problems],
    transports: code.transports,
    files: loaded.files,
    isStoreBroken: stored.isBroken,
  };
}

interface ServersInCode {
  readonly servers: readonly ServerConfig[];
  readonly transports: ReadonlyMap<string, () => Transport>;
}

function serversInCode(input: NonNullable<HostOptions["servers"]>, cwd: string): ServersInCode {
  const options = { provenance: { layer: "code" }, baseDir: cwd } as const;
  if (Array.isArray(input)) return { servers: parseServers(input, options), transports: new Map() };
  const transports = new Map<string, () => Transport>();
  const servers = Object.entries(input as Readonly<Record<string, ServerInput>>).map(
    ([name, server]) => {
      const open = transportOpener(server);
      if (open === undefined) return parseServerEntry(name, server, options);
      transports.set(name, open);
      return adoptedConfig(name);
    },
  );
  return { servers, transports };
}

/** Reads the servers that the page and `add` have put into the store. One that cannot be read is a problem. */
async function storedServers(
  store: HostStore,
  clearRows: ClearRows,
): Promise<ParsedConfig & { readonly isBroken: boolean }> {
  const provenance = { layer: "store" } as const;
  try {
    const found = await store.read(({ servers }) => servers.list(), []);
    const rows = await clearRows.move(found);
    const parsed = rows.map(({ name, config }) =>
      parseConfig({ servers: { [name]: config } }, { provenance }),
    );
    return {
      servers: parsed.flatMap(({ servers }) => servers),
      problems: parsed.flatMap(({ problems }) => problems),
      isBroken: false,
    };
  } catch (error) {
    if (!McpError.is(error)) throw error;
    // The store reports by itself that it cannot be opened.
    if (error === store.failure) return { servers: [], problems: [], isBroken: true };
    const { code, message } = error;
    const problem = { severity: "error", code, message, layer: "store" } as const;
    return { servers: [], problems: [problem], isBroken: true };
  }
}

function transportOpener(server: ServerInput): (() => Transport) | undefined {
  if (typeof server === "function") return server;
  return isTransport(server) ? () => server : undefined;
}

/** Whether the problem is that nothing can be kept: no server is missing because of it. */
function isOfEmptyStore({ layer, severity }: ConfigProblem): boolean {
  return layer === "store" && severity === "warning";
}

/** The bundled server everyone can try: a child process like any other, with claims we wrote ourselves. */
function demoServer(): ServerConfig {
  const entry = { ...bundledServer("demo"), skipReadOnlyPrompts: true };
  return parseServerEntry("demo", entry, { provenance: { layer: "demo" } });
}
