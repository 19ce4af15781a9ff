import type { ConfigProblem } from "../keys/config-problem.ts";
import type { ServerConfig } from "../keys/server-config.ts";
import { keepUnique } from "../parse/unique-servers.ts";

export interface MergedConfig {
  readonly servers: readonly ServerConfig[];
  /** The entries that a nearer one replaced, by name, nearest first. */
  readonly shadowed: ReadonlyMap<string, readonly ServerConfig[]>;
  readonly problems: readonly ConfigProblem[];
}

/** Merges layers, nearest first. An entry replaces a farther one of its name as a whole. */
export function mergeLayers(layers: readonly (readonly ServerConfig[])[]): MergedConfig {
  const winners = new Map<string, ServerConfig>();
  const shadowed = new Map<string, ServerConfig[]>();
  for (const config of layers.flat()) {
    if (winners.has(config.name)) {
      shadowed.set(config.name, [...(shadowed.get(config.name) ?? []), config]);
    } else winners.set(config.name, config);
  }
  const { servers, problems } = keepUnique([...winners.values()]);
  return { servers, shadowed, problems };
}
