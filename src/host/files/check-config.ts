import type { LookedAt } from "../../config/files/load-config.ts";
import { type ConfigProblem, entryProblem } from "../../config/keys/config-problem.ts";
import { isOfProject, type ServerConfig } from "../../config/keys/server-config.ts";
import { toJson } from "../../config/parse/to-json.ts";
import { foreignReferences, unsetVariables } from "../../config/variables/reference-uses.ts";
import type { ConfigCheck } from "../host.ts";
import { findSecrets } from "./entry-secrets.ts";

/** What was read of all places where servers are defined. */
interface ReadServers {
  readonly servers: readonly ServerConfig[];
  /** The farther entries of each name, nearest first. */
  readonly shadowed: ReadonlyMap<string, readonly ServerConfig[]>;
  readonly files: readonly LookedAt[];
}

/** Says what is wrong with what was read, and what would keep a server from starting. */
export function checkConfig(
  { servers, shadowed, files }: ReadServers,
  problems: readonly ConfigProblem[],
  env: Readonly<Record<string, string | undefined>>,
): ConfigCheck {
  const all = [...servers, ...[...shadowed.values()].flat()];
  return {
    files: files.map(({ path, layer, isFound, isBroken }) => ({
      path,
      layer,
      status: isBroken ? "broken" : isFound ? "read" : "missing",
      servers: all.filter(({ provenance }) => provenance.path === path).length,
    })),
    problems: [
      ...problems,
      ...all.flatMap(secretProblems),
      ...servers.flatMap((config) => startProblems(config, env)),
    ],
    shadowed: servers.flatMap(({ name, provenance }) => {
      const farther = shadowed.get(name) ?? [];
      if (farther.length === 0) return [];
      return { name, by: provenance, entries: farther.map((config) => config.provenance) };
    }),
    servers: servers.length,
    stored: all.filter(({ provenance }) => provenance.layer === "store").length,
  };
}

/** A server that is switched off needs nothing. */
function startProblems(
  config: ServerConfig,
  env: Readonly<Record<string, string | undefined>>,
): readonly ConfigProblem[] {
  if (!config.enabled) return [];
  const unset = unsetVariables(config, env).map(({ variable, field }) =>
    entryProblem(config, {
      severity: "warning",
      code: "variable_unset",
      message: `"${field}" needs \${${variable}}, which is not set`,
      field,
    }),
  );
  const foreign = foreignReferences(config).map(({ kind, field }) =>
    entryProblem(config, {
      severity: "warning",
      code: "config_invalid",
      message: `"${field}" holds "\${${kind}:…}", which only another program can replace`,
      field,
    }),
  );
  return [...unset, ...foreign];
}

/** Others read the files of a project, and its history keeps what was taken out of them. */
function secretProblems(config: ServerConfig): readonly ConfigProblem[] {
  if (!isOfProject(config.provenance)) return [];
  const { name: _name, ...entry } = toJson(config, { secrets: "keep" });
  return findSecrets(entry).map(({ path, variable }) => {
    const field = path.join(".");
    const message = `"${field}" looks like a secret, and everybody with the project reads it: write \${${variable}}`;
    return entryProblem(config, { severity: "warning", code: "config_invalid", message, field });
  });
}
