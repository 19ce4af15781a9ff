import { homedir } from "node:os";

import type { Transport } from "@modelcontextprotocol/client";

import type { ConfigProblem } from "../config/config-problem.ts";
import { loadConfig, type LookedAt } from "../config/load-config.ts";
import { mergeLayers } from "../config/merge-layers.ts";
import { parseServerEntry, parseServers } from "../config/parse-config.ts";
import type { ServerConfig } from "../config/server-config.ts";
import { adoptedConfig, isTransport } from "../transport/adopt-transport.ts";
import { bundledServer } from "./bundled-server.ts";
import type { HostOptions, ServerInput } from "./host.ts";

/** All servers of all sources, nearest first, and what has to be known to open those given as objects. */
export interface CollectedServers {
  readonly servers: readonly ServerConfig[];
  readonly shadowed: ReadonlyMap<string, readonly ServerConfig[]>;
  readonly problems: readonly ConfigProblem[];
  readonly transports: ReadonlyMap<string, () => Transport>;
  /** Every configuration file that was looked for, found or not. */
  readonly files: readonly Pick<LookedAt, "path" | "isBroken">[];
}

/** Throws for servers given in code that are wrong; what is wrong in files is a problem in the result. */
export async function collectServers(options: HostOptions): Promise<CollectedServers> {
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
          // A home that the program chose is not overruled by PLUGBOARD_HOME.
          env: options.home === undefined ? (options.env ?? process.env) : {},
          ...(options.configFiles === undefined ? {} : { files: options.configFiles }),
        });
  const demo = options.demo === true ? [demoServer()] : [];
  const merged = mergeLayers([code.servers, loaded.servers, demo]);
  return {
    servers: merged.servers,
    shadowed: new Map([...loaded.shadowed, ...merged.shadowed]),
    problems: [...loaded.problems, ...merged.problems],
    transports: code.transports,
    files: loaded.files,
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

function transportOpener(server: ServerInput): (() => Transport) | undefined {
  if (typeof server === "function") return server;
  return isTransport(server) ? () => server : undefined;
}

/** The bundled server everyone can try: a child process like any other, with claims we wrote ourselves. */
function demoServer(): ServerConfig {
  const entry = { ...bundledServer("demo"), skipReadOnlyPrompts: true };
  return parseServerEntry("demo", entry, { provenance: { layer: "demo" } });
}
