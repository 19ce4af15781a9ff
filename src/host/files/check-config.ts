import type { LookedAt } from "../../config/files/load-config.ts";
import { type ConfigProblem, entryProblem } from "../../config/keys/config-problem.ts";
import { isOfProject, type ServerConfig } from "../../config/keys/server-config.ts";
import { toJson } from "../../config/parse/to-json.ts";
import { foreignReferences, unsetVariables } from "../../config/variables/reference-uses.ts";
import { howToStore } from "../../config/variables/secret-names.ts";
import type { ConfigCheck } from "../host.ts";
import { findSecrets } from "./entry-secrets.ts";

/** What was read of all places where servers are defined. */
interface ReadServers {
  readonly servers: readonly ServerConfig[];
  /** The farther entries of each name, nearest first. */
  readonly shadowed: ReadonlyMap<string, readonly ServerConfig[]>;
  readonly files: readonly LookedAt[];
}

/** What the references of entries stand for. */
interface Known {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Lists the secrets that a start of the server would not find. */
  readonly missingSecrets: (
    config: ServerConfig,
  ) => Promise<readonly { readonly name: string; readonly field: string }[]>;
}

/** Says what is wrong with what was read, and what would keep a server from starting. */
export async function checkConfig(
  { servers, shadowed, files }: ReadServers,
  problems: readonly ConfigProblem[],
  known: Known,
): Promise<ConfigCheck> {
  const atStart = await Promise.all(servers.map((config) => startProblems(config, known)));
  const all = [...servers, ...[...shadowed.values()].flat()];
  return {
    files: files.map(({ path, layer, isFound, isBroken }) => ({
      path,
      layer,
      status: isBroken ? "broken" : isFound ? "read" : "missing",
      servers: all.filter(({ provenance }) => provenance.path === path).length,
    })),
    problems: [...problems, ...all.flatMap(secretProblems), ...atStart.flat()],
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
async function startProblems(
  config: ServerConfig,
  { env, missingSecrets }: Known,
): Promise<readonly ConfigProblem[]> {
  if (!config.enabled) return [];
  const missing = (await missingSecrets(config)).map(({ name, field }) =>
    entryProblem(config, {
      severity: "warning",
      code: "variable_unset",
      message: `"${field}" needs \${secret:${name}}, which is not stored; ${howToStore(name, config.name, field)}`,
      field,
    }),
  );
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
  return [...unset, ...missing, ...foreign];
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
