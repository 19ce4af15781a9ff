import { boundedLine } from "../../text/untrusted/bounded-text.ts";
import { neutralizeLine } from "../../text/untrusted/neutralize.ts";
import {
  type FieldPath,
  isRecord,
  quoteName,
  type Report,
  type Severity,
} from "../keys/check-value.ts";
import type { ConfigProblem } from "../keys/config-problem.ts";
import { maxServerName } from "../keys/limits.ts";
import type {
  NamingPreset,
  Provenance,
  ServerConfig,
  InProcessTransportConfig,
  ValueProvider,
} from "../keys/server-config.ts";
import { buildServerConfig } from "./build-server-config.ts";
import type { FoundEntry } from "./find-entries.ts";
import { findMask } from "./hide-secrets.ts";
import { lintEntry } from "./lint-entry.ts";
import { type EntryValues, readEntry } from "./read-entry.ts";
import { takeProviders } from "./take-providers.ts";

export interface ParseConfigOptions {
  /** The origin of the input; `code` by default. It is never taken from the input itself. */
  readonly provenance?: Provenance;
  /** The folder that relative paths start from; without it they stay relative. */
  readonly baseDir?: string;
  /** Finds the position of a value by the keys and indexes that lead to it. */
  readonly locate?: (path: FieldPath) => Position | undefined;
  /** The most entries to read; the others are left out, and one problem says so. No limit by default. */
  readonly maxEntries?: number;
  /** True for input written for VS Code or Cursor, which replace references in arguments, too. */
  readonly isOfOtherHost?: boolean;
  /** Makes unknown keys errors. */
  readonly strict?: boolean;
  /** The host's naming preset, which decides which server names get a warning. */
  readonly naming?: NamingPreset;
}

export interface Position {
  readonly line: number;
  readonly column: number;
}

export type ParsedEntry =
  | {
      readonly ok: true;
      readonly config: ServerConfig;
      readonly warnings: readonly ConfigProblem[];
    }
  /** At least one problem is an error; warnings may be among them. */
  | { readonly ok: false; readonly problems: readonly ConfigProblem[] };

const noProviders: ReadonlyMap<string, ValueProvider> = new Map();

// Only objects made here are trusted as canonical: a look-alike must not bring its own provenance.
const canonicalConfigs = new WeakSet<object>();

/** Checks and completes one raw entry. */
export function parseEntry(
  found: FoundEntry,
  defaults: EntryValues,
  options: ParseConfigOptions,
): ParsedEntry {
  const problems: ConfigProblem[] = [];
  const given = found.key ?? (isRecord(found.value) ? found.value["name"] : undefined);
  const name = typeof given === "string" ? given.trim() : undefined;
  const report = createReport(problems, options, found.path, name);
  const entry = checkEntry(found, name, report);
  if (entry === undefined) return { ok: false, problems };
  if (canonicalConfigs.has(entry.value) && entry.value["name"] === entry.name)
    return { ok: true, config: entry.value as unknown as ServerConfig, warnings: [] };

  if (given !== name) report("warning", ["name"], "spaces around the name are ignored");
  const { source: handed, fixedTransport } = takeCanonicalParts(entry.value, options);
  const isOfCode = (options.provenance?.layer ?? "code") === "code";
  const { source, providers } = isOfCode
    ? takeProviders(handed)
    : { source: handed, providers: noProviders };
  const read = readEntry(source, { report, unknownKeySeverity: unknownKeySeverity(options) });
  if (hasError(problems)) return { ok: false, problems };
  const provenance = {
    ...(options.provenance ?? { layer: "code" as const }),
    ...options.locate?.(found.path),
  };
  const config = buildServerConfig(
    { ...read, name: entry.name, defaults, provenance, fixedTransport, providers },
    { report, baseDir: options.baseDir },
  );
  if (config === undefined) return { ok: false, problems };
  const masked = findMask(config);
  if (masked !== undefined) {
    const [key, ...rest] = masked;
    const message = `${quoteName(masked.join("."))} is the mask of a secret, not the secret: hand over the configuration object itself, or write the value`;
    report("error", [...read.at(key), ...rest], message);
    return { ok: false, problems };
  }
  lintEntry(config, read.at, report, options.naming);
  canonicalConfigs.add(config);
  return { ok: true, config, warnings: problems };
}

function checkEntry(
  found: FoundEntry,
  name: string | undefined,
  report: Report,
): { readonly name: string; readonly value: Readonly<Record<string, unknown>> } | undefined {
  const { key, value } = found;
  if (!isRecord(value)) report("error", [], "a server must be an object");
  else if (name === undefined) report("error", ["name"], '"name" is missing');
  else if (name === "" || name.length > maxServerName || neutralizeLine(name) !== name)
    report(
      "error",
      ["name"],
      `a name must have 1 to ${maxServerName} characters, none of them invisible`,
    );
  else {
    const ownName = value["name"];
    if (key !== undefined && ownName !== undefined && ownName !== key)
      report("warning", ["name"], `"name" is ignored: the server is called ${quoteName(name)}`);
    return { name, value };
  }
  return undefined;
}

/**
 * Copies a canonical config that code hands over: drops the keys that only the host may set, keeps a
 * transport object.
 */
function takeCanonicalParts(
  value: Readonly<Record<string, unknown>>,
  options: ParseConfigOptions,
): {
  readonly source: Readonly<Record<string, unknown>>;
  readonly fixedTransport: InProcessTransportConfig | undefined;
} {
  if (options.provenance !== undefined && options.provenance.layer !== "code")
    return { source: value, fixedTransport: undefined };
  const { id: _id, provenance: _provenance, ...source } = value;
  const { transport, ...rest } = source;
  const kind = isRecord(transport) ? transport["kind"] : undefined;
  return kind === "none" || kind === "memory"
    ? { source: rest, fixedTransport: { kind } }
    : { source, fixedTransport: undefined };
}

export function hasError(problems: readonly ConfigProblem[]): boolean {
  return problems.some((problem) => problem.severity === "error");
}

export function unknownKeySeverity(options: ParseConfigOptions): Severity {
  return options.strict === true ? "error" : "warning";
}

/** Collects problems together with their places. */
export function createReport(
  problems: ConfigProblem[],
  options: ParseConfigOptions,
  prefix: FieldPath = [],
  serverName?: string,
): Report {
  const { layer, path } = options.provenance ?? { layer: "code" as const, path: undefined };
  return (severity, at, message) => {
    problems.push({
      severity,
      code: "config_invalid",
      message,
      ...(serverName === undefined ? {} : { serverName: boundedLine(serverName, 128) }),
      layer,
      ...(path === undefined ? {} : { path }),
      ...(at.length === 0 ? {} : { field: boundedLine(at.join("."), 128) }),
      ...options.locate?.([...prefix, ...at]),
    });
  };
}
