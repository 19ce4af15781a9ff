import {
  anything,
  callback,
  checkArguments,
  flag,
  number,
  object,
  options as optionsShape,
  text,
} from "../../errors/check-arguments.ts";
import { type CheckContext, checkKeys, isRecord, type Report } from "../keys/check-value.ts";
import { type CheckedInputs, entryKeys } from "../keys/config-keys.ts";
import { type ConfigProblem, problemError } from "../keys/config-problem.ts";
import type { ServerConfig } from "../keys/server-config.ts";
import { findEntries } from "./find-entries.ts";
import {
  createReport,
  hasError,
  parseEntry,
  type ParseConfigOptions,
  unknownKeySeverity,
} from "./parse-entry.ts";
import { type EntryValues, readDefaults } from "./read-entry.ts";
import { keepUnique } from "./unique-servers.ts";

export interface ParsedConfig {
  /** The servers in the order they are written. */
  readonly servers: readonly ServerConfig[];
  readonly problems: readonly ConfigProblem[];
}

export interface ParseServersOptions extends Omit<ParseConfigOptions, "locate"> {
  readonly onWarning?: (problem: ConfigProblem) => void;
}

const shapes = {
  input: anything,
  options: optionsShape({
    provenance: object,
    baseDir: text,
    locate: callback,
    maxEntries: number,
    isOfOtherHost: flag,
    strict: flag,
    naming: text,
  }),
} as const;

/**
 * Reads a configuration in any accepted shape. No `input` makes it throw: each flaw becomes a problem, and
 * the other entries are kept. Options of a wrong type throw `config_invalid`.
 */
export function parseConfig(input: unknown, options: ParseConfigOptions = {}): ParsedConfig {
  checkArguments("parseConfig", shapes, [input, options], "config_invalid");
  const problems: ConfigProblem[] = [];
  const report = createReport(problems, options);
  const { maxEntries = Infinity } = options;
  const all = findEntries(input, report, unknownKeySeverity(options));
  const found = all.slice(0, maxEntries);
  if (all.length > maxEntries)
    report("error", [], `it names ${all.length} servers; only the first ${maxEntries} are read`);
  const shared = parseDefaults(input, options, report);
  problems.push(...shared.problems);
  // A default may be a restriction, so no server runs when the defaults cannot be read.
  if (hasError(shared.problems)) return { servers: [], problems };

  const configs: ServerConfig[] = [];
  for (const entry of found) {
    const parsed = parseEntry(entry, shared.defaults, options);
    if (parsed.ok) configs.push(parsed.config);
    problems.push(...(parsed.ok ? parsed.warnings : parsed.problems));
  }
  const unique = keepUnique(configs);
  return { servers: unique.servers, problems: [...problems, ...unique.problems] };
}

/** The settings of a file for all its servers: its `defaults`, and their counterparts of other hosts. */
function parseDefaults(
  input: unknown,
  options: ParseConfigOptions,
  report: Report,
): { readonly defaults: EntryValues; readonly problems: readonly ConfigProblem[] } {
  const { inputs } = isRecord(input) ? readInputs(input, report) : {};
  // Files of VS Code and Cursor expect references in arguments to be replaced, too.
  const isOfOtherHost = options.isOfOtherHost === true || inputs !== undefined;
  const others: EntryValues = {
    ...(isOfOtherHost ? { expandArgs: true } : {}),
    ...(inputs === undefined ? {} : { inputs }),
  };
  if (!isRecord(input) || !Object.hasOwn(input, "defaults"))
    return { defaults: others, problems: [] };
  const problems: ConfigProblem[] = [];
  const context = {
    report: createReport(problems, options, ["defaults"]),
    unknownKeySeverity: unknownKeySeverity(options),
  };
  return { defaults: { ...others, ...readDefaults(input["defaults"], context) }, problems };
}

/**
 * Reads the declared inputs. A flawed declaration disables no server: its input is asked for by its id
 * alone.
 */
function readInputs(
  { inputs }: Readonly<Record<string, unknown>>,
  report: Report,
): { readonly inputs?: CheckedInputs } {
  if (inputs === undefined) return {};
  const context: CheckContext = {
    report: (_severity, at, message) => report("warning", at, message),
    unknownKeySeverity: "warning",
  };
  const { values } = checkKeys({ inputs: entryKeys.inputs }, { inputs }, [], context);
  return { inputs: values.inputs ?? [] };
}

/** Reads one entry written in code. Throws `McpConfigError` when it is wrong. */
export function parseServerEntry(
  name: string,
  entry: unknown,
  options: ParseServersOptions = {},
): ServerConfig {
  const parsed = parseEntry({ key: name, value: entry, path: [] }, {}, options);
  if (!parsed.ok) throw problemError(parsed.problems);
  for (const problem of parsed.warnings) options.onWarning?.(problem);
  return parsed.config;
}

/**
 * Reads the servers of `createHost({ servers })`: servers by name, or any shape of a file. Throws
 * `McpConfigError` when one is wrong.
 */
export function parseServers(
  input: unknown,
  options: ParseServersOptions = {},
): readonly ServerConfig[] {
  const isByName = isRecord(input) && !isWholeConfig(input);
  const { servers, problems } = parseConfig(isByName ? { servers: input } : input, options);
  if (hasError(problems)) throw problemError(problems);
  for (const problem of problems) options.onWarning?.(problem);
  return servers;
}

function isWholeConfig(input: Readonly<Record<string, unknown>>): boolean {
  if (typeof input["name"] === "string") return true;
  return ["servers", "mcpServers"].some((key) => {
    const value = input[key];
    // A server may itself be called "servers".
    const isServer = isRecord(value) && ["command", "url", "transport"].some((own) => own in value);
    return typeof value === "object" && value !== null && !isServer;
  });
}
