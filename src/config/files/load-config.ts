import { existsSync, realpathSync } from "node:fs";
import path from "node:path";

import { checkArguments, listOf, object, optional, text } from "../../errors/check-arguments.ts";
import type { ConfigProblem } from "../keys/config-problem.ts";
import { parseConfig, type ParsedConfig } from "../parse/parse-config.ts";
import type { ParseConfigOptions } from "../parse/parse-entry.ts";
import {
  baseDirOf,
  type ConfigFileCandidate,
  configFileCandidates,
  isOtherHostsFile,
  type UserFolderOptions,
} from "./config-files.ts";
import { findForeignAccess } from "./foreign-access.ts";
import { mergeLayers, type MergedConfig } from "./merge-layers.ts";
import { maxConfigEntries, maxConfigValues, readConfigFile } from "./read-config-file.ts";

export interface LoadConfigOptions
  extends UserFolderOptions, Pick<ParseConfigOptions, "strict" | "naming"> {
  readonly cwd: string;
  /** The number of folders above `cwd` to search; 2 by default, 10 at most. */
  readonly ancestorDepth?: number;
  /**
   * The files to read, nearest first; nothing else is searched. The caller has chosen them, so their
   * entries count as the user's own, and a missing file is an error.
   */
  readonly files?: readonly string[];
}

export interface LookedAt extends ConfigFileCandidate {
  readonly isFound: boolean;
  /** True when the file exists and cannot be read. */
  readonly isBroken: boolean;
}

export interface LoadedConfig extends MergedConfig {
  /** Every path that was searched, nearest first. */
  readonly files: readonly LookedAt[];
}

/** Reads the configuration files that apply in `cwd`. Starts nothing and never throws. */
export async function loadConfig(options: LoadConfigOptions): Promise<LoadedConfig> {
  const members = { cwd: text, home: optional(text), files: optional(listOf(text)) };
  checkArguments("loadConfig", { options: { ...object, members } }, [options], "config_invalid");
  const named = options.files?.map((file) => path.resolve(options.cwd, file));
  const candidates =
    named?.map((file) => ({ path: file, layer: "user" as const })) ??
    withoutAliasesOfUserFiles(configFileCandidates(options));
  const layers = await Promise.all(
    candidates.map(async (candidate) => ({
      candidate,
      ...(await loadLayer(candidate, options, named !== undefined)),
    })),
  );
  const merged = mergeLayers(layers.map((layer) => layer.servers));
  return {
    servers: merged.servers,
    shadowed: merged.shadowed,
    problems: [...layers.flatMap((layer) => layer.problems), ...merged.problems],
    files: layers.map(({ candidate, isFound, isBroken }) => ({ ...candidate, isFound, isBroken })),
  };
}

async function loadLayer(
  candidate: ConfigFileCandidate,
  options: LoadConfigOptions,
  isRequired: boolean,
): Promise<ParsedConfig & Pick<LookedAt, "isFound" | "isBroken">> {
  const { path: file, layer } = candidate;
  const read = await readConfigFile(file, layer, { maxValues: maxConfigValues });
  if (read.status === "missing") {
    const problems = isRequired ? [problemOf(candidate, "there is no such file")] : [];
    return { servers: [], problems, isFound: false, isBroken: false };
  }
  if (read.status === "failed")
    return { servers: [], problems: [read.problem], isFound: true, isBroken: true };
  // Entries of the user's own file need no approval, so no other user may be able to write it.
  const foreign = layer === "user" && !isRequired ? findForeignAccess(file) : undefined;
  if (foreign !== undefined) {
    const problem = problemOf(candidate, foreign);
    return { servers: [], problems: [problem], isFound: true, isBroken: true };
  }
  const { strict, naming } = options;
  const parsed = parseConfig(read.value, {
    provenance: { layer, path: file },
    baseDir: baseDirOf(file),
    locate: read.locate,
    maxEntries: maxConfigEntries,
    isOfOtherHost: isOtherHostsFile(file),
    ...(strict === undefined ? {} : { strict }),
    ...(naming === undefined ? {} : { naming }),
  });
  const problems = [...read.problems, ...parsed.problems];
  return { ...parsed, problems, isFound: true, isBroken: false };
}

function problemOf({ path: file, layer }: ConfigFileCandidate, message: string): ConfigProblem {
  return { severity: "error", code: "config_invalid", message, path: file, layer };
}

/**
 * Removes candidates of other layers that are the user's own file by another path, such as a link in a
 * project.
 */
function withoutAliasesOfUserFiles(
  candidates: readonly ConfigFileCandidate[],
): readonly ConfigFileCandidate[] {
  const targets = candidates.map((candidate) => ({ candidate, target: targetOf(candidate.path) }));
  const userTargets = new Set(
    targets.filter(({ candidate }) => candidate.layer === "user").map(({ target }) => target),
  );
  return targets
    .filter(({ candidate, target }) => candidate.layer === "user" || !userTargets.has(target))
    .map(({ candidate }) => candidate);
}

/** The file that a path leads to; the path itself where there is none. */
function targetOf(file: string): string {
  // Most of the files that are looked for are missing, and an error takes longer than to look.
  if (!existsSync(file)) return file;
  try {
    return realpathSync.native(file);
  } catch {
    return file;
  }
}
