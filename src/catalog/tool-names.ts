import type { NamingPreset } from "../config/keys/server-config.ts";
import { checkArguments, text } from "../errors/check-arguments.ts";
import { boundedLine } from "../text/untrusted/bounded-text.ts";
import {
  appendHash,
  hashLength,
  maxNameLength,
  nameless,
  originHash,
  replaceInvalid,
  shortenName,
  toSnakeCase,
  toSnakeCaseKeepingHyphens,
  trimSeparators,
} from "./name-sanitizing.ts";
import type { ToolOrigin } from "./tool-origin.ts";

/** How public names are made: a preset, or a function whose result is made valid afterwards. */
export type Naming = NamingPreset | ((server: string, tool: string) => string);

export interface NamingOptions {
  /** `mcp_server_tool` only: `list-repos` keeps its hyphen, as existing allow lists may expect. */
  readonly keepHyphens?: boolean | undefined;
}

export interface ParsedToolName {
  readonly server: string;
  readonly tool: string;
}

/**
 * One way to name tools. `parse` and `owns` look at the text alone and are only a fallback: calls
 * are routed by the map of assigned names, because most schemes cannot be taken apart again.
 */
export interface NamingStrategy {
  /** Always a valid name for every provider. Equal results for two tools are possible. */
  build(server: string, tool: string): string;
  /** Null when the name is of another scheme, or could come from more than one pair. */
  parse(name: string): ParsedToolName | null;
  /** Whether the name looks like one of this scheme. */
  owns(name: string): boolean;
}

/** Leaves room for the tool beside a long server name. */
const maxServerLength = 40;

/** `mcp__{server}__{tool}`; keeps case, and can be taken apart exactly. */
const doubleUnderscore: NamingStrategy = {
  build(server, tool) {
    const origin = { server, tool };
    const toolPart = replaceInvalid(tool, "_") || nameless("tool", origin);
    const name = `mcp__${serverPart(server)}__${toolPart}`;
    return shortenName(name, maxNameLength, origin);
  },
  parse(name) {
    const match = /^mcp__(.+?)__(.+)$/s.exec(name);
    if (match === null) return null;
    return { server: unescapeServer(match[1] ?? ""), tool: match[2] ?? "" };
  },
  owns: (name) => doubleUnderscore.parse(name) !== null,
};

function singleUnderscore(options: NamingOptions): NamingStrategy {
  return {
    build(server, tool) {
      const origin = { server, tool };
      const toPart = options.keepHyphens === true ? toSnakeCaseKeepingHyphens : toSnakeCase;
      const head = shortenServer(
        toPart(server) || nameless("server", { server, tool: "" }),
        server,
      );
      const name = `mcp_${head}_${toPart(tool) || nameless("tool", origin)}`;
      return shortenName(name, maxNameLength, origin);
    },
    parse(name) {
      // With one separator there is one way to read it; with more there is none to prefer.
      const match = /^mcp_([^_]+)_([^_]+)$/.exec(name);
      return match === null ? null : { server: match[1] ?? "", tool: match[2] ?? "" };
    },
    owns: (name) => /^mcp_[^_].*_./s.test(name),
  };
}

/** `{prefix}_{tool}`, lower case; the prefix is the server's unless it sets another. */
const prefixed: NamingStrategy = {
  build(server, tool) {
    const origin = { server, tool };
    const prefix = shortenServer(serverText(server), server);
    const name = `${prefix}_${replaceInvalid(tool, "_") || nameless("tool", origin)}`;
    return shortenName(name.toLowerCase(), maxNameLength, origin);
  },
  parse: () => null,
  owns: (name) => /^[a-z0-9-][a-z0-9_-]*_./.test(name) && !name.startsWith("mcp_"),
};

function custom(build: (server: string, tool: string) => string): NamingStrategy {
  return {
    build(server, tool) {
      const origin = { server, tool };
      const name = replaceInvalid(build(server, tool), "_") || nameless("tool", origin);
      return shortenName(name, maxNameLength, origin);
    },
    parse: () => null,
    owns: () => true,
  };
}

export function namingStrategy(naming: Naming, options: NamingOptions = {}): NamingStrategy {
  if (typeof naming === "function") return custom(naming);
  switch (naming) {
    case "mcp__server__tool":
      return doubleUnderscore;
    case "mcp_server_tool":
      return singleUnderscore(options);
    case "prefix_tool":
      return prefixed;
  }
}

function serverText(server: string): string {
  return replaceInvalid(server, "-") || nameless("server", { server, tool: "" });
}

function shortenServer(part: string, server: string): string {
  return shortenName(part, maxServerLength, { server, tool: "" });
}

// A server may be called `a__b` or `a_`. Its underscores that would read as the separator are
// written `-5f`, and a hyphen that would read as the start of such an escape `-2d`.
function serverPart(server: string): string {
  const text = serverText(server);
  const escaped = text.replace(/-(?=2d|5f)/g, "-2d").replace(/(?<=_)_|_$/g, "-5f");
  if (escaped.length <= maxServerLength) return escaped;
  const head = trimSeparators(
    text.replace(/_{2,}/g, "_").slice(0, maxServerLength - hashLength - 2),
  );
  return `${head}-h${originHash({ server, tool: "" }, hashLength)}`;
}

function unescapeServer(server: string): string {
  return server.replace(/-5f/g, "_").replace(/-2d/g, "-");
}

/** The public name of a tool in the default scheme, as long as it collides with no other. */
export function makeToolName(server: string, tool: string): string {
  checkArguments("makeToolName", { server: text, tool: text }, [server, tool]);
  return doubleUnderscore.build(server, tool);
}

/** Both halves of a name of the default scheme; for any other text `server` is empty. */
export function parseToolName(name: string): ParsedToolName {
  checkArguments("parseToolName", { name: text }, [name]);
  return doubleUnderscore.parse(name) ?? { server: "", tool: name };
}

export function isMcpTool(name: string): boolean {
  return typeof name === "string" && doubleUnderscore.owns(name);
}

/** The name in the scheme `mcp_server_tool`: `("GitHub API", "list-repos")` → `mcp_github_api_list_repos`. */
export function buildMcpSkillName(server: string, tool: string, options?: NamingOptions): string {
  checkArguments("buildMcpSkillName", { server: text, tool: text }, [server, tool]);
  return singleUnderscore(options ?? {}).build(server, tool);
}

interface NamingServer {
  readonly name: string;
  readonly toolPrefix?: string | undefined;
}

/** Whether a tool of this server could be called `name`: which server to start for an unknown name. */
export function mayOwnName(name: string, server: NamingServer, naming: Naming): boolean {
  const start = startOfNames(server, naming);
  return start === undefined || name.startsWith(start);
}

/** What all public names of a server begin with; undefined when only a function can tell. */
export function startOfNames(
  { name, toolPrefix }: NamingServer,
  naming: Naming,
): string | undefined {
  if (typeof naming === "function") return undefined;
  const probe = namingStrategy(naming).build(namingServer(name, toolPrefix, naming), "x");
  return probe.slice(0, -1);
}

function namingServer(server: string, prefix: string | undefined, naming: Naming): string {
  return naming === "prefix_tool" ? (prefix ?? server) : server;
}

export interface NameEntry extends ToolOrigin {
  /** The tool's name on the server. */
  readonly tool: string;
  /** For `prefix_tool`; the server's name when absent. */
  readonly prefix?: string | undefined;
  readonly naming?: Naming | undefined;
  /** Its entry was written by whoever wrote the project: it takes no name from one that the user wrote. */
  readonly isOfProject?: boolean | undefined;
}

export interface AssignOptions extends NamingOptions {
  /** Names of native tools, which no server may take. */
  readonly reserved?: Iterable<string> | undefined;
  /** What names of the user's own servers begin with, also of servers whose tools are not known yet. */
  readonly usersOwn?: Iterable<string> | undefined;
}

export interface AssignedNames {
  /** In the order of the entries; undefined for a tool that its server lists a second time. */
  readonly names: readonly (string | undefined)[];
  readonly warnings: readonly NameWarning[];
}

export interface NameWarning {
  readonly kind: "collision" | "reserved" | "duplicate" | "case";
  readonly text: string;
  /** Positions of the entries it is about. */
  readonly entries: readonly number[];
  /** The native tool it is about, if there is one. */
  readonly native?: string | undefined;
}

/** How many digits of its hash a name carries, the longer ones only if the shorter are taken. */
const hashLevels = [0, hashLength, 16, 32, 48] as const;

/**
 * A valid and unique public name for every tool. A name depends on the tool's own origin; tools
 * whose names would be equal all get a hash of theirs, so that neither the order of servers nor a
 * later one can hand a known name to another tool. A tool of a project is different: it has a hash
 * wherever its name could be one of a server that the user wrote, and that one keeps its name.
 */
export function assignPublicNames(
  entries: readonly NameEntry[],
  options: AssignOptions = {},
): AssignedNames {
  const warnings: NameWarning[] = [];
  const reserved = new Set(options.reserved);
  const candidates = entries.map((entry, index) => candidateOf(entry, index, options));
  const unique = dropDuplicates(candidates, warnings);
  leaveToUser(unique, [...(options.usersOwn ?? [])], warnings);
  for (let rounds = 0; rounds < hashLevels.length; rounds += 1) {
    const clashes = findClashes(unique, reserved);
    if (clashes.length === 0) break;
    for (const clash of clashes) {
      const keeper = reserved.has(clash[0]?.name ?? "") ? undefined : keeperOf(clash);
      if (rounds === 0) warnings.push(clashWarning(clash, keeper, reserved));
      for (const candidate of clash) if (candidate !== keeper) raise(candidate);
    }
  }
  warnings.push(...caseWarnings(unique, reserved));
  const names = entries.map((): string | undefined => undefined);
  for (const { index, name } of unique) names[index] = name;
  return { names, warnings };
}

interface Candidate {
  readonly index: number;
  readonly origin: ToolOrigin;
  readonly isOfProject: boolean;
  readonly base: string;
  name: string;
  level: number;
}

function candidateOf(entry: NameEntry, index: number, options: NamingOptions): Candidate {
  const { server, tool, prefix, naming = "mcp__server__tool", isOfProject = false } = entry;
  const base = namingStrategy(naming, options).build(namingServer(server, prefix, naming), tool);
  return { index, origin: { server, tool }, isOfProject, base, name: base, level: 0 };
}

function dropDuplicates(
  candidates: readonly Candidate[],
  warnings: NameWarning[],
): readonly Candidate[] {
  const first = new Map<string, Candidate>();
  for (const candidate of candidates) {
    const { server, tool } = candidate.origin;
    const key = JSON.stringify([server, tool]);
    const known = first.get(key);
    if (known === undefined) first.set(key, candidate);
    else
      warnings.push({
        kind: "duplicate",
        text: `${quote(server)} lists ${quote(tool)} more than once; only the first is used`,
        entries: [known.index, candidate.index],
      });
  }
  return [...first.values()];
}

function findClashes(
  candidates: readonly Candidate[],
  reserved: ReadonlySet<string>,
): readonly (readonly Candidate[])[] {
  return [...groupBy(candidates, ({ name }) => name).values()].filter(
    (group) => group.length > 1 || group.some(({ name }) => reserved.has(name)),
  );
}

/** Decided by how names begin, not by which there are: a name must not change hands when a server lists its tools. */
function leaveToUser(
  candidates: readonly Candidate[],
  starts: readonly string[],
  warnings: NameWarning[],
): void {
  const projects = candidates.filter(({ isOfProject }) => isOfProject);
  for (const [server, group] of groupBy(projects, ({ origin }) => origin.server)) {
    const taken = group.filter(({ base }) => starts.some((start) => base.startsWith(start)));
    for (const candidate of taken) raise(candidate);
    const [first] = taken;
    if (first === undefined) continue;
    warnings.push({
      kind: "collision",
      text: `tools of ${quote(server)} would be named like those of another server, such as ${first.base}; a hash was added to each name`,
      entries: taken.map(({ index }) => index),
    });
  }
}

/** The only one that the user wrote, among others of a project: it keeps its name. */
function keeperOf(group: readonly Candidate[]): Candidate | undefined {
  const [first, ...others] = group.filter(({ isOfProject }) => !isOfProject);
  return others.length === 0 ? first : undefined;
}

function raise(candidate: Candidate): void {
  candidate.level = Math.min(candidate.level + 1, hashLevels.length - 1);
  const hash = originHash(candidate.origin, hashLevels[candidate.level] ?? hashLength);
  candidate.name = appendHash(candidate.base, maxNameLength, hash);
}

function clashWarning(
  group: readonly Candidate[],
  keeper: Candidate | undefined,
  reserved: ReadonlySet<string>,
): NameWarning {
  const [{ base } = { base: "" }] = group;
  const origins = group
    .filter((candidate) => candidate !== keeper)
    .slice(0, 5)
    .map(originText)
    .join(", ");
  const isReserved = reserved.has(base);
  const text = isReserved
    ? `${origins} would hide the native tool ${base}; a hash was added to the name`
    : keeper === undefined
      ? `${origins} would all be called ${base}; a hash was added to each name`
      : `${origins} would take the name ${base} from ${originText(keeper)}; a hash was added to it`;
  const entries = group.map(({ index }) => index);
  return isReserved
    ? { kind: "reserved", text, entries, native: base }
    : { kind: "collision", text, entries };
}

function originText({ origin }: Candidate): string {
  return `${quote(origin.tool)} of ${quote(origin.server)}`;
}

/** Providers tell `Query` from `query`; people and models easily do not. */
function caseWarnings(
  candidates: readonly Candidate[],
  reserved: ReadonlySet<string>,
): readonly NameWarning[] {
  const folded = new Map([...reserved].map((name) => [name.toLowerCase(), name]));
  const warnings: NameWarning[] = [];
  for (const [lower, group] of groupBy(candidates, ({ name }) => name.toLowerCase())) {
    const native = folded.get(lower);
    if (group.length === 1 && native === undefined) continue;
    const names = [...(native === undefined ? [] : [native]), ...group.map(({ name }) => name)];
    const text = `${names.slice(0, 5).join(", ")} differ only in upper and lower case`;
    warnings.push({ kind: "case", text, entries: group.map(({ index }) => index), native });
  }
  return warnings;
}

function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}

function quote(text: string): string {
  return `"${boundedLine(text, 64)}"`;
}
