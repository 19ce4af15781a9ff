import { slug } from "../../text/slug.ts";
import { quoteName } from "../keys/check-value.ts";
import { type ConfigProblem, entryProblem, formatOrigin } from "../keys/config-problem.ts";
import { isOfProject, type ServerConfig } from "../keys/server-config.ts";

/**
 * Keeps the servers that can coexist. Two that share a name, an id or a tool prefix cannot: the user's
 * server wins over a project's, else the first wins; the other is reported with both origins. A project may
 * use the prefix of a user's server, because the user's server keeps its public names.
 */
export function keepUnique(configs: readonly ServerConfig[]): {
  readonly servers: readonly ServerConfig[];
  readonly problems: readonly ConfigProblem[];
} {
  const owners = new Map<string, ServerConfig>();
  const kept = new Set<ServerConfig>();
  const problems: ConfigProblem[] = [];
  const ofUser = configs.filter(({ provenance }) => !isOfProject(provenance));
  const ofProject = configs.filter(({ provenance }) => isOfProject(provenance));
  for (const config of [...ofUser, ...ofProject]) {
    const claims = claimsOf(config);
    const clash = claims.find((claim) => owners.has(claim.key));
    const owner = clash === undefined ? undefined : owners.get(clash.key);
    if (clash !== undefined && owner !== undefined) {
      problems.push(clashProblem(config, owner, clash.what));
      continue;
    }
    kept.add(config);
    for (const claim of claims) owners.set(claim.key, config);
  }
  return { servers: configs.filter((config) => kept.has(config)), problems };
}

function claimsOf(
  config: ServerConfig,
): readonly { readonly key: string; readonly what: string }[] {
  const prefix = config.toolPrefix ?? config.name;
  return [
    { key: `name:${config.name}`, what: `the name ${quoteName(config.name)}` },
    { key: `id:${config.id}`, what: `the id "${config.id}"` },
    {
      key: `prefix of ${isOfProject(config.provenance) ? "project" : "user"}:${slug(prefix) || prefix}`,
      what: `the tool prefix ${quoteName(prefix)}`,
    },
  ];
}

function clashProblem(config: ServerConfig, owner: ServerConfig, what: string): ConfigProblem {
  const origins = `here (${formatOrigin(config.provenance)}) and by ${quoteName(owner.name)} (${formatOrigin(owner.provenance)})`;
  const message = `${what} is used twice: ${origins}; the latter is kept`;
  return entryProblem(config, { severity: "error", code: "config_invalid", message });
}
