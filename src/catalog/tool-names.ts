import type { NamingPreset } from "../config/keys/server-config.ts";
import { checkArguments, text } from "../errors/check-arguments.ts";
import { canonicalHash } from "../text/canonical-hash.ts";
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

/** Every LLM provider accepts up to this many of `A-Z a-z 0-9 _ -`. */
export const maxNameLength = 64;
/** Digits of a hash in a name: short enough to read past, long enough not to meet by accident. */
export const hashLength = 8;

/** Leaves room for the tool beside a long server name. */
const maxServerLength = 40;

/** `mcp__{server}__{tool}`; keeps case, and can be taken apart exactly. */
const doubleUnderscore: NamingStrategy = {
  build(server, tool) {
    const origin = { server, tool };
    const toolPart = replaceInvalid(tool, "_") || nameless("tool", origin);
    const name = `mcp__${knownServerPart(server)}__${toolPart}`;
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

/** The last server and its part: tools are named server by server. */
let lastServer = { name: "", part: "" };

function knownServerPart(server: string): string {
  if (lastServer.name !== server) lastServer = { name: server, part: serverPart(server) };
  return lastServer.part;
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

/** The server part that names of a tool are built with. */
export function namingServer(server: string, prefix: string | undefined, naming: Naming): string {
  return naming === "prefix_tool" ? (prefix ?? server) : server;
}

/** Hashes the origin of a tool to `length` hexadecimal digits. */
export function originHash({ server, tool }: ToolOrigin, length: number): string {
  return canonicalHash([server, tool]).slice(0, length);
}

/** A name for a server or tool whose own name has no usable character. */
function nameless(kind: "server" | "tool", origin: ToolOrigin): string {
  return `${kind}_${originHash(origin, hashLength)}`;
}

const validCharacters = /^[A-Za-z0-9_-]*$/;

/** `name` as it is when it is valid; otherwise NFKC with each run of other characters replaced. */
function replaceInvalid(name: string, replacement: "_" | "-"): string {
  // Almost every name is valid as it is, and thousands are looked at together.
  if (validCharacters.test(name)) return name;
  const normal = name.normalize("NFKC");
  if (validCharacters.test(normal)) return normal;
  return trimSeparators(normal.replace(/[^A-Za-z0-9_-]+/g, replacement));
}

/** Applies the rule of `mcp_server_tool`: lower case, every run of other characters becomes one `_`. */
function toSnakeCase(name: string): string {
  return trimSeparators(
    name
      .normalize("NFKC")
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, "_"),
  );
}

/** Applies the rule of NEXUS3: lower case, single hyphens stay, a leading digit gets a `_`. */
function toSnakeCaseKeepingHyphens(name: string): string {
  const normal = name
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[^a-z0-9_-]/g, "_")
    .replace(/[_-]{2,}/g, "_");
  return trimSeparators(normal).replace(/^(?=\d)/, "_");
}

function trimSeparators(name: string): string {
  return name.replace(/^[_-]+|[_-]+$/g, "");
}

/** Cuts a name to `limit` characters, the last ones being a hash of the origin when something had to go. */
function shortenName(name: string, limit: number, origin: ToolOrigin): string {
  return name.length <= limit ? name : appendHash(name, limit, originHash(origin, hashLength));
}

export function appendHash(name: string, limit: number, hash: string): string {
  return `${name.slice(0, limit - hash.length - 1)}_${hash}`;
}
