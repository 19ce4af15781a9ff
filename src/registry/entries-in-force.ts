import { isOfProject, type ServerConfig } from "../config/keys/server-config.ts";

export interface ChosenEntries {
  /** One of each name, in the order of the names. */
  readonly inForce: readonly ServerConfig[];
  /** By name: the nearest entry, where it is not in force because nobody has approved it. */
  readonly waiting: ReadonlyMap<string, ServerConfig>;
}

/**
 * Chooses among several entries of one name, nearest first. The nearest counts, but one of a project
 * replaces none before a person has approved it; one that only switches the server off needs no approval.
 */
export function chooseEntries(
  entries: readonly ServerConfig[],
  isApproved: (config: ServerConfig) => boolean,
): ChosenEntries {
  const mayReplace = (config: ServerConfig): boolean =>
    !config.enabled || !isOfProject(config.provenance) || isApproved(config);
  const inForce: ServerConfig[] = [];
  const waiting = new Map<string, ServerConfig>();
  for (const [name, [nearest, ...farther]] of byName(entries)) {
    const isAlone = farther.length === 0 || mayReplace(nearest);
    const chosen = isAlone ? nearest : (farther.find(mayReplace) ?? nearest);
    inForce.push(chosen);
    if (chosen !== nearest) waiting.set(name, nearest);
  }
  return { inForce, waiting };
}

type Group = [nearest: ServerConfig, ...farther: ServerConfig[]];

function byName(entries: readonly ServerConfig[]): ReadonlyMap<string, Group> {
  const groups = new Map<string, Group>();
  for (const config of entries) {
    const group = groups.get(config.name);
    if (group === undefined) groups.set(config.name, [config]);
    else group.push(config);
  }
  return groups;
}
